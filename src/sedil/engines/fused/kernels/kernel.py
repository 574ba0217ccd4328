"""How all kernels are compiled.

Compiling takes seconds on the first run on a machine, so as little as possible is compiled, and once: what
Python never calls gets no way in from there, which with so many arrays takes as long as the kernel itself;
and it is not kept on disk, as the kernels that contain it are.
"""

from typing import Any

import numpy as np
from numba import njit

# Without the GIL, so that threads run side by side; sums in any order, and no check for division by zero, as
# either would forbid SIMD vectors.
_OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": True, "error_model": "numpy", "no_cfunc_wrapper": True}
_INNER = _OPTIONS | {"no_cpython_wrapper": True}

kernel = njit(**_OPTIONS, cache=True)  # called from Python; kept on disk
inner = njit(**_INNER)  # called from kernels alone
# For short ones with many arrays: to hand these over would take longer than the work itself.
inlined = njit(**_INNER, forceinline=True)
# For parts of one kernel: put together before anything is compiled.
pasted = njit(**_INNER, inline="always")

# A plain 1 is a type of its own to Numba: what gets it as an argument would be compiled once more for it.
ONE = np.int64(1)
