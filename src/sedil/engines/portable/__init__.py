"""The portable engine: the array API standard, on NumPy, torch (CPU, CUDA) and any other array library.

It is what to read first, and what tests compare other engines with.
"""

from sedil.engines.portable.engine import ENGINE

__all__ = ["ENGINE"]
