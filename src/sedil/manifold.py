"""Where learning happens: all codes, times one product of spheres per axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sedil import spheres
from sedil.arrays import Array, namespace


class Point(NamedTuple):
    """Codes and factors: a point of the manifold, or a tangent vector at one.

    Attributes
    ----------
    codes : array of shape (*n_atoms, n), packed
    factors : tuple of arrays of shape (patch_shape[k], n_atoms[k])
    """

    codes: Array
    factors: tuple[Array, ...]

    def blocks(self) -> tuple[Array, ...]:
        """The codes and each factor, in this order."""
        return (self.codes, *self.factors)

    @classmethod
    def from_blocks(cls, codes: Array, *factors: Array) -> Point:
        """Inverse of `blocks`."""
        return cls(codes, factors)


class ProductManifold(NamedTuple):
    """R^(codes) x S(h, a) x S(w, b) x ..., with one positive weight per block in the metric.

    Paper: Eq. (23), (24), (27) and (30); there every weight is 1. `sedil.learning.metrics` says which
    weights are used and why. Weights change which direction is steepest; geodesics and transport
    do not depend on them.
    """

    codes_weight: float
    factor_weights: tuple[float, ...]

    def inner(self, left: Point, right: Point) -> float:
        """Inner product of two tangent vectors, summed in float64. Paper: Eq. (24)."""
        codes = self.codes_weight * _dot(left.codes, right.codes)
        return codes + self.inner_of_factors(left.factors, right.factors)

    def inner_of_factors(self, left: Sequence[Array], right: Sequence[Array]) -> float:
        """The part of `inner` without the codes."""
        pairs = zip(self.factor_weights, left, right, strict=True)
        return sum(weight * _dot(a, b) for weight, a, b in pairs)

    def riemannian_gradient(self, point: Point, euclidean: Point) -> Point:
        """Direction of steepest ascent at `point` in this metric. Paper: Eq. (18), (23)."""
        factors = self.gradient_of_factors(point.factors, euclidean.factors)
        return Point(euclidean.codes / self.codes_weight, factors)

    def gradient_of_factors(self, factors: Sequence[Array], euclidean: Sequence[Array]) -> tuple[Array, ...]:
        """The part of `riemannian_gradient` without the codes."""
        triples = zip(factors, euclidean, self.factor_weights, strict=True)
        return tuple(spheres.project(factor, slope) / weight for factor, slope, weight in triples)


class Geodesic:
    """The way from `point` along `direction`."""

    def __init__(self, point: Point, direction: Point) -> None:
        self._point, self._direction = point, direction
        self._circles = circles(point.factors, direction.factors)

    def at(self, step: float) -> Point:
        """The point that it reaches after `step`. Paper: Eq. (27)."""
        factors = tuple(each.at(step) for each in self._circles)
        return Point(self._point.codes + step * self._direction.codes, factors)

    def carry(self, step: float, *tangents: Point) -> list[Point]:
        """Tangent vectors at its start, carried to that point. Paper: Eq. (30)."""
        per_axis = zip(*(tangent.factors for tangent in tangents), strict=True)
        carried = [each.carry(step, *arrays) for each, arrays in zip(self._circles, per_axis, strict=True)]
        return [
            Point(tangent.codes, tuple(arrays[k] for arrays in carried)) for k, tangent in enumerate(tangents)
        ]


def circles(factors: Sequence[Array], directions: Sequence[Array]) -> tuple[spheres.Circles, ...]:
    """The great circles of each factor."""
    return tuple(map(spheres.Circles.along, factors, directions))


class FixedFactors(ProductManifold):
    """The same with the factors held where they are: only the codes move."""

    def gradient_of_factors(self, factors: Sequence[Array], euclidean: Sequence[Array]) -> tuple[Array, ...]:
        """Zero: they stay."""
        return tuple(0 * factor for factor in factors)


def combine(left: Point, scale: float, right: Point) -> Point:
    """``left + scale * right``, block by block."""
    blocks = zip(left.blocks(), right.blocks(), strict=True)
    return Point.from_blocks(*(a + scale * b for a, b in blocks))


def negate(tangent: Point) -> Point:
    """``-tangent``."""
    return Point.from_blocks(*(-block for block in tangent.blocks()))


def _dot(left: Array, right: Array) -> float:
    xp = namespace(left)
    return float(xp.sum(left * right, dtype=xp.float64))
