"""When the solution of a sample is good enough, or has taken long enough."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


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
