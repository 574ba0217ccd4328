"""The fused engine: Numba kernels that keep a block of samples in cache through a whole solve.

`sedil.engines.fused.kernels` holds the kernels, the modules here what calls them: they split the work among
threads and hand arrays over in the types that the kernels are compiled for.
"""

from sedil.engines.fused.engine import ENGINE

__all__ = ["ENGINE"]
