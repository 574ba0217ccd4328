"""Where learning happens: all codes, times one product of spheres per axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from sedil import spheres
from sedil.engines.portable import Array, namespace


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
        weights = (self.codes_weight, *self.factor_weights)
        pairs = zip(weights, left.blocks(), right.blocks(), strict=True)
        return sum(weight * _dot(a, b) for weight, a, b in pairs)

    def riemannian_gradient(self, point: Point, euclidean: Point) -> Point:
        """Direction of steepest ascent at `point` in this metric. Paper: Eq. (18), (23)."""
        factors = tuple(
            spheres.project(factor, gradient) / weight
            for factor, gradient, weight in zip(
                point.factors, euclidean.factors, self.factor_weights, strict=True
            )
        )
        return Point(euclidean.codes / self.codes_weight, factors)

    def geodesic(self, point: Point, direction: Point, step: float) -> Point:
        """The point reached from `point` after `step` along `direction`. Paper: Eq. (27)."""
        factors = _each(spheres.geodesic, step, point, direction)
        return Point(point.codes + step * direction.codes, factors)

    def transport(self, tangent: Point, point: Point, direction: Point, step: float) -> Point:
        """`tangent` carried to the end of that geodesic. Paper: Eq. (30)."""
        return Point(tangent.codes, _each(spheres.transport, step, tangent, point, direction))


class FixedFactors(ProductManifold):
    """The same with the factors held where they are: only the codes move."""

    def riemannian_gradient(self, point: Point, euclidean: Point) -> Point:
        """Direction of steepest ascent of the codes."""
        still = tuple(0 * factor for factor in point.factors)
        return Point(euclidean.codes / self.codes_weight, still)


def combine(left: Point, scale: float, right: Point) -> Point:
    """``left + scale * right``, block by block."""
    blocks = zip(left.blocks(), right.blocks(), strict=True)
    return Point.from_blocks(*(a + scale * b for a, b in blocks))


def negate(tangent: Point) -> Point:
    """``-tangent``."""
    return Point.from_blocks(*(-block for block in tangent.blocks()))


def _each(function: Callable[..., Array], step: float, *points: Point) -> tuple[Array, ...]:
    per_axis = zip(*(point.factors for point in points), strict=True)
    return tuple(function(*arrays, step) for arrays in per_axis)


def _dot(left: Array, right: Array) -> float:
    xp = namespace(left)
    return float(xp.sum(left * right, dtype=xp.float64))
