"""How all kernels are compiled."""

from numba import njit

# Without the GIL, so that threads run side by side; kept on disk, so that only the first run on a machine
# compiles; sums in any order, and no check for division by zero, as either would forbid SIMD vectors.
kernel = njit(nogil=True, cache=True, fastmath=True, error_model="numpy")

# For short kernels with many arrays: to hand these over would take longer than the work itself.
inlined = njit(nogil=True, cache=True, fastmath=True, error_model="numpy", forceinline=True)
