"""Which engine computes: the arrays decide, unless the caller does."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

ENGINES = ("fused", "portable")

# Beyond this a block of the fused engine no longer stays in the second-level cache, and BLAS is about as fast
# (case "switch" of `sedil bench`).
LARGEST_CODE = 16384


def choose_engine(engine: str | None, array: Any, n_atoms: Sequence[int]) -> str:
    """Name of the engine for this array and dictionary.

    By default "fused" for float32 NumPy arrays and dictionaries of moderate size, "portable" for all other
    arrays, whose library, device or precision the result keeps.
    """
    is_numpy = isinstance(array, np.ndarray)
    if engine is None:
        suits = is_numpy and array.dtype == np.float32 and prod(n_atoms) <= LARGEST_CODE
        return "fused" if suits else "portable"
    if engine not in ENGINES:
        raise ValueError(f"engine must be one of {', '.join(map(repr, ENGINES))} or None, got {engine!r}.")
    if engine == "fused" and not is_numpy:
        raise ValueError(
            f'engine="fused" works on NumPy arrays, got {type(array).__module__}.{type(array).__name__}: '
            'leave engine out or use "portable".'
        )
    return engine
