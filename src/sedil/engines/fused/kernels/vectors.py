"""Vectors of this machine: how arrays lie in memory for them, and what kernels write LLVM's own with."""

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


FLOAT = ir.FloatType()
VECTOR = ir.VectorType(FLOAT, LANES)
INDEX = ir.IntType(64)
FUSED = ("contract",)  # a product and a sum may become one instruction


def index(value: int) -> ir.Constant:
    """A number as a constant."""
    return ir.Constant(INDEX, value)


def vector_pointer(b: ir.IRBuilder, row: Any, vector: int) -> Any:
    """Where a vector of a row begins."""
    return b.bitcast(b.gep(row, [index(vector * LANES)]), VECTOR.as_pointer())


def load(b: ir.IRBuilder, row: Any, vector: int) -> Any:
    """A vector of a row."""
    return b.load(vector_pointer(b, row, vector), align=4)


def broadcast(b: ir.IRBuilder, value: Any) -> Any:
    """A vector of equal values."""
    undefined = ir.Constant(VECTOR, ir.Undefined)
    first = b.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return b.shuffle_vector(first, undefined, everywhere)


def loop_variable(variable: Any, first: Any, following: Any, before: Any, loop: Any) -> None:
    """Say what a variable of a loop is when the loop is entered, and in its next turn."""
    variable.add_incoming(first, before)
    variable.add_incoming(following, loop)
