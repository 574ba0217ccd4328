"""Algorithm 2: geometric conjugate gradients on codes and factors together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from typing import Any

from sedil.learning.line import Line
from sedil.learning.line_search import LineSearch, Reference, initial_size, next_size, search
from sedil.manifold import Point, ProductManifold, negate
from sedil.objective import Objective, Terms


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


def start(objective: Objective, manifold: ProductManifold, point: Point) -> State:
    """State at the initial point. Paper: Algorithm 2, the block "Set"."""
    evaluation = objective.at(point)
    gradient = manifold.riemannian_gradient(point, evaluation.gradient())
    return first_state(
        point, gradient, evaluation.terms, manifold.inner(gradient, gradient), negate(gradient)
    )


def first_state(point: Point, gradient: Point, terms: Terms, squared: float, direction: Point) -> State:
    """State before the first step, `squared` being the squared length of the gradient."""
    return State(
        point=point,
        gradient=gradient,
        direction=direction,
        terms=terms,
        gradient_norm=sqrt(squared),
        slope=-squared,
        step_size=0.0,
        next_step_size=None,
        reference=Reference(terms.total),
        iteration=0,
    )


def advance(
    objective: Any, manifold: ProductManifold, state: State, constants: LineSearch, line: Any = Line
) -> State | None:
    """One iteration of Algorithm 2, or None if no step along any direction brings progress.

    `line` makes the geodesic to search from `objective`, `manifold` and the point, direction and gradient.
    A fused one reuses the arrays of `state`, which must not be used afterwards.
    """
    for direction, slope, first_size in _descent_directions(state):
        geodesic = line(objective, manifold, state.point, direction, state.gradient)
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
