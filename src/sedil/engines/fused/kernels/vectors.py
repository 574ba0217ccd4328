"""How the arrays of kernels lie in memory: vectors of this machine, blocks of samples, addresses."""

from __future__ import annotations

from math import prod
from typing import Any

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

HAS_WIDE_VECTORS = bool(llvmlite.binding.get_host_cpu_features().get("avx512f", False))
LANES = 16 if HAS_WIDE_VECTORS else 8  # float32 values in a vector register
WIDTH = 32  # samples of a block: two vectors of 16 lanes, and small blocks that stay in cache
BYTES = 4  # of a float32 value


def aligned_zeros(shape: int | tuple[int, ...]) -> np.ndarray:
    """An array of zeros that begins with a cache line, so that no vector lies across two."""
    values = 64 // BYTES
    size = shape if isinstance(shape, int) else prod(shape)
    memory = np.zeros(size + values, np.float32)
    first = -(memory.ctypes.data // BYTES) % values
    return memory[first : first + size].reshape(shape)


@intrinsic
def address(typing_context, array):
    """Where the entries of an array begin, without the counting of references behind ``array.ctypes``."""
    signature = types.intp(array)

    def generate(context: Any, b: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return b.ptrtoint(context.make_array(array)(context, b, arguments[0]).data, ir.IntType(64))

    return signature, generate
