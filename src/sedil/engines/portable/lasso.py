"""The l1 problem that the solvers share: cost, gradient, duality gap.

For each sample s, with the dictionary D, known entries M (all, unless a mask is given) and weights w
(all 1, unless given), the codes minimise

    1/2 || M (D x - s) ||^2  +  penalty * sum_i w_i |x_i| .

All arrays are packed: samples last. Paper: Eq. (34) and, with a mask, Eq. (35); the paper's lambda_d is
``1 / (2 penalty)``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod, sqrt
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace
from array_api_compat import device as device_of

from sedil.arrays import AnyArray, Array, to_numpy
from sedil.engines.contract import Effort
from sedil.engines.portable import products


class CodingResult(NamedTuple):
    """Codes and how far each is from the optimum.

    Attributes
    ----------
    codes : array of shape (*n_atoms, n), packed
    relative_gap : array of shape (n,)
        Duality gap over the cost of the zero code: an upper bound of the relative error of the cost.
    n_iterations : int
        Iterations of the slowest sample.
    """

    codes: Array
    relative_gap: Array
    n_iterations: int


@dataclass(frozen=True)
class LassoProblem:
    """The l1 problem for a stack of packed patches.

    Attributes
    ----------
    factors : sequence of arrays
    patches : array of shape (*patch_shape, n); missing entries hold zero
    thresholds : float or array that broadcasts against codes (*n_atoms, n)
        ``penalty * w``.
    known : array of shape (*patch_shape, n) or None
        1 where data is known, 0 where it is missing; None if all is known.
    """

    factors: Sequence[Array]
    patches: Array
    thresholds: Any
    known: Array | None = None

    def residual(self, codes: AnyArray) -> AnyArray:
        """``M (s - D x)``."""
        difference = self.patches - products.synthesize(self.factors, codes)
        return difference if self.known is None else difference * self.known

    def correlations(self, residual: AnyArray) -> AnyArray:
        """``D^T r``: minus the gradient of the data term."""
        return products.analyze(self.factors, residual)

    def normal_product(self, codes: AnyArray) -> AnyArray:
        """``D^T M D x``: the curvature of the data term."""
        product = products.synthesize(self.factors, codes)
        return self.correlations(product if self.known is None else product * self.known)

    def relative_gap(self, codes: AnyArray) -> AnyArray:
        """Duality gap at `codes`, per sample, over the cost ``1/2 ||M s||^2`` of the zero code.

        The dual point is the residual, scaled until no atom correlates with it by more than its threshold.
        """
        xp = array_namespace(codes)
        residual = self.residual(codes)
        excess = _per_sample(xp.max, xp.abs(self.correlations(residual)) / self.thresholds)
        scale = 1 / xp.maximum(excess, xp.ones_like(excess))
        energy = dot(residual, residual)
        primal = energy / 2 + _per_sample(xp.sum, self.thresholds * xp.abs(codes))
        dual = scale * dot(residual, self.patches) - scale**2 * energy / 2
        zero_cost = dot(self.patches, self.patches) / 2
        safe = xp.where(zero_cost > 0, zero_cost, xp.ones_like(zero_cost))
        return xp.where(zero_cost > 0, (primal - dual) / safe, xp.zeros_like(primal))

    def take(self, where: Array) -> LassoProblem:
        """The problem for some of the samples."""
        xp = array_namespace(self.patches)
        known = None if self.known is None else xp.take(self.known, where, axis=-1)
        return LassoProblem(self.factors, xp.take(self.patches, where, axis=-1), self.thresholds, known)

    @property
    def n_samples(self) -> int:
        """Number of patches."""
        return self.patches.shape[-1]


Step = Callable[[LassoProblem, tuple[Array, ...]], tuple[Array, ...]]


def iterate(
    problem: LassoProblem,
    state: tuple[Array, ...],
    step: Step,
    effort: Effort,
    check_every: int,
) -> CodingResult:
    """Repeat `step` on every sample until its duality gap is small; ``state[0]`` are the codes.

    Samples that are done leave, so that each ends at its own time whatever the others do. The gap
    returned is that of the returned codes.
    """
    xp = array_namespace(problem.patches)
    index = xp.arange(problem.n_samples, device=device_of(problem.patches))
    finished: list[tuple[Array, Array, Array]] = []
    tolerance, max_iterations = effort.tolerance, effort.max_iterations
    for iteration in range(1, max_iterations + 1):
        state = step(problem, state)
        if iteration % check_every == 0 or iteration == max_iterations:
            gap = problem.relative_gap(state[0])
            done = gap <= tolerance if iteration < max_iterations else xp.ones_like(gap, dtype=xp.bool)
            leaving, staying = xp.nonzero(done)[0], xp.nonzero(~done)[0]
            finished.append(tuple(xp.take(a, leaving, axis=-1) for a in (state[0], gap, index)))
            if staying.shape[0] == 0:
                break
            if leaving.shape[0]:
                problem = problem.take(staying)
                state = tuple(xp.take(array, staying, axis=-1) for array in state)
                index = xp.take(index, staying, axis=-1)
    codes, gap, index = (xp.concat(parts, axis=-1) for parts in zip(*finished, strict=True))
    order = xp.argsort(index)
    return CodingResult(xp.take(codes, order, axis=-1), xp.take(gap, order, axis=-1), iteration)


def soft_threshold(values: AnyArray, threshold: Any) -> AnyArray:
    """Shrink towards zero by `threshold`: the proximal map of the l1 norm."""
    xp = array_namespace(values)
    zero = xp.zeros_like(values)
    return xp.maximum(values - threshold, zero) + xp.minimum(values + threshold, zero)


def squared_norm(factors: Sequence[Array]) -> float:
    """``||D||^2``, the product of the squared spectral norms of the factors.

    Computed on the host in float64: the factors are small, and the step must not overshoot.
    """
    norms = [np.linalg.norm(to_numpy(factor).astype(np.float64), 2) for factor in factors]
    return float(prod(norm**2 for norm in norms)) * (1 + sqrt(np.finfo(np.float32).eps))


def dot(left: AnyArray, right: Array) -> AnyArray:
    """Inner product of each sample."""
    return _per_sample(array_namespace(left).sum, left * right)


def _per_sample(reduction: Callable[..., Any], array: AnyArray) -> AnyArray:
    return reduction(array, axis=tuple(range(array.ndim - 1)))
