"""Algorithm 2: geometric conjugate gradients on codes and factors together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite, sqrt
from typing import NamedTuple

import numpy as np

from sedil.arrays import Array
from sedil.learning.line_search import LineSearch, Reference, initial_size, next_size, search
from sedil.manifold import Geodesic, Point, ProductManifold, negate
from sedil.objective import Evaluation, Objective, Terms


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


@dataclass(frozen=True)
class State:
    """All that the next iteration needs: saving and restoring it continues a run to the bit.

    Attributes
    ----------
    point, gradient, direction : Y, G and H of the paper
    terms : the cost at `point`
    gradient_norm : length of `gradient` in the metric
    slope : derivative of the cost along `direction`
    step_size : alpha of the last step; the next one starts its search at `next_step_size`
    reference : C and Q of Algorithm 1
    iteration : steps taken so far
    """

    point: Point
    gradient: Point
    direction: Point
    terms: Terms
    gradient_norm: float
    slope: float
    step_size: float
    next_step_size: float | None
    reference: Reference
    iteration: int


# Lengths of gradients may be infinite, under weights beyond all measure: then there is no progress.
_lengths_may_overflow = np.errstate(over="ignore")


@_lengths_may_overflow
def start(objective: Objective, manifold: ProductManifold, point: Point, spare: Array | None = None) -> State:
    """State at the initial point. Paper: Algorithm 2, the block "Set". The gradient may go into `spare`."""
    evaluation, found = objective.at(point, manifold.codes_weight, spare)
    slopes = manifold.gradient_of_factors(point.factors, found.factor_gradients)
    squared = manifold.inner(found.new_squared, slopes, slopes)
    gradient = Point(found.gradient, slopes)
    return State(
        point=Point(found.codes, point.factors),
        gradient=gradient,
        direction=negate(gradient),
        terms=evaluation.terms,
        gradient_norm=sqrt(squared),
        slope=-squared,
        step_size=0.0,
        next_step_size=None,
        reference=Reference(evaluation.value),
        iteration=0,
    )


@_lengths_may_overflow
def advance(
    objective: Objective, manifold: ProductManifold, state: State, constants: LineSearch
) -> State | None:
    """One iteration of Algorithm 2, or None if no step along any direction brings progress.

    The engine may reuse the arrays of `state`, which must not be used afterwards.
    """
    if not isfinite(state.slope):
        return None
    for direction, slope, first_size in _descent_directions(state):
        geodesic = GeodesicSearch(objective, manifold, state.point, direction, state.gradient)
        step = search(geodesic.evaluate, state.reference.value, slope, first_size, constants)
        if step is not None:
            break
    else:
        return None

    arrival = geodesic.arrive(step.size, step.evaluation)
    beta = hybrid_beta(
        new_squared=arrival.new_squared,
        new_dot_old=arrival.new_dot_old,
        direction_dot_new=arrival.direction_dot_new,
        direction_dot_old=slope,  # transport keeps inner products
    )
    return State(
        point=arrival.point,
        gradient=arrival.gradient,
        direction=geodesic.turn(arrival, beta),
        terms=step.evaluation.terms,
        gradient_norm=sqrt(arrival.new_squared),
        slope=beta * arrival.direction_dot_new - arrival.new_squared,
        step_size=step.size,
        next_step_size=next_size(step, state.terms.total, slope),
        reference=state.reference.including(step.evaluation.value, constants.eta),
        iteration=state.iteration + 1,
    )


def descend(objective: Objective, manifold: ProductManifold, point: Point, iterations: int) -> State:
    """So many iterations of Algorithm 2 from `point`, fewer if there is no progress any more."""
    state = start(objective, manifold, point)
    for _ in range(iterations):
        following = advance(objective, manifold, state, LineSearch())
        if following is None:
            break
        state = following
    return state


def hybrid_beta(
    *, new_squared: float, new_dot_old: float, direction_dot_new: float, direction_dot_old: float
) -> float:
    """Hestenes-Stiefel, kept between zero and Dai-Yuan. Paper: Eq. (32), (33).

    With Z = G_new - T(G_old) the products of Eq. (32) are ``<G_new, Z> = new_squared - new_dot_old`` and
    ``<T(H), Z> = direction_dot_new - direction_dot_old``; Z itself, as large as the codes, is never formed.
    """
    denominator = direction_dot_new - direction_dot_old
    if denominator == 0:
        return 0.0
    hestenes_stiefel = (new_squared - new_dot_old) / denominator
    dai_yuan = new_squared / denominator
    return max(0.0, min(hestenes_stiefel, dai_yuan))


def _descent_directions(state: State) -> Iterator[tuple[Point, float, float]]:
    """Directions worth a search, with slope and first step: the conjugate one if it descends, the steepest.

    Safeguard, not in the paper: conjugacy is lost now and then, and a restart from the negative
    gradient mends it.
    """
    if state.slope < 0:
        size = state.next_step_size or initial_size(state.terms.total, state.slope)
        yield state.direction, state.slope, size
    if state.gradient_norm > 0:
        steepest = -(state.gradient_norm**2)
        yield negate(state.gradient), steepest, initial_size(state.terms.total, steepest)
