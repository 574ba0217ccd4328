"""The geodesic that an iteration of Algorithm 2 searches: its costs, and what is found at its end."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from sedil.manifold import Geodesic, Point, ProductManifold, combine, negate
from sedil.objective import Evaluation, Objective, Terms


class Cost(Protocol):
    """The cost at one point."""

    terms: Terms
    value: float


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


class Line:
    """The geodesic from `point` along `direction`, on arrays of any library.

    `gradient` is the Riemannian gradient at `point`.
    """

    def __init__(
        self, objective: Objective, manifold: ProductManifold, point: Point, direction: Point, gradient: Point
    ) -> None:
        self._objective, self._manifold = objective, manifold
        self._direction, self._gradient = direction, gradient
        self._geodesic = Geodesic(point, direction)

    def evaluate(self, size: float) -> Evaluation:
        """The cost after `size` along the line."""
        return self._objective.at(self._geodesic.at(size))

    def arrive(self, size: float, evaluation: Evaluation) -> Arrival:
        """The end of a step whose cost has been evaluated."""
        manifold = self._manifold
        gradient = manifold.riemannian_gradient(evaluation.point, evaluation.gradient())
        direction, old_gradient = self._geodesic.carry(size, self._direction, self._gradient)
        return Arrival(
            evaluation.point,
            gradient,
            direction,
            new_squared=manifold.inner(gradient, gradient),
            new_dot_old=manifold.inner(gradient, old_gradient),
            direction_dot_new=manifold.inner(direction, gradient),
        )

    @staticmethod
    def turn(arrival: Arrival, beta: float) -> Point:
        """The next direction. Paper: Eq. (31)."""
        return combine(negate(arrival.gradient), beta, arrival.carried_direction)
