"""Where learning happens: all codes, times one product of spheres per axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sedil import spheres
from sedil.arrays import Array, inner_product


class Point(NamedTuple):
    """Codes and factors: a point of the manifold, or a tangent vector at one.

    Attributes
    ----------
    codes : array in the layout of the engine
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

    Paper: Eq. (23), (24), (27) and (30); there every weight is 1. `sedil.learning.defaults` says which
    weights are used and why. Weights change which direction is steepest; geodesics and transport
    do not depend on them.
    """

    codes_weight: float
    factor_weights: tuple[float, ...]

    def inner(self, codes: float, left: Sequence[Array], right: Sequence[Array]) -> float:
        """Inner product of two tangent vectors. Paper: Eq. (24).

        `codes` is the plain product of their codes, which the engine has taken; `left` and `right` are their
        factors.
        """
        triples = zip(self.factor_weights, left, right, strict=True)
        return self.codes_weight * codes + sum(weight * inner_product(a, b) for weight, a, b in triples)

    def gradient_of_factors(self, factors: Sequence[Array], euclidean: Sequence[Array]) -> tuple[Array, ...]:
        """Direction of steepest ascent in this metric. Paper: Eq. (18), (23).

        That of the codes is their Euclidean gradient over `codes_weight`, and the engine's work.
        """
        triples = zip(factors, euclidean, self.factor_weights, strict=True)
        return tuple(spheres.project(factor, slope) / weight for factor, slope, weight in triples)


class Geodesic:
    """The way from `point` along `direction`. Paper: Eq. (27).

    The codes go straight, ``codes + step * direction``, and tangent vectors of theirs stay as they are:
    engines see to that. Here are the great circles of the factors.
    """

    def __init__(self, point: Point, direction: Point) -> None:
        self.point, self.direction = point, direction
        self._circles = tuple(map(spheres.Circles.along, point.factors, direction.factors))

    def factors_at(self, step: float) -> tuple[Array, ...]:
        """The factors that it reaches after `step`. Paper: Eq. (27)."""
        return tuple(circles.at(step) for circles in self._circles)

    def carry(self, step: float, *tangents: Sequence[Array]) -> list[tuple[Array, ...]]:
        """Factors of tangent vectors at its start, carried to where it leads. Paper: Eq. (30)."""
        per_axis = zip(self._circles, *tangents, strict=True)
        carried = [circles.carry(step, *arrays) for circles, *arrays in per_axis]
        return [tuple(arrays[k] for arrays in carried) for k in range(len(tangents))]


def negate(tangent: Point) -> Point:
    """``-tangent``."""
    return Point.from_blocks(*(-block for block in tangent.blocks()))
