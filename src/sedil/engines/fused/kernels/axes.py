"""Matrices times the axes of an array. Arrays as addresses."""

from __future__ import annotations

from sedil.engines.fused.kernels.decorators import inner, pasted
from sedil.engines.fused.kernels.memory import BYTES
from sedil.engines.fused.kernels.tile import COLUMNS, ROWS, tile_of_four, tile_of_one, tile_of_rows


@inner
def multiply_axes(matrix, rows, terms, axes, n_before, step, source, halves, target):
    """Multiply a matrix into one axis after the other; returns the address of the last product.

    Parameters
    ----------
    matrix : where the first matrix begins; or where it ends, if the axes are taken backwards. The others
        follow it, or come before it, in memory.
    rows, terms : int64 arrays, sizes of the matrices of all axes
    axes : (first, stop, 1 or -1), the axes that are taken, as in `range`
    n_before, step : the array as it is before the first product: entries up to the first of these axes, and
        values of each of them. Taken forwards, that axis is a part of these entries' values; taken backwards,
        it counts among the entries.
    source : the array
    halves : two addresses to which the products go in turn
    target : where the last product goes; in turn with the others if it is zero
    """
    first, stop, sense = axes
    half, other = halves
    for axis in range(first, stop, sense):
        n_rows, n_terms = rows[axis], terms[axis]
        if sense < 0:
            n_before //= n_terms
            matrix -= BYTES * n_rows * n_terms
        else:
            step //= n_terms
        if target != 0 and axis + sense == stop:
            half = target
        multiply_axis(matrix, n_rows, n_terms, source, n_before, step, half)
        source, half, other = half, other, half
        if sense < 0:
            step *= n_rows
        else:
            n_before *= n_rows
            matrix += BYTES * n_rows * n_terms
    return source


@inner
def multiply_axis(matrix, n_rows, n_terms, source, n_before, step, target):
    """Multiply a matrix into an axis: so many times before it, entries along it `step` values apart.

    The step is a multiple of COLUMNS.
    """
    for _ in range(n_before):
        for column in range(0, step, COLUMNS):
            offset = BYTES * column
            _multiply_columns(matrix, n_rows, n_terms, source + offset, target + offset, step)
        source, target = source + BYTES * n_terms * step, target + BYTES * n_rows * step


@pasted
def _multiply_columns(matrix, n_rows, n_terms, source, target, step):
    """As many columns as a tile has: tiles one below the other, the largest first."""
    matrix_row, target_row, row = BYTES * n_terms, BYTES * step, 0
    while row + ROWS <= n_rows:
        tile_of_rows(target, step, matrix, n_terms, source, step, n_terms)
        row, target, matrix = row + ROWS, target + ROWS * target_row, matrix + ROWS * matrix_row
    while row + 4 <= n_rows:
        tile_of_four(target, step, matrix, n_terms, source, step, n_terms)
        row, target, matrix = row + 4, target + 4 * target_row, matrix + 4 * matrix_row
    while row < n_rows:
        tile_of_one(target, step, matrix, n_terms, source, step, n_terms)
        row, target, matrix = row + 1, target + target_row, matrix + matrix_row
