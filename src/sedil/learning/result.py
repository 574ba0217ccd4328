"""What learning returns: the dictionary, the codes, and how it went."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from html import escape
from typing import Any, NamedTuple, overload

import numpy as np

from sedil import curves, mosaic
from sedil.arrays import Array, in_precision
from sedil.choices import Precision
from sedil.dictionary import SeparableDictionary
from sedil.objective import Weights


class StopReason(StrEnum):
    """Why learning ended, as a sentence that a person can read.

    Examples
    --------
    >>> import numpy as np, sedil
    >>> patches = np.random.default_rng(0).standard_normal((50, 3, 3))
    >>> result = sedil.learn(patches, n_atoms=4, max_iterations=2, random_state=0)
    >>> result.stop_reason is sedil.StopReason.ITERATIONS
    True
    >>> print(result.stop_reason)
    max_iterations reached
    """

    GRADIENT = "the gradient is below gradient_tolerance"
    STALLED = "the cost no longer falls by more than tolerance"
    ITERATIONS = "max_iterations reached"
    NO_PROGRESS = "no step brings the cost down any further"
    PROGRESS = "the progress function asked to stop"
    BATCHES = "max_batches reached"
    DATA = "all data has been seen"
    INTERRUPTED = "interrupted by the user"
    WARM_UP = "the warm-up is over"  # which ends a phase, never a run


class Record(NamedTuple):
    """One iteration, as kept in `History`.

    Attributes
    ----------
    iteration : steps taken so far; the first record, 0, is the start
    sparsity_scale : rho of the cost being minimised, smaller during the warm-up
    objective : that cost, Eq. (16); data, sparsity and coherence are its weighted terms
    reference : C of Algorithm 1, the running mean of the cost that steps are judged by
    gradient_norm : length of the Riemannian gradient in the metric
    step_size : alpha, the length of the accepted step
    n_evaluations : evaluations of the cost so far, refused trials included
    seconds : time spent optimising so far, without files and progress functions
    mutual_coherence : Eq. (6) of the current dictionary
    """

    iteration: int
    sparsity_scale: float
    objective: float
    data: float
    sparsity: float
    coherence: float
    reference: float
    gradient_norm: float
    step_size: float
    n_evaluations: int
    seconds: float
    mutual_coherence: float


class History:
    """All iterations of a run. ``history["objective"]`` is a column, ``history[-1]`` the last record.

    `unit` is what its records count: "iterations" or "batches".
    """

    def __init__(self, records: Iterable[Record] = (), unit: str = "iterations") -> None:
        self._records, self.unit = list(records), unit

    def append(self, record: Record) -> None:
        """Add the record of one more iteration."""
        self._records.append(record)

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records)

    @overload
    def __getitem__(self, key: str) -> np.ndarray: ...
    @overload
    def __getitem__(self, key: int) -> Record: ...
    @overload
    def __getitem__(self, key: slice) -> list[Record]: ...
    def __getitem__(self, key: str | int | slice) -> np.ndarray | Record | list[Record]:
        if isinstance(key, str):
            if key not in Record._fields:
                raise KeyError(f"history has no column {key!r}; it has {', '.join(Record._fields)}")
            return np.array([getattr(record, key) for record in self._records])
        return self._records[key]

    def __repr__(self) -> str:
        return f"<History of {len(self)} records: {', '.join(Record._fields)}>"

    def _repr_html_(self) -> str:
        """For notebooks: the cost as a curve."""
        shown = [record for record in self._records if record.objective > 0]
        if not shown:
            return f"<p>{escape(repr(self))}</p>"
        steps, costs = zip(*((record.iteration, record.objective) for record in shown), strict=True)
        return f"<p>History of {len(self)} records</p>{curves.draw(steps, costs, self.unit, 'cost')}"


def learned_dictionary(
    factors: Sequence[Array], dtype: Precision, info: Mapping[str, Any]
) -> SeparableDictionary:
    """Learned factors as a dictionary in the precision that the caller's data has."""
    own = [in_precision(factor, dtype) for factor in factors]
    is_other = own[0].dtype != factors[0].dtype  # and then unit lengths hold to the old precision only
    return SeparableDictionary(own, normalize=is_other, info=info)


@dataclass(frozen=True, repr=False)
class LearningResult:
    """A learned dictionary and how it came about.

    Attributes
    ----------
    dictionary : SeparableDictionary
    codes : array of shape (n, *n_atoms), or None
        Codes of the training patches at the end; mini-batch learning keeps none.
    history : History
        One record per iteration, the start included; in mini-batch learning one per batch.
    stop_reason : StopReason
        Why learning ended; compares and prints as a string.
    weights : Weights
        rho, lambda and kappa that were used.
    n_evaluations : int
        Evaluations of the cost, refused trials included, those of a last search in vain too.
    n_iterations, seconds, objective
        The last record's, for short.

    Examples
    --------
    >>> import numpy as np, sedil
    >>> patches = np.random.default_rng(0).standard_normal((50, 3, 3))
    >>> result = sedil.learn(patches, n_atoms=4, max_iterations=5, random_state=0)
    >>> result.dictionary.n_atoms, result.codes.shape, result.n_iterations
    ((4, 4), (50, 4, 4), 5)
    >>> bool(result.history["objective"][-1] == result.objective)
    True
    """

    dictionary: SeparableDictionary
    codes: Any | None = field(repr=False)
    history: History
    stop_reason: StopReason
    weights: Weights
    n_evaluations: int

    @property
    def n_iterations(self) -> int:
        """Steps taken, or batches."""
        return self.history[-1].iteration

    @property
    def seconds(self) -> float:
        """Time spent optimising."""
        return self.history[-1].seconds

    @property
    def objective(self) -> float:
        """Cost at the end."""
        return self.history[-1].objective

    def __repr__(self) -> str:
        last = self.history[-1]
        first = next(record for record in self.history if record.sparsity_scale == last.sparsity_scale)
        rows = {
            "dictionary": self.dictionary.describe(),
            "cost": f"{first.objective:.4g} -> {last.objective:.4g} per patch",
            "terms": f"data {last.data:.3g}, sparsity {last.sparsity:.3g}, coherence {last.coherence:.3g}",
            self.history.unit: f"{last.iteration}, {self.n_evaluations} evaluations, {last.seconds:.1f} s",
            "stopped": str(self.stop_reason),
        }
        lines = [f"  {name:12s} {text}" for name, text in rows.items()]
        return "\n".join(["LearningResult", *lines])

    def _repr_html_(self) -> str:
        """For notebooks: the facts, the atoms and the cost."""
        atoms = f'<img alt="atoms" src="{mosaic.as_data_uri(mosaic.draw(self.dictionary))}">'
        return f"<pre>{escape(repr(self))}</pre>{atoms}{self.history._repr_html_()}"
