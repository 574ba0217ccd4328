"""The cost of Eq. (16): data term, log sparsity and coherence barrier, with their gradients.

Scale: the data term and the sparsity are **means over the patches**, the data term with the factor
1/2. Sums are taken in float64 whatever the arrays hold: near convergence the decrease of the cost
is below what float32 resolves.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

from sedil import spheres
from sedil.arrays import Array, namespace
from sedil.engines.portable import products
from sedil.manifold import Point

# Two atoms with 1 - <d_i, d_j>^2 below this coincide as far as float64 can tell, and the barrier is
# infinite there. A clamp in its place let long steps jump over the barrier.
COINCIDENCE = 1e-13


class Weights(NamedTuple):
    """Parameters of Eq. (16).

    Attributes
    ----------
    sparsity_scale : float
        rho; coefficients well below ``1 / sqrt(rho)`` count as zero.
    sparsity_weight : float
        lambda, the price of sparsity against accuracy.
    coherence_weight : float
        kappa, the price of similar atoms.
    """

    sparsity_scale: float
    sparsity_weight: float
    coherence_weight: float


class Terms(NamedTuple):
    """The three terms of Eq. (16), each with its weight."""

    data: float
    sparsity: float
    coherence: float

    @property
    def total(self) -> float:
        """The cost f."""
        return self.data + self.sparsity + self.coherence


class Objective:
    """The cost of Eq. (16) for given patches.

    Parameters
    ----------
    patches : array of shape (*patch_shape, n), packed
    weights : Weights
    known : array of the shape of `patches`, optional
        1 where data is known, 0 where it is missing and does not count; None if all is known.
    """

    def __init__(self, patches: Array, weights: Weights, known: Array | None = None) -> None:
        self.patches = patches
        self.weights = weights
        self.known = known
        self.n_evaluations = 0

    def at(self, point: Point) -> Evaluation:
        """Evaluate the cost at `point`; the gradient can then be had without a second pass."""
        self.n_evaluations += 1
        return Evaluation(self, point)


class Evaluation:
    """The cost at one point. Paper: Eq. (16).

    Attributes
    ----------
    terms : Terms
    value : float
    """

    def __init__(self, objective: Objective, point: Point) -> None:
        self.point = point
        self._weights = objective.weights
        self._residual = products.synthesize(point.factors, point.codes) - objective.patches
        if objective.known is not None:
            self._residual = self._residual * objective.known
        self.terms = Terms(
            data=_half_mean_square(self._residual),
            sparsity=self._weights.sparsity_weight * sparsity(point.codes, self._weights.sparsity_scale),
            coherence=self._weights.coherence_weight * total_coherence(point.factors)
            if self._weights.coherence_weight
            else 0.0,
        )
        self.value = self.terms.total

    def gradient(self) -> Point:
        """Euclidean gradient of the cost in codes and factors."""
        n = self._residual.shape[-1]
        scale, price, kappa = self._weights
        codes, factors = self.point
        codes_gradient = products.analyze(factors, self._residual)
        codes_gradient = (codes_gradient + price * log_slope(codes, scale)) / n
        data_gradients = products.factor_gradients(factors, codes, self._residual)
        factor_gradients = tuple(
            data_gradient / n + (kappa * coherence_gradient(factor) if kappa else 0)
            for data_gradient, factor in zip(data_gradients, factors, strict=True)
        )
        return Point(codes_gradient, factor_gradients)


def sparsity(codes: Array, scale: float) -> float:
    """Mean over the patches of ``sum ln(1 + rho x^2)``. Paper: Eq. (4), divided by m."""
    xp = namespace(codes)
    return float(xp.sum(xp.log1p(scale * codes * codes), dtype=xp.float64)) / codes.shape[-1]


def log_slope(codes: Array, scale: float) -> Array:
    """Derivative of ``ln(1 + rho x^2)``, entry by entry."""
    return 2 * scale * codes / (1 + scale * codes * codes)


def coherence(factor: Array) -> float:
    """Log barrier against similar atoms, ``-sum ln(1 - <d_i, d_j>^2)``. Paper: Eq. (7).

    Infinite once two atoms coincide, so that a line search backs off.
    """
    return barrier(off_diagonal_gram(factor))


def barrier(gram: Array) -> float:
    """`coherence` of atoms with these inner products."""
    xp = namespace(gram)
    gap = 1 - gram * gram
    if float(xp.min(gap)) <= COINCIDENCE:
        return inf
    return -0.5 * float(xp.sum(xp.log(gap)))


def coherence_gradient(factor: Array, gram: Array | None = None) -> Array:
    """Euclidean gradient of `coherence`: column i is ``sum_j 2 g_ij / (1 - g_ij^2) d_j``.

    `gram` is the `off_diagonal_gram` of the factor, if it is at hand.
    """
    gram = off_diagonal_gram(factor) if gram is None else gram
    xp = namespace(gram)
    slope = 2 * gram / (1 - gram * gram)
    return xp.astype(xp.matmul(xp.astype(factor, xp.float64), slope), factor.dtype)


def total_coherence(factors: Sequence[Array]) -> float:
    """Sum of the barriers of all factors, the last part of Eq. (16)."""
    return sum(coherence(factor) for factor in factors)


def _half_mean_square(residual: Array) -> float:
    xp = namespace(residual)
    return 0.5 * float(xp.sum(residual * residual, dtype=xp.float64)) / residual.shape[-1]


def off_diagonal_gram(factor: Array) -> Array:
    """Inner products of different atoms in float64, with zeros in place of those of an atom with itself."""
    xp = namespace(factor)
    # float32 columns have unit length to 1e-7 only, which would hide that two of them coincide.
    factor = spheres.normalize(xp.astype(factor, xp.float64))
    gram = xp.matmul(factor.T, factor)
    identity = xp.eye(gram.shape[0], dtype=gram.dtype, device=gram.device)
    return gram * (1 - identity)


def mutual_coherence(factor: Array) -> float:
    """Largest |inner product| of two different atoms of one factor. Paper: Eq. (6)."""
    gram = off_diagonal_gram(factor)
    xp = namespace(gram)
    return min(float(xp.max(xp.abs(gram))), 1.0)
