"""The innermost product, written in LLVM's own vectors.

``out[i, :] = sum_k matrix[i, k] * source[k, :]`` for a few rows i and sixteen columns, all sums in registers
from the first k to the last. Numba cannot say this: without a promise that arrays do not overlap, LLVM loads
and stores each sum once per term. In plain loops over the columns, FISTA and ADMM take 10 to 12 times as
long, descent 1.6 to 2.2 times, denoising 2.3 to 3.4 times, and the cost of learning 4.9 times
(`benchmarks/handwritten.py`, `results/handwritten.csv`).

Addresses are in bytes, distances in float32 values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from sedil.engines.fused.kernels.vectors import (
    FLOAT,
    FUSED,
    HAS_WIDE_VECTORS,
    INDEX,
    LANES,
    VECTOR,
    broadcast,
    index,
    load,
    loop_variable,
    vector_pointer,
)

# Eight sums under way keep the units busy that multiply and add. With AVX-512 eight rows of one vector are
# the fastest shape; with half as many registers four rows of two vectors need fewer loads.
ROWS, VECTORS = (8, 1) if HAS_WIDE_VECTORS else (4, 2)
COLUMNS = LANES * VECTORS


def _tile_of(n_rows: int) -> Callable[..., None]:
    """Kernel for so many rows, and COLUMNS columns.

    Its arguments: address of the first sum and distance of its rows, address and row distance of the matrix
    (its columns are neighbours), address and row distance of the source, number of terms.
    """

    @intrinsic
    def tile(typing_context, out, out_step, matrix, matrix_step, source, source_step, n_terms):
        signature = types.void(*(types.intp,) * 7)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            out, out_step, *product = arguments
            first = builder.inttoptr(out, FLOAT.as_pointer())
            for row, values in enumerate(_emit_sums(builder, n_rows, *product)):
                out_row = builder.gep(first, [builder.mul(index(row), out_step)])
                for vector, value in enumerate(values):
                    builder.store(value, vector_pointer(builder, out_row, vector), align=4)
            return context.get_dummy_value()

        return signature, generate

    return tile


def _emit_sums(
    b: ir.IRBuilder, n_rows: int, matrix, matrix_step, source, source_step, n_terms
) -> list[list[Any]]:
    """Code of the sums of a tile: a loop over k with all sums as its variables; returns them after it."""
    matrix, source = (b.inttoptr(address, FLOAT.as_pointer()) for address in (matrix, source))
    matrix_rows = [b.gep(matrix, [b.mul(index(row), matrix_step)]) for row in range(n_rows)]
    before, loop, after = b.block, b.append_basic_block("terms"), b.append_basic_block("sums")
    b.branch(loop)

    b.position_at_end(loop)
    k = b.phi(INDEX)
    sums = [[b.phi(VECTOR) for _ in range(VECTORS)] for _ in range(n_rows)]
    source_row = b.gep(source, [b.mul(k, source_step)])
    columns = [load(b, source_row, vector) for vector in range(VECTORS)]
    new_sums = []
    for row, old in zip(matrix_rows, sums, strict=True):
        entry = broadcast(b, b.load(b.gep(row, [k])))
        new_sums.append(
            [
                b.fadd(b.fmul(entry, column, flags=FUSED), sum_, flags=FUSED)
                for column, sum_ in zip(columns, old, strict=True)
            ]
        )
    next_k = b.add(k, index(1))
    loop_variable(k, index(0), next_k, before, loop)
    for old, new in zip(sums, new_sums, strict=True):
        for variable, value in zip(old, new, strict=True):
            loop_variable(variable, ir.Constant(VECTOR, [0.0] * LANES), value, before, loop)
    b.cbranch(b.icmp_signed("<", next_k, n_terms), loop, after)
    b.position_at_end(after)
    return new_sums


tile_of_rows = _tile_of(ROWS)
tile_of_four = _tile_of(4)  # for what is left over of eight rows
tile_of_one = _tile_of(1)
