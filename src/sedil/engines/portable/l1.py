"""The l1 problem: cost, gradient, duality gap; FISTA and ADMM, and least squares on the atoms in use.

For each sample s, with the dictionary D, known entries M (all, unless a mask is given) and weights w
(all 1, unless given), the codes minimise

    1/2 || M (D x - s) ||^2  +  penalty * sum_i w_i |x_i| .

All arrays are packed: samples last. Paper: Eq. (34) and, with a mask, Eq. (35); the paper's lambda_d is
``1 / (2 penalty)``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import count
from math import prod, sqrt
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import device as device_of

from sedil.arrays import AnyArray, Array, namespace, to_numpy
from sedil.engines.contract import Effort
from sedil.engines.portable import products

FISTA_CHECK, ADMM_CHECK = 10, 5  # iterations between two looks at the duality gap, which costs about one
TEST_EVERY = 2  # iterations of FISTA between two tests for restart; the fused engine counts on it
# Weight of the coupling between the two copies of the codes, and over-relaxation. Atoms have unit length,
# so the data term curves by about 1 along each whatever the units; both were chosen on noisy photographs.
STRENGTH = 1.0
RELAXATION = 1.7
_RELATIVE_RESIDUAL = 1e-4  # of the normal equations; far below the noise in any use
_LEAST_CURVATURE = 1e-5  # of a direction; below it two atoms of the support are the same to float32


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
        xp = namespace(codes)
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
        xp = namespace(self.patches)
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
    xp = namespace(problem.patches)
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
    xp = namespace(values)
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
    return _per_sample(namespace(left).sum, left * right)


def _per_sample(reduction: Callable[..., Any], array: AnyArray) -> AnyArray:
    return reduction(array, axis=tuple(range(array.ndim - 1)))


def fista(
    problem: LassoProblem,
    effort: Effort,
    initial: Array | None = None,
    check_every: int = FISTA_CHECK,
) -> CodingResult:
    """Solve the l1 problem for every sample on its own (Beck and Teboulle, 2009). Paper: Eq. (34).

    All samples share the step length, which depends on the dictionary alone, and each stops when its
    relative duality gap is small enough: the code of a sample does not depend on which others it
    is solved with. The momentum of a sample starts anew when it points uphill (O'Donoghue and Candes,
    2015), for which it is tested in every second iteration: results/restart.csv shows that this is enough.
    """
    xp = namespace(problem.patches)
    size = 1 / squared_norm(problem.factors)
    iterations = count(1)

    def step(problem: LassoProblem, state: tuple[Array, ...]) -> tuple[Array, ...]:
        codes, ahead, momentum = state
        uphill_slope = problem.correlations(problem.residual(ahead))
        new = soft_threshold(ahead + size * uphill_slope, size * problem.thresholds)
        if next(iterations) % TEST_EVERY == 0:
            # The restart test of the gradient scheme: momentum goes on only while it agrees with the step.
            restart = dot(ahead - new, new - codes) > 0
            momentum = xp.where(restart, xp.ones_like(momentum), momentum)
        new_momentum = (1 + xp.sqrt(1 + 4 * momentum**2)) / 2
        return new, new + ((momentum - 1) / new_momentum) * (new - codes), new_momentum

    first = initial
    if first is None:
        first = xp.zeros_like(products.analyze(problem.factors, problem.patches))
    momentum = xp.ones_like(dot(problem.patches, problem.patches))
    return iterate(problem, (first, first, momentum), step, effort, check_every)


def admm(problem: LassoProblem, effort: Effort, initial: Array | None = None) -> CodingResult:
    """Solve the l1 problem for every sample on its own, as `fista` does, in fewer iterations.

    Only without a mask: with one, D^T M D has no Kronecker structure. Without one, with
    ``A_k^T A_k = U_k diag(e_k) U_k^T`` for each factor,

        (D^T D + r I)^-1 = (U_1 (x) ... (x) U_K) diag(1 / (e_1 (x) ... (x) e_K + r)) (U_1 (x) ... (x) U_K)^T ,

    so that an iteration costs no more than one of FISTA.
    """
    assert problem.known is None
    rotations, eigenvalues = _eigendecompositions(problem.factors)
    shrink = 1 / (eigenvalues + STRENGTH)

    def step(problem: LassoProblem, state: tuple[Array, ...]) -> tuple[Array, ...]:
        codes, dual, target = state
        right = target + STRENGTH * (codes - dual)
        smooth = products.synthesize(rotations, shrink * products.analyze(rotations, right))
        mixed = RELAXATION * smooth + (1 - RELAXATION) * codes
        new = soft_threshold(mixed + dual, problem.thresholds / STRENGTH)
        return new, dual + mixed - new, target

    xp = namespace(problem.patches)
    target = problem.correlations(problem.patches)
    first = xp.zeros_like(target) if initial is None else initial
    state = (first, xp.zeros_like(target), target)
    return iterate(problem, state, step, effort, ADMM_CHECK)


def _eigendecompositions(factors: Sequence[Array]) -> tuple[list[Array], Array]:
    """Rotations U_k and the product of the eigenvalues, shape (*n_atoms, 1), in the factors' library."""
    xp, like = namespace(factors[0]), factors[0]
    values, rotations = [], []
    for factor in factors:
        matrix = to_numpy(factor).astype(np.float64)
        value, rotation = np.linalg.eigh(matrix.T @ matrix)
        values.append(np.maximum(value, 0))
        rotations.append(xp.asarray(rotation, dtype=like.dtype, device=device_of(like)))
    products = reduce(np.multiply.outer, values)[..., None]
    return rotations, xp.asarray(products, dtype=like.dtype, device=device_of(like))


def refit(problem: LassoProblem, codes: Array, max_iterations: int) -> Array:
    """Minimise ``||M (D x - s)||^2`` over the entries where `codes` is not zero, per sample.

    Conjugate gradients on the normal equations, started at `codes`; the other entries stay zero. A few
    iterations do, as the supports are small.
    """
    xp = namespace(codes)
    support = xp.astype(codes != 0, codes.dtype)
    slope = problem.correlations(problem.residual(codes)) * support
    direction, squared = slope, dot(slope, slope)
    goal = _RELATIVE_RESIDUAL**2 * dot(problem.patches, problem.patches)
    for _ in range(max_iterations):
        going = squared > goal
        if not bool(xp.any(going)):
            break
        change = problem.normal_product(direction) * support
        curvature = dot(direction, change)
        # Dependent atoms leave directions without curvature, where rounding alone would set the step.
        going = going & (curvature > _LEAST_CURVATURE * dot(direction, direction))
        step = ratio(squared, curvature, going)
        codes = codes + step * direction
        slope = slope - step * change
        new_squared = dot(slope, slope)
        direction = slope + ratio(new_squared, squared, going) * direction
        squared = xp.where(going, new_squared, xp.zeros_like(squared))
    return codes


def ratio(numerator: AnyArray, denominator: Array, where: Array) -> AnyArray:
    """Quotient of the samples `where` it is wanted, 0 of the others."""
    xp = namespace(numerator)
    safe = xp.where(where, denominator, xp.ones_like(denominator))
    return xp.where(where, numerator / safe, xp.zeros_like(numerator))
