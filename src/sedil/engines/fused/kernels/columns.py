"""A matrix times the columns of an array, along one of its axes. Arrays as addresses."""

from __future__ import annotations

from sedil.engines.fused.kernels.decorators import inner, pasted
from sedil.engines.fused.kernels.tile import COLUMNS, ROWS, tile_of_four, tile_of_one, tile_of_rows

_BYTES = 4


@inner
def multiply_axis(matrix, n_rows, n_terms, source, n_before, step, target):
    """Multiply a matrix into an axis: so many times before it, entries along it `step` values apart.

    The step is a multiple of COLUMNS.
    """
    for _ in range(n_before):
        for column in range(0, step, COLUMNS):
            place = _BYTES * column
            multiply_columns(matrix, n_rows, n_terms, source + place, target + place, step)
        source, target = source + _BYTES * n_terms * step, target + _BYTES * n_rows * step


@pasted
def multiply_columns(matrix, n_rows, n_terms, source, target, step):
    """As many columns as a tile has: tiles one below the other, the largest first."""
    matrix_row, target_row, row = _BYTES * n_terms, _BYTES * step, 0
    while row + ROWS <= n_rows:
        tile_of_rows(target, step, matrix, n_terms, source, step, n_terms)
        row, target, matrix = row + ROWS, target + ROWS * target_row, matrix + ROWS * matrix_row
    while row + 4 <= n_rows:
        tile_of_four(target, step, matrix, n_terms, source, step, n_terms)
        row, target, matrix = row + 4, target + 4 * target_row, matrix + 4 * matrix_row
    while row < n_rows:
        tile_of_one(target, step, matrix, n_terms, source, step, n_terms)
        row, target, matrix = row + 1, target + target_row, matrix + matrix_row
