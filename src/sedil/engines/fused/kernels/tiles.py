"""The innermost products, written in LLVM's own vectors, with all sums in registers to the end.

Numba cannot say this: without a promise that arrays do not overlap, LLVM loads and stores each sum once per
term. What plain loops over the lanes take instead is measured by `benchmarks/handwritten.py`
(`results/handwritten.csv`). Of ``out[i, :] = sum_k matrix[i, k] * source[k, :]``, a few rows i and sixteen
columns (tiles): FISTA and ADMM take 13 to 17 times as long, descent 2.1 to 3.1 times, denoising 3.0 to 4.3
times, by groups 10 times, and the cost of learning 6.1 times. Of
``out[i, j, :] += sum_k left[i, k, :] * right[j, k, :]``, a few rows i and j and the lanes of one vector
(pairs): the cost of learning 1.8 times.

Addresses are in bytes, distances in float32 values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from llvmlite import ir
from numba import types
from numba.core.cgutils import unpack_tuple
from numba.extending import intrinsic

from sedil.engines.fused.kernels.vectors import HAS_WIDE_VECTORS, LANES

FLOAT = ir.FloatType()
VECTOR = ir.VectorType(FLOAT, LANES)
INDEX = ir.IntType(64)
Factors = tuple[Any, Any]  # two vectors that are multiplied
FUSED = ("contract",)  # a product and a sum may become one instruction

# Eight sums under way keep the units busy that multiply and add. With AVX-512 eight rows of one vector are
# the fastest shape; with half as many registers four rows of two vectors need fewer loads.
ROWS, VECTORS = (8, 1) if HAS_WIDE_VECTORS else (4, 2)
COLUMNS = LANES * VECTORS
PAIRS = (4, 4 if HAS_WIDE_VECTORS else 2)  # rows of either side whose sums fit into the registers


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
    """Code of the sums of a tile, row by row."""
    matrix, source = (b.inttoptr(address, FLOAT.as_pointer()) for address in (matrix, source))
    matrix_rows = [b.gep(matrix, [b.mul(index(row), matrix_step)]) for row in range(n_rows)]

    def factors(k: Any) -> list[Factors]:
        source_row = b.gep(source, [b.mul(k, source_step)])
        columns = [load(b, source_row, vector) for vector in range(VECTORS)]
        entries = [broadcast(b, b.load(b.gep(row, [k]))) for row in matrix_rows]
        return [(entry, column) for entry in entries for column in columns]

    sums = sums_in_registers(b, n_rows * VECTORS, n_terms, factors)
    return [sums[first : first + VECTORS] for first in range(0, len(sums), VECTORS)]


def sums_in_registers(
    b: ir.IRBuilder, n_sums: int, n_terms: Any, factors: Callable[[Any], list[Factors]]
) -> list[Any]:
    """Code of sums of products: a loop over k with all sums as its variables; returns them after it.

    `factors` makes the code of what is multiplied in turn k, a pair for each sum.
    """
    before, loop, after = b.block, b.append_basic_block("terms"), b.append_basic_block("sums")
    b.branch(loop)

    b.position_at_end(loop)
    k = b.phi(INDEX)
    sums = [b.phi(VECTOR) for _ in range(n_sums)]
    new_sums = [
        b.fadd(b.fmul(one, other, flags=FUSED), sum_, flags=FUSED)
        for (one, other), sum_ in zip(factors(k), sums, strict=True)
    ]
    next_k = b.add(k, index(1))
    loop_variable(k, index(0), next_k, before, loop)
    for variable, value in zip(sums, new_sums, strict=True):
        loop_variable(variable, ir.Constant(VECTOR, [0.0] * LANES), value, before, loop)
    b.cbranch(b.icmp_signed("<", next_k, n_terms), loop, after)
    b.position_at_end(after)
    return new_sums


tile_of_rows = _tile_of(ROWS)
tile_of_four = _tile_of(4)  # for what is left over of eight rows
tile_of_one = _tile_of(1)


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


pairs_of_many = _pairs_of(*PAIRS)
pairs_of_one = _pairs_of(1, 1)  # for what is left over
