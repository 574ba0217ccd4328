"""The last product of an iteration of FISTA, with the step that follows it.

Its sums, correlations of the atoms with the residual, are turned into new codes while they are still in
registers: written to memory and read again they would cost as much as the product itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.cgutils import unpack_tuple
from numba.extending import intrinsic

from sedil.engines.fused.kernels.llvm import (
    FLOAT,
    FUSED,
    WIDTH,
    broadcast,
    index,
    larger,
    load,
    smaller,
    vector_pointer,
)
from sedil.engines.fused.kernels.tile import ROWS, VECTORS, emit_sums


def _step_tile_of(n_rows: int, tests: bool) -> Callable[..., None]:
    """Kernel for so many rows of codes, and the columns of a tile; rows of a block are neighbours.

    Its arguments: addresses of the matrix and of what it is multiplied with, and the number of terms;
    addresses of the codes, of those before them, of their thresholds, of the weights of momentum and of the
    scalar product that tells uphill from downhill, the last two with one value per column; the step length.
    Unless it `tests`, that product is left alone.
    """

    @intrinsic
    def tile(typing_context, product, places, step):
        signature = types.void(types.UniTuple(types.intp, 3), types.UniTuple(types.intp, 5), types.float32)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            (matrix, source, n_terms), places = (unpack_tuple(builder, each) for each in arguments[:2])
            slopes = emit_sums(builder, n_rows, matrix, n_terms, source, index(WIDTH), n_terms)
            _emit_steps(builder, slopes, tests, arguments[2], *places)
            return context.get_dummy_value()

        return signature, generate

    return tile


def _emit_steps(
    b: ir.IRBuilder, slopes: list[list[Any]], tests: bool, step, codes, before, thresholds, weights, uphill
) -> None:
    """From the codes ahead, ``codes + weight * (codes - before)``, a step along the slope and shrinkage.

    The new codes go in place of those before; if it `tests`, ``(ahead - new) * (new - codes)`` is added to
    `uphill`.
    """
    codes, before, thresholds, weights, uphill = (
        b.inttoptr(address, FLOAT.as_pointer()) for address in (codes, before, thresholds, weights, uphill)
    )
    sums = [load(b, uphill, vector) for vector in range(VECTORS)]
    momenta = [load(b, weights, vector) for vector in range(VECTORS)]
    length = broadcast(b, step)
    for row, slope_row in enumerate(slopes):
        wall = b.fmul(length, broadcast(b, b.load(b.gep(thresholds, [index(row)]))))
        code_row, before_row = (b.gep(array, [index(row * WIDTH)]) for array in (codes, before))
        for vector, slope in enumerate(slope_row):
            code = load(b, code_row, vector)
            change = b.fsub(code, load(b, before_row, vector))
            ahead = b.fadd(b.fmul(momenta[vector], change, flags=FUSED), code, flags=FUSED)
            moved = b.fadd(b.fmul(length, slope, flags=FUSED), ahead, flags=FUSED)
            new = b.fsub(moved, smaller(b, larger(b, moved, b.fneg(wall)), wall))
            if tests:
                product = b.fmul(b.fsub(ahead, new), b.fsub(new, code), flags=FUSED)
                sums[vector] = b.fadd(product, sums[vector], flags=FUSED)
            b.store(new, vector_pointer(b, before_row, vector), align=4)
    if tests:
        for vector, total in enumerate(sums):
            b.store(total, vector_pointer(b, uphill, vector), align=4)


step_tile_of_rows, testing_tile_of_rows = (_step_tile_of(ROWS, tests) for tests in (False, True))
step_tile_of_four, testing_tile_of_four = (_step_tile_of(4, tests) for tests in (False, True))
step_tile_of_one, testing_tile_of_one = (_step_tile_of(1, tests) for tests in (False, True))
