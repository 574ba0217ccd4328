"""How all kernels are compiled.

Compiling takes seconds on the first run on a machine, so as little as possible is compiled, and once: what
Python never calls gets no way in from there, which with so many arrays takes as long as the kernel itself;
and it is not kept on disk, as the kernels that contain it are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numba.core.registry import CPUDispatcher

from sedil.engines.fused.kernels.cache import KernelCache
from sedil.engines.fused.kernels.libraries import KernelCompiler

# Without the GIL, so that threads run side by side; sums in any order, and no check for division by zero, as
# either would forbid SIMD vectors.
_OPTIONS: dict[str, Any] = {
    "nopython": True,
    "nogil": True,
    "fastmath": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
    "_nrt": False,
}


class Part(CPUDispatcher):
    """A function that kernels call, and Python cannot: it is compiled into its callers alone."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Not from Python."""
        raise TypeError(
            f"{self.py_func.__name__} is compiled into the kernels that call it and cannot be called from "
            f"Python, got {len(args) + len(kwargs)} arguments: write a function with @kernel that calls it"
        )


def kernel(function: Callable[..., Any], **options: Any) -> CPUDispatcher:
    """Compile for calls from Python, and keep the result on disk."""
    dispatcher = CPUDispatcher(function, targetoptions={**_OPTIONS, **options}, pipeline_class=KernelCompiler)
    dispatcher._cache = KernelCache.create(function)
    return dispatcher


def _part(function: Callable[..., Any], **options: Any) -> Part:
    return Part(function, targetoptions={**_OPTIONS, "no_cpython_wrapper": True, **options})


inner = _part  # called from kernels alone
# For short ones with many arrays: to hand these over would take longer than the work itself.
inlined = partial(_part, forceinline=True)
allocating = partial(_part, _nrt=True)
# For those that do what they say in the order in which they say it; a product and a sum may be fused.
ordered = partial(_part, fastmath={"contract"})
# For parts of one kernel: put together before anything is compiled.
pasted = partial(_part, inline="always")

# A plain 1 is a type of its own to Numba: what gets it as an argument would be compiled once more for it.
ONE = np.int64(1)
