"""Algorithm 1: a nonmonotone line search along a geodesic.

A step is accepted when the cost falls far enough below a running average of all earlier costs, not
below the last one: small rises are allowed, a lasting one is not (Zhang and Hager, 2004).
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, isfinite, log
from typing import NamedTuple

from sedil.checks import require_between
from sedil.objective import Evaluation

_SHORTEST = 1e-16  # of the first trial: below the resolution of float64 no step helps any more
_MOST_TRIALS = 100  # for c1 near 1, which shrinks too slowly to get there
_MOST_GROWTH = 2.0


class LineSearch(NamedTuple):
    """Constants of Algorithm 1, under their names in the paper.

    Attributes
    ----------
    c1 : float in (0, 1)
        Factor by which a refused step shrinks.
    c2 : float in (0, 0.5)
        Share of the decrease promised by the slope that a step must deliver.
    eta : float in [0, 1]
        Memory: 0 compares with the last cost only (monotone), 1 with the mean of all.
    """

    c1: float = 0.5
    c2: float = 1e-4
    eta: float = 0.85

    def checked(self) -> LineSearch:
        """The same constants, or an error that names the one out of range."""
        return LineSearch(
            c1=require_between(self.c1, "c1", 0, 1),
            c2=require_between(self.c2, "c2", 0, 0.5),
            eta=require_between(self.eta, "eta", 0, 1, closed=True),
        )


class Reference(NamedTuple):
    """C and Q of Algorithm 1: the weighted mean of all costs so far, and its weight."""

    value: float
    weight: float = 1.0

    def including(self, value: float, eta: float) -> Reference:
        """The mean with one more cost. Paper: Algorithm 1, the last block."""
        weight = eta * self.weight + 1
        return Reference((eta * self.weight * self.value + value) / weight, weight)


class Step(NamedTuple):
    """An accepted step: its length and the cost at its end."""

    size: float
    evaluation: Evaluation


def search(
    evaluate: Callable[[float], Evaluation],
    reference: float,
    slope: float,
    first_size: float,
    constants: LineSearch,
) -> Step | None:
    """Find a step length, or None if even the shortest brings no progress. Paper: Algorithm 1.

    Parameters
    ----------
    evaluate : the cost at the end of the geodesic of a given length.
    reference : C, which the new cost must undercut.
    slope : derivative of the cost along the direction, negative.
    first_size : t0, the longest step that is tried.
    constants : LineSearch

    Notes
    -----
    A cost that is not finite is never accepted: beyond the coherence barrier the search backs off.
    """
    size = first_size
    for _ in range(min(ceil(log(_SHORTEST) / log(constants.c1)), _MOST_TRIALS)):
        evaluation = evaluate(size)
        if isfinite(evaluation.value) and evaluation.value <= reference + constants.c2 * size * slope:
            return Step(size, evaluation)
        size *= constants.c1
    return None


def initial_size(value: float, slope: float) -> float:
    """t0 of the first iteration: where the tangent to the cost reaches zero.

    The cost is never negative, so this is the natural scale of a first step in any units.
    """
    return -value / slope


def next_size(step: Step, value: float, slope: float) -> float:
    """t0 of the next iteration: the minimum of the parabola through what is known of the last one.

    The paper leaves t0 open. The parabola takes the cost and slope at the start and the cost at the
    end of the last step; it saves nearly all refused trials.
    """
    bend = step.evaluation.value - value - slope * step.size
    if bend <= 0:
        return _MOST_GROWTH * step.size
    best = -0.5 * slope * step.size**2 / bend
    return min(max(best, step.size / _MOST_GROWTH), step.size * _MOST_GROWTH)
