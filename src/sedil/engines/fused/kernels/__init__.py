"""The fused engine: Numba kernels that keep a block of samples in cache through a whole solve.

The samples of a block lie side by side in the last axis of its arrays, so that each operation is a row of
full SIMD vectors whatever the shape of the patches. Nothing depends on the shape at compile time: one
compilation, kept on disk, serves all dictionaries of one to four axes.
"""
