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
from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace

from sedil import checks, spheres
from sedil.arrays import Array
from sedil.dictionary import SeparableDictionary
from sedil.engines import choose_engine
from sedil.learning.conjugate_gradient import State
from sedil.learning.defaults import choose_weights, smallest_coefficient
from sedil.learning.engines import LearningEngine, descend, learning_engine
from sedil.learning.initial import initial_factors
from sedil.learning.learn import mean_energy, require_finite_barrier, require_learnable
from sedil.learning.metrics import metric as named_metric
from sedil.learning.result import History, Record
from sedil.manifold import Point
from sedil.objective import Weights, mutual_coherence

FULL_STEPS = 12
BATCH_ITERATIONS = 40
_MEMORY = 0.9  # of the running mean of costs in the history


class Samples(NamedTuple):
    """A batch fit for learning: real numbers, zeros where entries are missing (True in `mask`)."""

    patches: Array
    mask: Array | None

    def energy(self) -> float:
        """Mean squared length of a patch, as if missing entries were like the known; not zero."""
        energy = mean_energy(self.patches)
        if self.mask is None:
            return energy
        xp = array_namespace(self.mask)
        return energy / (1 - float(xp.mean(xp.astype(self.mask, xp.float64))))


class MiniBatchLearner:
    """Learns from one batch at a time, as the batches come.

    Parameters
    ----------
    n_atoms : int or one int per patch axis
    batch_iterations : int, default 40
        Iterations of Algorithm 2 on each batch.
    initial, preset, sparsity_scale, sparsity_weight, coherence_weight, metric, random_state, engine, threads
        As in `sedil.learn`. Weights of the preset "data" are derived from the first batch.

    Attributes
    ----------
    factors : tuple of arrays, or None before the first batch
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
        n_atoms: int | Sequence[int],
        *,
        batch_iterations: int = BATCH_ITERATIONS,
        initial: str | SeparableDictionary = "random",
        preset: str = "data",
        sparsity_scale: float | None = None,
        sparsity_weight: float | None = None,
        coherence_weight: float | None = None,
        metric: str = "balanced",
        random_state: int | np.random.Generator | None = None,
        engine: str | None = None,
        threads: int | None = None,
    ) -> None:
        self.n_atoms = n_atoms
        self.batch_iterations = checks.require_count(batch_iterations, "batch_iterations", minimum=1)
        self.initial = initial
        self.preset = preset
        self.given = {
            "sparsity_scale": sparsity_scale,
            "sparsity_weight": sparsity_weight,
            "coherence_weight": coherence_weight,
        }
        self.metric = metric
        self.random_state = random_state
        self.engine = engine
        self.threads = None if threads is None else checks.require_count(threads, "threads", minimum=1)
        self.factors: tuple[Array, ...] | None = None
        self.weights: Weights | None = None
        self.energy = 0.0
        self.n_samples = 0
        self.history = History()

    @property
    def n_batches(self) -> int:
        """Batches seen."""
        return len(self.history)

    @property
    def dictionary(self) -> SeparableDictionary:
        """What has been learned so far; an error before the first batch."""
        if self.factors is None:
            raise ValueError("There is no dictionary before the first batch: call partial_fit.")
        return SeparableDictionary(self.factors, normalize=True)

    def settings(self) -> dict[str, Any]:
        """How it learns, as plain facts that JSON can hold."""
        given = {name: value if value is None else float(value) for name, value in self.given.items()}
        return {
            "n_atoms": np.atleast_1d(self.n_atoms).tolist(),
            "batch_iterations": self.batch_iterations,
            "preset": self.preset,
            **given,
            "metric": self.metric,
            "engine": self.engine,
        }

    def partial_fit(self, patches: Array, mask: Array | None = None) -> MiniBatchLearner:
        """Learn from one batch.

        Parameters
        ----------
        patches : array of shape (n, *patch_shape)
            As in `sedil.learn`, a few hundred to a few thousand; entries that are NaN count as missing.
        mask : boolean array of the shape of `patches`, optional
            True where an entry is missing, whatever it holds. The cost counts known entries only.

        Returns
        -------
        The learner itself.
        """
        began = time.perf_counter()
        samples = checked_samples(patches, mask)
        energy = samples.energy()
        if self.factors is None:
            self._begin(samples, energy)
        samples = self._matching(samples)
        engine, state = self._descend(samples)
        self.n_samples += samples.patches.shape[0]
        share = min(1.0, FULL_STEPS * samples.patches.shape[0] / self.n_samples)
        self.factors = tuple(
            spheres.geodesic(factor, spheres.direction_to(factor, end), share)
            for factor, end in zip(self.factors, state.point.factors, strict=True)  # type: ignore[arg-type]
        )
        self._remember(state, share, engine.n_evaluations, time.perf_counter() - began)
        return self

    def _begin(self, samples: Samples, energy: float) -> None:
        """Sizes, weights and first factors, from the first batch."""
        patch_shape = tuple(samples.patches.shape[1:])
        counts = checks.atom_counts(self.n_atoms, patch_shape)
        require_learnable(patch_shape, counts)
        weights = choose_weights(self.preset, patch_shape, counts, energy, **self.given)
        named_metric(self.metric, patch_shape, counts, samples.patches.shape[0], energy)  # is it known?
        patches = samples.patches
        if self._engine_for(samples, counts) == "fused":
            patches = np.asarray(patches, np.float32)
        rng = np.random.default_rng(self.random_state)
        factors = initial_factors(self.initial, patches, counts, rng)
        require_finite_barrier(factors, weights)
        self.factors, self.weights, self.energy = factors, weights, energy

    def _matching(self, samples: Samples) -> Samples:
        """The batch in the precision of the factors, if its shape and library are theirs."""
        factors: Any = self.factors
        patch_shape = tuple(factor.shape[0] for factor in factors)
        if tuple(samples.patches.shape[1:]) != patch_shape:
            raise ValueError(
                f"A batch has patches of shape {tuple(samples.patches.shape[1:])}, the ones before had "
                f"{patch_shape}: all patches must have one shape."
            )
        checks.require_same_library(samples.patches, factors[0], "A batch", "the first one")
        xp = array_namespace(samples.patches)
        return samples._replace(patches=xp.astype(samples.patches, factors[0].dtype, copy=False))

    def _descend(self, samples: Samples) -> tuple[LearningEngine, State]:
        """Algorithm 2 on one batch, from the current factors and codes that suit them."""
        factors, weights = self.factors, self.weights
        assert factors is not None
        assert weights is not None
        patch_shape, n = samples.patches.shape[1:], samples.patches.shape[0]
        counts = tuple(factor.shape[1] for factor in factors)
        name = self._engine_for(samples, counts)
        engine = learning_engine(name, samples.patches, counts, weights, self.threads, samples.mask)
        codes = engine.sparse_codes(factors, smallest_coefficient(weights))
        manifold = named_metric(self.metric, patch_shape, counts, n, self.energy)
        return engine, descend(engine, manifold, Point(codes, factors), self.batch_iterations)

    def _engine_for(self, samples: Samples, counts: Sequence[int]) -> str:
        """The engine; where entries are missing, the portable one unless the caller wants another."""
        if self.engine is None and samples.mask is not None:
            return "portable"
        return choose_engine(self.engine, samples.patches, counts).name

    def _remember(self, state: State, share: float, n_evaluations: int, seconds: float) -> None:
        last = self.history[-1] if len(self.history) else None
        cost = state.terms.total
        self.history.append(
            Record(
                iteration=self.n_batches + 1,
                sparsity_scale=self.weights.sparsity_scale,  # type: ignore[union-attr]
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


def checked_samples(patches: Array, mask: Array | None) -> Samples:
    """A batch with zeros in place of missing entries; the mask is None if there are none."""
    patches = checks.as_real_array(patches, "patches")
    xp = array_namespace(patches)
    missing = xp.isnan(patches)
    if mask is not None:
        mask = mask if hasattr(mask, "dtype") else np.asarray(mask)
        checks.require_boolean(mask, "mask")
        if tuple(mask.shape) != tuple(patches.shape):
            raise ValueError(
                f"mask must have the shape of the patches, {tuple(patches.shape)}, got {tuple(mask.shape)}."
            )
        checks.require_same_library(mask, patches, "mask", "patches")
        missing = missing | mask
    some, every = bool(xp.any(missing)), bool(xp.all(missing))
    if every and prod(patches.shape):
        raise ValueError("Every entry of a batch is missing: there is nothing to learn from.")
    filled = xp.where(missing, xp.zeros_like(patches), patches) if some else patches
    checks.require_patches(filled)
    return Samples(filled, missing if some else None)
