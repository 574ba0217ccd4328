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
from sedil.engines.contract import CodesGradient, LogPenalty, TrainingSet, Trial
from sedil.manifold import Geodesic, Point

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

    @property
    def penalty(self) -> LogPenalty:
        """What an engine needs of them."""
        return LogPenalty(self.sparsity_scale, self.sparsity_weight)


class Terms(NamedTuple):
    """The three terms of Eq. (16), each with its weight."""

    data: float
    sparsity: float
    coherence: float

    @property
    def total(self) -> float:
        """The cost f."""
        return self.data + self.sparsity + self.coherence


class Evaluation(NamedTuple):
    """The cost at one point, and what its gradient there needs.

    Attributes
    ----------
    terms : Terms
    factors : tuple of arrays
    grams : list of arrays
        See `off_diagonal_gram`; empty where coherence has no weight.
    trial : Trial
        The engine's part.
    """

    terms: Terms
    factors: tuple[Array, ...]
    grams: list[Array]
    trial: Trial

    @property
    def value(self) -> float:
        """The cost f."""
        return self.terms.total


class Objective:
    """The cost of Eq. (16) for given patches. Paper: Eq. (16).

    An engine computes what is large, the data term and the sparsity of the codes; the coherence of the
    factors is added here.

    Parameters
    ----------
    training_set : TrainingSet
    weights : Weights
    """

    def __init__(self, training_set: TrainingSet, weights: Weights) -> None:
        self.training_set = training_set
        self.weights = weights
        self.n_evaluations = 0

    def at(
        self, point: Point, codes_weight: float, spare: Array | None = None
    ) -> tuple[Evaluation, CodesGradient]:
        """Cost and gradient where a run begins; see `gradient`. The engine may put that into `spare`."""
        grams = self._grams(point.factors)
        trial, gradient = self.training_set.cost_and_gradient(
            point.factors, point.codes, self.weights.penalty, codes_weight, spare
        )
        evaluation = self._evaluation(point.factors, grams, trial)
        return evaluation, self._with_coherence(gradient, evaluation)

    def along(self, geodesic: Geodesic, step: float) -> Evaluation:
        """The cost after `step` along a geodesic; nothing is changed."""
        factors = geodesic.factors_at(step)
        grams = self._grams(factors)
        codes, direction = geodesic.point.codes, geodesic.direction.codes
        trial = self.training_set.cost_along(factors, codes, direction, step, self.weights.penalty)
        return self._evaluation(factors, grams, trial)

    def gradient(self, evaluation: Evaluation, old: Array, codes_weight: float) -> CodesGradient:
        """The gradient at the end of a geodesic, Euclidean in the factors, Riemannian in the codes.

        `old` is the gradient of the codes at its start. The engine may reuse it and the codes of the start.
        """
        gradient = self.training_set.gradient_after(evaluation.trial, old, self.weights.penalty, codes_weight)
        return self._with_coherence(gradient, evaluation)

    def _grams(self, factors: Sequence[Array]) -> list[Array]:
        return [off_diagonal_gram(factor) for factor in factors] if self.weights.coherence_weight else []

    def _evaluation(self, factors: tuple[Array, ...], grams: list[Array], trial: Trial) -> Evaluation:
        self.n_evaluations += 1
        coherence = self.weights.coherence_weight * sum(map(barrier, grams))
        return Evaluation(Terms(trial.data, trial.sparsity, coherence), factors, grams, trial)

    def _with_coherence(self, gradient: CodesGradient, evaluation: Evaluation) -> CodesGradient:
        """The same with the slope of the barrier added, in the precision of the factors."""
        factors, slopes = evaluation.factors, gradient.factor_gradients
        if evaluation.grams:
            triples = zip(slopes, factors, evaluation.grams, strict=True)
            kappa = self.weights.coherence_weight
            slopes = tuple(
                slope + kappa * coherence_gradient(factor, gram) for slope, factor, gram in triples
            )
        pairs = zip(slopes, factors, strict=True)
        own = tuple(namespace(slope).astype(slope, factor.dtype, copy=False) for slope, factor in pairs)
        return gradient._replace(factor_gradients=own)


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
