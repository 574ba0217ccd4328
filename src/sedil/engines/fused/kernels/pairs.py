"""Sums of products of all pairs of rows, written in LLVM's own vectors.

``out[i, j, :] += sum_k left[i, k, :] * right[j, k, :]`` for a few rows i and j and the lanes of one vector,
all sums in registers. In plain loops over the lanes the cost of learning takes 1.8 times as long
(`benchmarks/handwritten.py`, `results/handwritten.csv`).

Addresses are in bytes, distances in float32 values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from llvmlite import ir
from numba import types
from numba.core.cgutils import unpack_tuple
from numba.extending import intrinsic

from sedil.engines.fused.kernels.vectors import (
    FLOAT,
    FUSED,
    HAS_WIDE_VECTORS,
    INDEX,
    LANES,
    VECTOR,
    index,
    load,
    loop_variable,
    vector_pointer,
)


class _Side(NamedTuple):
    """Rows of one side: where the first begins, how far they are apart, what lies between runs of terms."""

    first: Any
    distance: Any
    gap: Any


def _pairs_of(n_left: int, n_right: int) -> Callable[..., None]:
    """Kernel for so many rows of either side.

    Its arguments: of the sums, address of the first and distances of the rows i and j; of the left and of the
    right side, address, distance of the rows, and what lies between two runs of terms; vectors per run; runs.
    """

    @intrinsic
    def pairs(typing_context, out, left, right, run, runs):
        triple = types.UniTuple(types.intp, 3)
        signature = types.void(triple, triple, triple, types.intp, types.intp)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            out, left, right = (unpack_tuple(builder, each) for each in arguments[:3])
            pointers = _pointers(builder, n_left, n_right, *out)
            _emit_pairs(builder, pointers, _Side(*left), _Side(*right), *arguments[3:])
            return context.get_dummy_value()

        return signature, generate

    return pairs


def _pointers(
    b: ir.IRBuilder, n_left: int, n_right: int, out: Any, out_i: Any, out_j: Any
) -> list[list[Any]]:
    """Where the sums of all pairs are kept."""
    out = b.inttoptr(out, FLOAT.as_pointer())
    return [
        [
            vector_pointer(b, b.gep(out, [b.add(b.mul(index(i), out_i), b.mul(index(j), out_j))]), 0)
            for j in range(n_right)
        ]
        for i in range(n_left)
    ]


def _emit_pairs(
    b: ir.IRBuilder, pointers: list[list[Any]], left: _Side, right: _Side, run: Any, runs: Any
) -> None:
    """Code of the pairs: one loop over all vectors, whose addresses jump at the end of each run."""
    first = [[b.load(pointer, align=4) for pointer in row] for row in pointers]
    n_vectors = b.mul(run, runs)
    bases = [b.inttoptr(side.first, FLOAT.as_pointer()) for side in (left, right)]
    before, loop, after = b.block, b.append_basic_block("vectors"), b.append_basic_block("store")
    b.branch(loop)

    b.position_at_end(loop)
    count, in_run, at_left, at_right = (b.phi(INDEX) for _ in range(4))
    sums = [[b.phi(VECTOR) for _ in row] for row in pointers]
    left_rows = _load_rows(b, bases[0], at_left, left.distance, len(pointers))
    right_rows = _load_rows(b, bases[1], at_right, right.distance, len(pointers[0]))
    for i, row in enumerate(left_rows):
        for j, column in enumerate(right_rows):
            new = b.fadd(b.fmul(row, column, flags=FUSED), sums[i][j], flags=FUSED)
            loop_variable(sums[i][j], first[i][j], new, before, loop)
            sums[i][j] = new
    next_count, next_in_run = b.add(count, index(1)), b.add(in_run, index(1))
    at_end = b.icmp_signed("==", next_in_run, run)
    loop_variable(count, index(0), next_count, before, loop)
    loop_variable(in_run, index(0), b.select(at_end, index(0), next_in_run), before, loop)
    for position, side in ((at_left, left), (at_right, right)):
        jump = b.select(at_end, side.gap, index(0))
        loop_variable(position, index(0), b.add(b.add(position, index(LANES)), jump), before, loop)
    b.cbranch(b.icmp_signed("<", next_count, n_vectors), loop, after)

    b.position_at_end(after)
    for row_pointers, row_sums in zip(pointers, sums, strict=True):
        for pointer, value in zip(row_pointers, row_sums, strict=True):
            b.store(value, pointer, align=4)


def _load_rows(b: ir.IRBuilder, base: Any, position: Any, distance: Any, count: int) -> list[Any]:
    """The vectors at this position of so many rows."""
    return [load(b, b.gep(base, [b.add(position, b.mul(index(row), distance))]), 0) for row in range(count)]


PAIRS = (4, 4 if HAS_WIDE_VECTORS else 2)  # rows of either side whose sums fit into the registers
pairs_of_many = _pairs_of(*PAIRS)
pairs_of_one = _pairs_of(1, 1)  # for what is left over
