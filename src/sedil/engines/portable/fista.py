"""FISTA for the l1 problem, as the paper uses it (Beck and Teboulle, 2009)."""

from __future__ import annotations

from itertools import count

from array_api_compat import array_namespace

from sedil.arrays import Array
from sedil.engines.contract import Effort
from sedil.engines.portable import products
from sedil.engines.portable.lasso import (
    CodingResult,
    LassoProblem,
    dot,
    iterate,
    soft_threshold,
    squared_norm,
)

TEST_EVERY = 2  # iterations between two tests for restart; the fused engine counts on it
CHECK_EVERY = 10  # iterations between two looks at the duality gap, which costs about as much as one


def fista(
    problem: LassoProblem,
    effort: Effort,
    initial: Array | None = None,
    check_every: int = CHECK_EVERY,
) -> CodingResult:
    """Solve the l1 problem for every sample on its own. Paper: Eq. (34).

    All samples share the step length, which depends on the dictionary alone, and each stops when its
    relative duality gap is small enough: the code of a sample does not depend on which others it
    is solved with. The momentum of a sample starts anew when it points uphill (O'Donoghue and Candes,
    2015), for which it is tested in every second iteration: results/restart.csv shows that this is enough.
    """
    xp = array_namespace(problem.patches)
    size = 1 / squared_norm(problem.factors)
    iterations = count(1)

    def step(problem: LassoProblem, state: tuple[Array, ...]) -> tuple[Array, ...]:
        codes, ahead, momentum = state
        uphill_slope = problem.correlations(problem.residual(ahead))
        new = soft_threshold(ahead + size * uphill_slope, size * problem.thresholds)
        if next(iterations) % TEST_EVERY == 0:
            # The restart test of the gradient scheme: momentum goes on only while it agrees with the step.
            restart = dot(ahead - new, new - codes) > 0
            momentum = xp.where(restart, xp.ones_like(momentum), momentum)
        new_momentum = (1 + xp.sqrt(1 + 4 * momentum**2)) / 2
        return new, new + ((momentum - 1) / new_momentum) * (new - codes), new_momentum

    first = initial
    if first is None:
        first = xp.zeros_like(products.analyze(problem.factors, problem.patches))
    momentum = xp.ones_like(dot(problem.patches, problem.patches))
    return iterate(problem, (first, first, momentum), step, effort, check_every)
