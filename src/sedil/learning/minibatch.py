"""Mini-batch learning on the same manifold: Algorithm 2 on one batch, then a step along a geodesic.

For each batch:

1. codes of the batch for the current factors, roughly (Eq. 34);
2. a few iterations of Algorithm 2 on codes and factors together, for this batch alone;
3. the factors move along the geodesics (Eq. 25) that lead to the factors of the batch, by the share

       gamma = min(1, F n / N)

   where n is the size of the batch, N the number of samples seen so far, this batch included, and F = 12 the
   number of full steps at the start.

With equal batches gamma is F/t from then on: the factors are a running mean, on the spheres, of what the
batches ask for, and come to rest however long the data lasts. What is kept from one batch to the next
is the factors and a few numbers; codes are forgotten.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from sedil import checks, spheres
from sedil.arrays import Array, in_precision, namespace
from sedil.choices import MetricName, Precision, PresetName, StartName
from sedil.cluster.shards import Workers
from sedil.dictionary import SeparableDictionary
from sedil.engines import EngineName, choose_engine, require_engine
from sedil.engines.contract import TrainingSet
from sedil.learning.batches import nan_for_masked
from sedil.learning.conjugate_gradient import State, descend
from sedil.learning.defaults import (
    FIRST_CODES,
    CostSettings,
    choose_atoms,
    mean_energy,
    smallest_coefficient,
)
from sedil.learning.initial import Start
from sedil.learning.result import History, Record
from sedil.manifold import Point
from sedil.objective import Objective, Weights, mutual_coherence
from sedil.pretrained import DictionaryLike

FULL_STEPS = 12
BATCH_ITERATIONS = 40
_MEMORY = 0.9  # of the running mean of costs in the history


class FilledBatch(NamedTuple):
    """A batch fit for learning: real numbers, zeros where entries are missing (True in `mask`)."""

    patches: Array
    mask: Array | None

    def energy(self) -> float:
        """Mean squared length of a patch, as if missing entries were like the known; not zero."""
        energy = mean_energy(self.patches)
        if self.mask is None:
            return energy
        xp = namespace(self.mask)
        return energy / (1 - float(xp.mean(xp.astype(self.mask, xp.float64))))


class MiniBatchLearner:
    """Learns from one batch at a time, as the batches come.

    Parameters
    ----------
    n_atoms : int or one int per patch axis, optional
    batch_iterations : int, default 40
        Iterations of Algorithm 2 on each batch.
    initial, preset, sparsity_scale, sparsity_weight, coherence_weight, metric
        As in `sedil.learn`. Weights of the preset "data" are derived from the first batch.
    random_state, engine, threads, dtype
        As in `sedil.learn`.

    Attributes
    ----------
    factors : tuple of arrays in the precision that is computed in, or None before the first batch
    weights : Weights, or None before the first batch
    n_samples : int
        Samples seen; to start from a dictionary that many samples stand behind, set it beforehand.
    history : History
        One record per batch; its cost is that of the batch with factors of its own, and ``reference`` a
        running mean of these.

    See Also
    --------
    sedil.learn_minibatch : the same for a whole set of data, with checkpoints and progress.

    Examples
    --------
    >>> import numpy as np, sedil
    >>> rng = np.random.default_rng(0)
    >>> learner = sedil.MiniBatchLearner(n_atoms=(6, 6), random_state=0)
    >>> for _ in range(3):
    ...     learner = learner.partial_fit(rng.standard_normal((100, 4, 4)))
    >>> learner.dictionary.n_atoms
    (6, 6)
    """

    def __init__(
        self,
        n_atoms: int | Sequence[int] | None = None,
        *,
        batch_iterations: int = BATCH_ITERATIONS,
        initial: StartName | DictionaryLike = "random",
        preset: PresetName = "data",
        sparsity_scale: float | None = None,
        sparsity_weight: float | None = None,
        coherence_weight: float | None = None,
        metric: MetricName = "balanced",
        random_state: int | np.random.Generator | None = None,
        engine: EngineName | None = None,
        threads: int | None = None,
        dtype: Precision | None = None,
    ) -> None:
        checks.require_atom_counts(n_atoms)
        self.n_atoms = n_atoms
        self.batch_iterations = checks.require_count(batch_iterations, "batch_iterations", minimum=1)
        self.initial = initial
        self.cost = CostSettings(preset, sparsity_scale, sparsity_weight, coherence_weight, metric).checked()
        checks.as_generator(random_state)  # is it one?
        self.random_state = random_state
        self.engine = None if engine is None else require_engine(engine)
        self.threads = checks.require_threads(threads)
        self.dtype = None if dtype is None else checks.require_choice(dtype, "dtype", checks.PRECISIONS)
        self.factors: tuple[Any, ...] | None = None
        self.weights: Weights | None = None
        self.result_dtype: Precision = "float32"
        self.energy = 0.0
        self.n_samples = 0
        self.history = History(unit="batches")
        self.workers: Workers | None = None  # of a cluster, over which batches are spread

    @property
    def n_batches(self) -> int:
        """Batches seen."""
        return len(self.history)

    @property
    def dictionary(self) -> SeparableDictionary:
        """What has been learned so far; an error before the first batch."""
        if self.factors is None:
            raise ValueError("There is no dictionary before the first batch: call partial_fit.")
        return SeparableDictionary(
            [in_precision(factor, self.result_dtype) for factor in self.factors], normalize=True
        )

    def settings(self) -> dict[str, Any]:
        """How it learns, as plain facts that JSON can hold."""
        return {
            "n_atoms": None if self.n_atoms is None else np.atleast_1d(self.n_atoms).tolist(),
            "batch_iterations": self.batch_iterations,
            **self.cost.as_facts(),
            "engine": self.engine,
            "dtype": self.dtype,
        }

    def numbers(self) -> dict[str, Any]:
        """What it has learned besides factors and history, as plain facts that JSON can hold."""
        assert self.weights is not None
        return {
            "weights": self.weights._asdict(),
            "energy": self.energy,
            "n_samples": self.n_samples,
            "result_dtype": self.result_dtype,
        }

    def restore(self, factors: tuple[Array, ...], numbers: Mapping[str, Any], history: History) -> None:
        """Go on where another learner left off."""
        self.weights = Weights(**numbers["weights"])
        self.energy, self.n_samples = numbers["energy"], numbers["n_samples"]
        self.result_dtype = numbers["result_dtype"]
        self.factors, self.history = factors, History(history, unit="batches")

    def partial_fit(self, patches: Array, mask: Array | None = None) -> MiniBatchLearner:
        """Learn from one batch.

        Parameters
        ----------
        patches : array of shape (n, *patch_shape)
            As in `sedil.learn`, a few hundred to a few thousand; entries that are NaN, or masked in a masked
            array of NumPy, count as missing.
        mask : boolean array of the shape of `patches`, optional
            True where an entry is missing, whatever it holds. The cost counts known entries only.

        Returns
        -------
        The learner itself.
        """
        began = time.perf_counter()
        batch = filled_batch(patches, mask, self.dtype)
        energy = batch.energy()
        if self.factors is None:
            self._begin(batch, energy, checks.floating_dtype(patches))
        batch = self._matching(batch)
        n = batch.patches.shape[0]
        objective, state = self._descend(batch)
        self.n_samples += n
        share = min(1.0, FULL_STEPS * n / self.n_samples)
        assert self.factors is not None  # since the first batch
        self.factors = tuple(
            spheres.geodesic(factor, spheres.direction_to(factor, end), share)
            for factor, end in zip(self.factors, state.point.factors, strict=True)
        )
        self._remember(state, share, objective.n_evaluations, time.perf_counter() - began)
        return self

    def _begin(self, batch: FilledBatch, energy: float, result_dtype: Precision) -> None:
        """Sizes, weights and first factors, from the first batch."""
        patch_shape = tuple(batch.patches.shape[1:])
        counts = choose_atoms(self.n_atoms, patch_shape)
        weights = self.cost.weights(patch_shape, counts, energy)
        self.cost.manifold(patch_shape, counts, batch.patches.shape[0], energy)  # is it known?
        choose_engine(self.engine, batch.patches, counts, masked=batch.mask is not None)  # and this?
        start = Start.checked(self.initial, self.random_state)
        self.factors = start.factors(batch.patches, counts, weights)
        self.weights, self.energy, self.result_dtype = weights, energy, result_dtype

    def _matching(self, batch: FilledBatch) -> FilledBatch:
        """The batch in the precision of the factors, if its shape and library are theirs."""
        factors: Any = self.factors
        patch_shape = tuple(factor.shape[0] for factor in factors)
        if tuple(batch.patches.shape[1:]) != patch_shape:
            raise ValueError(
                f"A batch has patches of shape {tuple(batch.patches.shape[1:])}, the ones before had "
                f"{patch_shape}: all patches must have one shape."
            )
        checks.require_same_library(batch.patches, factors[0], "A batch", "the first one")
        xp = namespace(batch.patches)
        return batch._replace(patches=xp.astype(batch.patches, factors[0].dtype, copy=False))

    def _descend(self, batch: FilledBatch) -> tuple[Objective, State]:
        """Algorithm 2 on one batch, from the current factors and codes that suit them."""
        factors, weights = self.factors, self.weights
        assert factors is not None
        assert weights is not None
        patches, mask = batch
        counts = tuple(factor.shape[1] for factor in factors)
        engine = choose_engine(self.engine, patches, counts, masked=mask is not None)
        manifold = self.cost.manifold(patches.shape[1:], counts, patches.shape[0], self.energy)

        def learn_from(samples: TrainingSet) -> tuple[Objective, State]:
            codes = samples.sparse_codes(factors, smallest_coefficient(weights), FIRST_CODES)
            objective = Objective(samples, weights)
            return objective, descend(objective, manifold, Point(codes, factors), self.batch_iterations)

        if self.workers is not None:
            return self.workers.descend(patches, mask, counts, engine.name, learn_from)
        return learn_from(engine.training_set(patches, counts, mask, self.threads))

    def _remember(self, state: State, share: float, n_evaluations: int, seconds: float) -> None:
        last = self.history[-1] if len(self.history) else None
        cost = state.terms.total
        assert self.weights is not None  # since the first batch
        self.history.append(
            Record(
                iteration=self.n_batches + 1,
                sparsity_scale=self.weights.sparsity_scale,
                objective=cost,
                **state.terms._asdict(),
                reference=_MEMORY * last.reference + (1 - _MEMORY) * cost if last else cost,
                gradient_norm=state.gradient_norm,
                step_size=share,
                n_evaluations=n_evaluations + (last.n_evaluations if last else 0),
                seconds=seconds + (last.seconds if last else 0.0),
                mutual_coherence=max(mutual_coherence(factor) for factor in self.factors or ()),
            )
        )


def filled_batch(patches: Array, mask: Array | None, dtype: Precision | None) -> FilledBatch:
    """A batch with zeros in place of missing entries; the mask is None if there are none."""
    patches = checks.as_working_array(nan_for_masked(patches), "patches", dtype)
    xp = namespace(patches)
    missing = xp.isnan(patches)
    if mask is not None:
        mask = checks.require_mask(mask, patches)
        missing = missing | mask
    some, every = bool(xp.any(missing)), bool(xp.all(missing))
    if every and 0 not in patches.shape:
        raise ValueError("Every entry of a batch is missing: there is nothing to learn from.")
    filled = xp.where(missing, xp.zeros_like(patches), patches) if some else patches
    checks.require_patches(filled)
    return FilledBatch(filled, missing if some else None)
