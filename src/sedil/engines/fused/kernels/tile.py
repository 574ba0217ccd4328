"""The innermost products, written in LLVM's own vectors.

`tile_of_*`: ``out[i, :] = sum_k matrix[i, k] * source[k, :]`` for a few rows i and sixteen columns;
`pairs_of_many`: ``out[i, j, :] += sum_k left[i, k, :] * right[j, k, :]`` for a few rows i and j and the lanes
of one vector. All sums stay in registers from the first k to the last. Numba cannot say this: without a
promise that arrays do not overlap, LLVM loads and stores each sum once per term, at a third of the speed.

Addresses are in bytes, distances in float32 values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from sedil.engines.fused.kernels.llvm import (
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
            for row, values in enumerate(emit_sums(builder, n_rows, *product)):
                out_row = builder.gep(first, [builder.mul(index(row), out_step)])
                for vector, value in enumerate(values):
                    builder.store(value, vector_pointer(builder, out_row, vector), align=4)
            return context.get_dummy_value()

        return signature, generate

    return tile


def emit_sums(
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


def _pairs_of(n_left: int, n_right: int) -> Callable[..., None]:
    """Kernel for so many rows of either side.

    Its arguments: address of the first sum, distances of its rows i and j; address of the left side, distance
    of its rows, and what lies between two runs of terms; the same of the right side; vectors per run; runs.
    """

    @intrinsic
    def pairs(
        typing_context, out, out_i, out_j, left, left_i, left_gap, right, right_j, right_gap, run, runs
    ):
        signature = types.void(*(types.intp,) * 11)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            _emit_pairs(builder, n_left, n_right, *arguments)
            return context.get_dummy_value()

        return signature, generate

    return pairs


def _emit_pairs(
    b: ir.IRBuilder,
    n_left,
    n_right,
    out,
    out_i,
    out_j,
    left,
    left_i,
    left_gap,
    right,
    right_j,
    right_gap,
    run,
    runs,
):
    """Code of the pairs: one loop over all vectors, whose addresses jump at the end of each run."""
    out, left, right = (b.inttoptr(address, FLOAT.as_pointer()) for address in (out, left, right))
    places = [
        [
            vector_pointer(b, b.gep(out, [b.add(b.mul(index(i), out_i), b.mul(index(j), out_j))]), 0)
            for j in range(n_right)
        ]
        for i in range(n_left)
    ]
    first = [[b.load(place, align=4) for place in row] for row in places]
    n_vectors = b.mul(run, runs)
    before, loop, after = b.block, b.append_basic_block("vectors"), b.append_basic_block("store")
    b.branch(loop)

    b.position_at_end(loop)
    count, in_run, at_left, at_right = (b.phi(INDEX) for _ in range(4))
    sums = [[b.phi(VECTOR) for _ in range(n_right)] for _ in range(n_left)]
    left_rows = [load(b, b.gep(left, [b.add(at_left, b.mul(index(i), left_i))]), 0) for i in range(n_left)]
    right_rows = [
        load(b, b.gep(right, [b.add(at_right, b.mul(index(j), right_j))]), 0) for j in range(n_right)
    ]
    for i, row in enumerate(left_rows):
        for j, column in enumerate(right_rows):
            product = b.fmul(row, column, flags=FUSED)
            new = b.fadd(product, sums[i][j], flags=FUSED)
            loop_variable(sums[i][j], first[i][j], new, before, loop)
            sums[i][j] = new
    next_count, next_in_run = b.add(count, index(1)), b.add(in_run, index(1))
    at_end = b.icmp_signed("==", next_in_run, run)
    loop_variable(count, index(0), next_count, before, loop)
    loop_variable(in_run, index(0), b.select(at_end, index(0), next_in_run), before, loop)
    for place, gap in ((at_left, left_gap), (at_right, right_gap)):
        jump = b.select(at_end, gap, index(0))
        loop_variable(place, index(0), b.add(b.add(place, index(LANES)), jump), before, loop)
    b.cbranch(b.icmp_signed("<", next_count, n_vectors), loop, after)

    b.position_at_end(after)
    for row_places, row_sums in zip(places, sums, strict=True):
        for place, value in zip(row_places, row_sums, strict=True):
            b.store(value, place, align=4)


tile_of_rows = _tile_of(ROWS)
tile_of_four = _tile_of(4)  # for what is left over of eight rows
tile_of_one = _tile_of(1)
PAIRS = (4, 4 if HAS_WIDE_VECTORS else 2)  # rows of either side whose sums fit into the registers
pairs_of_many = _pairs_of(*PAIRS)
