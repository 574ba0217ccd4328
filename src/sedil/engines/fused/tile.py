"""The innermost products, written in LLVM's own vectors.

`tile_of_*`: ``out[i, :] = sum_k matrix[i, k] * source[k, :]`` for a few rows i and two vectors of columns;
`pairs_of_many`: ``out[i, j, :] += sum_k left[i, k, :] * right[j, k, :]`` for a few rows i and j and the lanes
of one vector. All sums stay in registers from the first k to the last. Numba cannot say this: without a
promise that arrays do not overlap, LLVM loads and stores each sum once per term, at a third of the speed.

Addresses are in bytes, distances in float32 values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import llvmlite.binding
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

_HAS_WIDE_VECTORS = bool(llvmlite.binding.get_host_cpu_features().get("avx512f", False))
LANES = 16 if _HAS_WIDE_VECTORS else 8  # float32 values in a vector register
ROWS = 8 if _HAS_WIDE_VECTORS else 4  # rows of a tile: twice as many sums must fit into the registers
_VECTORS = 2
COLUMNS = LANES * _VECTORS

_FLOAT = ir.FloatType()
_VECTOR = ir.VectorType(_FLOAT, LANES)
_INDEX = ir.IntType(64)
_FUSED = ("contract",)  # a product and a sum may become one instruction


def _tile_of(n_rows: int) -> Callable[..., None]:
    """Kernel for `n_rows` rows.

    Its arguments: address of the first sum and distance of its rows, address and row distance of the matrix
    (its columns are neighbours), address and row distance of the source, number of terms.
    """

    @intrinsic
    def tile(typing_context, out, out_step, matrix, matrix_step, source, source_step, n_terms):
        signature = types.void(*(types.intp,) * 7)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            _emit_tile(builder, n_rows, *arguments)
            return context.get_dummy_value()

        return signature, generate

    return tile


def _emit_tile(
    b: ir.IRBuilder, n_rows: int, out, out_step, matrix, matrix_step, source, source_step, n_terms
):
    """Code of the tile: a loop over k with all sums as its variables."""
    out, matrix, source = (b.inttoptr(address, _FLOAT.as_pointer()) for address in (out, matrix, source))
    matrix_rows = [b.gep(matrix, [b.mul(_index(row), matrix_step)]) for row in range(n_rows)]
    before, loop, after = b.block, b.append_basic_block("terms"), b.append_basic_block("store")
    b.branch(loop)

    b.position_at_end(loop)
    k = b.phi(_INDEX)
    sums = [[b.phi(_VECTOR) for _ in range(_VECTORS)] for _ in range(n_rows)]
    source_row = b.gep(source, [b.mul(k, source_step)])
    columns = [_load(b, source_row, vector) for vector in range(_VECTORS)]
    new_sums = []
    for row, old in zip(matrix_rows, sums, strict=True):
        entry = _broadcast(b, b.load(b.gep(row, [k])))
        new_sums.append(
            [
                b.fadd(b.fmul(entry, column, flags=_FUSED), sum_, flags=_FUSED)
                for column, sum_ in zip(columns, old, strict=True)
            ]
        )
    next_k = b.add(k, _index(1))
    _loop_variable(k, _index(0), next_k, before, loop)
    for old, new in zip(sums, new_sums, strict=True):
        for variable, value in zip(old, new, strict=True):
            _loop_variable(variable, ir.Constant(_VECTOR, [0.0] * LANES), value, before, loop)
    b.cbranch(b.icmp_signed("<", next_k, n_terms), loop, after)

    b.position_at_end(after)
    for row, values in enumerate(new_sums):
        out_row = b.gep(out, [b.mul(_index(row), out_step)])
        for vector, value in enumerate(values):
            b.store(value, _vector_pointer(b, out_row, vector), align=4)


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
    out, left, right = (b.inttoptr(address, _FLOAT.as_pointer()) for address in (out, left, right))
    places = [
        [
            _vector_pointer(b, b.gep(out, [b.add(b.mul(_index(i), out_i), b.mul(_index(j), out_j))]), 0)
            for j in range(n_right)
        ]
        for i in range(n_left)
    ]
    first = [[b.load(place, align=4) for place in row] for row in places]
    n_vectors = b.mul(run, runs)
    before, loop, after = b.block, b.append_basic_block("vectors"), b.append_basic_block("store")
    b.branch(loop)

    b.position_at_end(loop)
    count, in_run, at_left, at_right = (b.phi(_INDEX) for _ in range(4))
    sums = [[b.phi(_VECTOR) for _ in range(n_right)] for _ in range(n_left)]
    left_rows = [_load(b, b.gep(left, [b.add(at_left, b.mul(_index(i), left_i))]), 0) for i in range(n_left)]
    right_rows = [
        _load(b, b.gep(right, [b.add(at_right, b.mul(_index(j), right_j))]), 0) for j in range(n_right)
    ]
    for i, row in enumerate(left_rows):
        for j, column in enumerate(right_rows):
            product = b.fmul(row, column, flags=_FUSED)
            new = b.fadd(product, sums[i][j], flags=_FUSED)
            _loop_variable(sums[i][j], first[i][j], new, before, loop)
            sums[i][j] = new
    next_count, next_in_run = b.add(count, _index(1)), b.add(in_run, _index(1))
    at_end = b.icmp_signed("==", next_in_run, run)
    _loop_variable(count, _index(0), next_count, before, loop)
    _loop_variable(in_run, _index(0), b.select(at_end, _index(0), next_in_run), before, loop)
    for place, gap in ((at_left, left_gap), (at_right, right_gap)):
        jump = b.select(at_end, gap, _index(0))
        _loop_variable(place, _index(0), b.add(b.add(place, _index(LANES)), jump), before, loop)
    b.cbranch(b.icmp_signed("<", next_count, n_vectors), loop, after)

    b.position_at_end(after)
    for row_places, row_sums in zip(places, sums, strict=True):
        for place, value in zip(row_places, row_sums, strict=True):
            b.store(value, place, align=4)


def _index(value: int) -> ir.Constant:
    return ir.Constant(_INDEX, value)


def _vector_pointer(b: ir.IRBuilder, row: Any, vector: int) -> Any:
    return b.bitcast(b.gep(row, [_index(vector * LANES)]), _VECTOR.as_pointer())


def _load(b: ir.IRBuilder, row: Any, vector: int) -> Any:
    return b.load(_vector_pointer(b, row, vector), align=4)


def _load_row(b: ir.IRBuilder, start: Any, place: Any, row: int, distance: Any) -> Any:
    return _load(b, b.gep(start, [b.add(place, b.mul(_index(row), distance))]), 0)


def _broadcast(b: ir.IRBuilder, value: Any) -> Any:
    undefined = ir.Constant(_VECTOR, ir.Undefined)
    first = b.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return b.shuffle_vector(first, undefined, everywhere)


def _loop_variable(variable: Any, first: Any, following: Any, before: Any, loop: Any) -> None:
    variable.add_incoming(first, before)
    variable.add_incoming(following, loop)


tile_of_rows = _tile_of(ROWS)
tile_of_four = _tile_of(4)
tile_of_one = _tile_of(1)
PAIRS = (4, 4 if _HAS_WIDE_VECTORS else 2)  # rows of either side whose sums fit into the registers
pairs_of_many = _pairs_of(*PAIRS)
