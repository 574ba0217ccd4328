"""What kernels in LLVM's own vectors are written with: loads, constants, loop variables."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from sedil.engines.fused.kernels.memory import LANES

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
