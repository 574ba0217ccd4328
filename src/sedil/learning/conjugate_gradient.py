"""Algorithm 2: geometric conjugate gradients on codes and factors together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import sqrt

from sedil.learning.line_search import LineSearch, Reference, initial_size, next_size, search
from sedil.manifold import Point, ProductManifold, combine, negate
from sedil.objective import Evaluation, Objective, Terms


@dataclass(frozen=True)
class State:
    """All that the next iteration needs: saving and restoring it continues a run to the bit.

    Attributes
    ----------
    point, gradient, direction : Y, G and H of the paper
    terms : the cost at `point`
    gradient_norm : length of `gradient` in the metric
    step_size : alpha of the last step; the next one starts its search at `next_step_size`
    reference : C and Q of Algorithm 1
    iteration : steps taken so far
    """

    point: Point
    gradient: Point
    direction: Point
    terms: Terms
    gradient_norm: float
    step_size: float
    next_step_size: float | None
    reference: Reference
    iteration: int


def start(objective: Objective, manifold: ProductManifold, point: Point) -> State:
    """State at the initial point. Paper: Algorithm 2, the block "Set"."""
    evaluation = objective.at(point)
    gradient = manifold.riemannian_gradient(point, evaluation.gradient())
    return State(
        point=point,
        gradient=gradient,
        direction=negate(gradient),
        terms=evaluation.terms,
        gradient_norm=sqrt(manifold.inner(gradient, gradient)),
        step_size=0.0,
        next_step_size=None,
        reference=Reference(evaluation.value),
        iteration=0,
    )


def advance(
    objective: Objective, manifold: ProductManifold, state: State, constants: LineSearch
) -> State | None:
    """One iteration of Algorithm 2, or None if no step along any direction brings progress."""
    point = state.point
    for direction, slope, first_size in _descent_directions(manifold, state):
        step = search(
            partial(_evaluate_along, objective, manifold, point, direction),
            state.reference.value,
            slope,
            first_size,
            constants,
        )
        if step is not None:
            break
    else:
        return None

    new_point = step.evaluation.point
    new_gradient = manifold.riemannian_gradient(new_point, step.evaluation.gradient())
    carried_direction = manifold.transport(direction, point, direction, step.size)
    carried_gradient = manifold.transport(state.gradient, point, direction, step.size)

    new_squared = manifold.inner(new_gradient, new_gradient)
    beta = hybrid_beta(
        new_squared=new_squared,
        new_dot_old=manifold.inner(new_gradient, carried_gradient),
        direction_dot_new=manifold.inner(carried_direction, new_gradient),
        direction_dot_old=slope,  # transport keeps inner products
    )
    return State(
        point=new_point,
        gradient=new_gradient,
        direction=combine(negate(new_gradient), beta, carried_direction),  # Eq. (31)
        terms=step.evaluation.terms,
        gradient_norm=sqrt(new_squared),
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


def _descent_directions(manifold: ProductManifold, state: State) -> Iterator[tuple[Point, float, float]]:
    """Directions worth a search, with slope and first step: the conjugate one if it descends, the steepest.

    Safeguard, not in the paper: conjugacy is lost now and then, and a restart from the negative
    gradient mends it.
    """
    slope = manifold.inner(state.gradient, state.direction)
    if slope < 0:
        yield state.direction, slope, state.next_step_size or initial_size(state.terms.total, slope)
    if state.gradient_norm > 0:
        steepest = -(state.gradient_norm**2)
        yield negate(state.gradient), steepest, initial_size(state.terms.total, steepest)


def _evaluate_along(
    objective: Objective, manifold: ProductManifold, point: Point, direction: Point, size: float
) -> Evaluation:
    return objective.at(manifold.geodesic(point, direction, size))
