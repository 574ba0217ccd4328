"""Lanes: each column of a block solves the problem of one sample.

A lane whose sample is done takes the next one at once, so that all lanes work until the last samples, however
different they are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sedil.engines.fused.kernels.compilation import ONE, pasted
from sedil.engines.fused.kernels.vectors import WIDTH


class Stopping(NamedTuple):
    """When a sample is done.

    Attributes
    ----------
    tolerance : relative duality gap
    max_iterations, check_every : iterations at most, and between two looks at the gap
    """

    tolerance: np.float32
    max_iterations: int
    check_every: int

    @classmethod
    def create(cls, tolerance: float, max_iterations: int, check_every: int = 1) -> Stopping:
        """In the types that the kernels are compiled for.

        Lanes of different age look at their gaps together, so the last look must coincide with one of those.
        """
        every = max(n for n in range(1, check_every + 1) if max_iterations % n == 0)
        return cls(np.float32(tolerance), int(max_iterations), every)


IDLE = -1  # instead of the number of a sample: none is left for this lane


@pasted
def run_lanes(sample_of, n_samples, task, load, advance, goes_on, finish):
    """Solve for so many samples.

    Parameters
    ----------
    sample_of : (WIDTH,), which sample each lane solves
    task : what the functions below get as their first argument
    load : function of the task, a lane and a sample that starts it there; whether all lanes must advance
        before this one can be done
    advance : function of the task: a round of work on all lanes together
    goes_on : function of the task and a lane: the work of the lane alone in this round; whether it goes on
    finish : function of the task and a lane that is done
    """
    waiting, working = 0 * ONE, 0 * ONE
    for lane in range(WIDTH):
        sample_of[lane] = IDLE
        if waiting < n_samples:
            sample_of[lane] = waiting
            load(task, lane, waiting)
            waiting, working = waiting + 1, working + 1
    while working:
        advance(task)
        for lane in range(WIDTH):
            while sample_of[lane] != IDLE and not goes_on(task, lane):
                finish(task, lane)
                sample_of[lane] = IDLE
                working -= 1
                if waiting < n_samples:
                    sample_of[lane] = waiting
                    must_wait = load(task, lane, waiting)
                    waiting, working = waiting + 1, working + 1
                    if must_wait:
                        break
