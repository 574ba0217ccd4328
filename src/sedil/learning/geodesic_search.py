"""The geodesic that an iteration of Algorithm 2 searches: its costs, and what is found at its end."""

from __future__ import annotations

from typing import NamedTuple

from sedil.manifold import Geodesic, Point, ProductManifold
from sedil.objective import Evaluation, Objective


class Arrival(NamedTuple):
    """What is known at the end of a step.

    Attributes
    ----------
    point, gradient : Y and G there
    carried_direction : H, transported there
    new_squared, new_dot_old, direction_dot_new : products of the new gradient with itself, with the old
        gradient and with the direction, both transported
    """

    point: Point
    gradient: Point
    carried_direction: Point
    new_squared: float
    new_dot_old: float
    direction_dot_new: float


class GeodesicSearch:
    """The geodesic from `point` along `direction`; `gradient` is the Riemannian gradient at `point`.

    `arrive` may reuse the arrays of the codes of `point` and `gradient`, and `turn` those of `direction`.
    """

    def __init__(
        self, objective: Objective, manifold: ProductManifold, point: Point, direction: Point, gradient: Point
    ) -> None:
        self._objective, self._manifold, self._gradient = objective, manifold, gradient
        self._geodesic = Geodesic(point, direction)

    def evaluate(self, size: float) -> Evaluation:
        """The cost after `size` along the geodesic."""
        return self._objective.along(self._geodesic, size)

    def arrive(self, size: float, evaluation: Evaluation) -> Arrival:
        """The end of a step whose cost has been evaluated."""
        manifold, old_gradient = self._manifold, self._gradient
        found = self._objective.gradient(evaluation, old_gradient.codes, manifold.codes_weight)
        gradient = manifold.gradient_of_factors(evaluation.factors, found.factor_gradients)
        direction = self._geodesic.direction
        carried, old = self._geodesic.carry(size, direction.factors, old_gradient.factors)
        return Arrival(
            Point(found.codes, evaluation.factors),
            Point(found.gradient, gradient),
            Point(direction.codes, carried),
            new_squared=manifold.inner(found.new_squared, gradient, gradient),
            new_dot_old=manifold.inner(found.new_dot_old, gradient, old),
            direction_dot_new=manifold.inner(found.direction_dot_new, carried, gradient),
        )

    def turn(self, arrival: Arrival, beta: float) -> Point:
        """The next direction. Paper: Eq. (31)."""
        gradient, carried = arrival.gradient, arrival.carried_direction
        codes = self._objective.training_set.turn(gradient.codes, carried.codes, beta)
        pairs = zip(carried.factors, gradient.factors, strict=True)
        return Point(codes, tuple(beta * old - new for old, new in pairs))
