"""Learning with the portable engine: cost and gradient of Eq. (16) on packed arrays of any library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sedil.arrays import AnyArray, Array, inner_product, namespace, pack, unpack
from sedil.engines.contract import CodesGradient, Effort, LogPenalty, Trial
from sedil.engines.portable import products
from sedil.engines.portable.l1 import LassoProblem, fista


class PortableTrainingSet:
    """Patches (n, *patch_shape) to learn from, as `sedil.engines.contract.TrainingSet`; codes are packed.

    `mask` is True where an entry is missing; there the patches must hold zero.
    """

    def __init__(self, patches: Array, mask: Array | None = None) -> None:
        self.n_samples = patches.shape[0]
        self._patches = pack(patches)
        self._known = None if mask is None else pack(namespace(patches).astype(~mask, patches.dtype))

    def codes_shape(self, n_atoms: Sequence[int]) -> tuple[int, ...]:
        """Packed: samples last."""
        return (*n_atoms, self.n_samples)

    def correlations(self, factors: Sequence[Array]) -> Array:
        """Codes ``A^T S B``."""
        return products.analyze(factors, self._patches)

    def sparse_codes(self, factors: Sequence[Array], penalty: float, effort: Effort) -> Array:
        """Codes of Eq. (34), by FISTA."""
        least = float(namespace(self._patches).finfo(self._patches.dtype).smallest_normal) ** 0.5
        problem = LassoProblem(factors, self._patches, max(penalty, least), self._known)
        return fista(problem, effort).codes

    def export_codes(self, codes: AnyArray) -> AnyArray:
        """Codes of shape (n, *n_atoms)."""
        return unpack(codes)

    def cost_along(
        self, factors: Sequence[Array], codes: Array, direction: Array, step: float, penalty: LogPenalty
    ) -> Trial:
        """The cost at ``codes + step * direction``. Paper: Eq. (16), coherence left out."""
        return self._cost(factors, codes + step * direction, direction, penalty)

    def gradient_after(
        self, trial: Trial, gradient: Array, penalty: LogPenalty, codes_weight: float
    ) -> CodesGradient:
        """The gradient where `trial` was made."""
        new, factor_gradients = self._gradient(trial.memory, penalty, codes_weight)
        return CodesGradient(
            trial.memory.codes,
            new,
            factor_gradients,
            new_squared=inner_product(new, new),
            new_dot_old=inner_product(new, gradient),
            direction_dot_new=inner_product(trial.memory.direction, new),
        )

    def cost_and_gradient(
        self,
        factors: Sequence[Array],
        codes: Array,
        penalty: LogPenalty,
        codes_weight: float,
        spare: Array | None = None,
    ) -> tuple[Trial, CodesGradient]:
        """Both at the point where a run begins."""
        trial = self._cost(factors, codes, None, penalty)
        gradient, factor_gradients = self._gradient(trial.memory, penalty, codes_weight)
        squared = inner_product(gradient, gradient)
        return trial, CodesGradient(codes, gradient, factor_gradients, squared, 0.0, 0.0)

    def turn(self, gradient: AnyArray, direction: Array, beta: float) -> AnyArray:
        """``beta * direction - gradient``. Paper: Eq. (31)."""
        return beta * direction - gradient

    def _cost(
        self, factors: Sequence[Array], codes: Array, direction: Array | None, penalty: LogPenalty
    ) -> Trial:
        residual = products.synthesize(factors, codes) - self._patches
        if self._known is not None:
            residual = residual * self._known
        return Trial(
            data=0.5 * inner_product(residual, residual) / self.n_samples,
            sparsity=penalty.weight * sparsity(codes, penalty.scale),
            memory=_Memory(factors, codes, residual, direction),
        )

    def _gradient(
        self, memory: _Memory, penalty: LogPenalty, codes_weight: float
    ) -> tuple[Array, tuple[Array, ...]]:
        """Riemannian gradient of the codes and Euclidean gradients of the factors. Paper: Eq. (16), (18)."""
        factors, codes, residual, _ = memory
        slope = products.analyze(factors, residual) + penalty.weight * log_slope(codes, penalty.scale)
        sums = products.factor_gradients(factors, codes, residual)
        return slope / self.n_samples / codes_weight, tuple(each / self.n_samples for each in sums)


class _Memory(NamedTuple):
    """What the gradient needs of a trial; no direction led to where a run begins."""

    factors: Sequence[Array]
    codes: Array
    residual: Array
    direction: Array | None


def sparsity(codes: Array, scale: float) -> float:
    """Mean over the patches of ``sum ln(1 + rho x^2)``. Paper: Eq. (4), divided by m."""
    xp = namespace(codes)
    return float(xp.sum(xp.log1p(scale * codes * codes), dtype=xp.float64)) / codes.shape[-1]


def log_slope(codes: AnyArray, scale: float) -> AnyArray:
    """Derivative of ``ln(1 + rho x^2)``, entry by entry."""
    return 2 * scale * codes / (1 + scale * codes * codes)
