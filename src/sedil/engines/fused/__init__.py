"""The fused engine: Numba kernels that keep a block of samples in cache through a whole solve."""
