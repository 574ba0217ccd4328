"""The innermost product, written in LLVM's own vectors.

``out[i, :] = sum_k matrix[i, k] * source[k, :]`` for a few rows i and two vectors of columns, all sums in
registers from the first k to the last. Numba's loops cannot say this: without a promise that arrays do not
overlap, LLVM loads and stores each sum once per term, at a third of the speed.
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
    (its columns are neighbours), address and row distance of the source, number of terms. Addresses in bytes,
    distances in float32 values.
    """

    @intrinsic
    def tile(typing_context, out, out_step, matrix, matrix_step, source, source_step, n_terms):
        signature = types.void(*(types.intp,) * 7)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            _emit(builder, n_rows, *arguments)
            return context.get_dummy_value()

        return signature, generate

    return tile


def _emit(b: ir.IRBuilder, n_rows: int, out, out_step, matrix, matrix_step, source, source_step, n_terms):
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


def _index(value: int) -> ir.Constant:
    return ir.Constant(_INDEX, value)


def _vector_pointer(b: ir.IRBuilder, row: Any, vector: int) -> Any:
    return b.bitcast(b.gep(row, [_index(vector * LANES)]), _VECTOR.as_pointer())


def _load(b: ir.IRBuilder, row: Any, vector: int) -> Any:
    return b.load(_vector_pointer(b, row, vector), align=4)


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
