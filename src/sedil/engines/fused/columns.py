"""A matrix times some columns: tiles one below the other, the largest first."""

from __future__ import annotations

from collections.abc import Callable

from sedil.engines.fused.kernel import pasted
from sedil.engines.fused.tile import (
    NARROW_ROWS,
    ROWS,
    narrow_tile_of_four,
    narrow_tile_of_one,
    narrow_tile_of_rows,
    tile_of_four,
    tile_of_one,
    tile_of_rows,
)

_BYTES = 4


def _columns_of(
    height: int, tile_of_rows: Callable, tile_of_four: Callable, tile_of_one: Callable
) -> Callable:
    """Kernel for as many columns as these tiles have, the first of which has so many rows."""

    @pasted
    def multiply(matrix, n_rows, n_terms, source, target, step):
        """Arrays as addresses, rows of source and target `step` values apart."""
        matrix_row, target_row, row = _BYTES * n_terms, _BYTES * step, 0
        while row + height <= n_rows:
            tile_of_rows(target, step, matrix, n_terms, source, step, n_terms)
            row, target, matrix = row + height, target + height * target_row, matrix + height * matrix_row
        while row + 4 <= n_rows:
            tile_of_four(target, step, matrix, n_terms, source, step, n_terms)
            row, target, matrix = row + 4, target + 4 * target_row, matrix + 4 * matrix_row
        while row < n_rows:
            tile_of_one(target, step, matrix, n_terms, source, step, n_terms)
            row, target, matrix = row + 1, target + target_row, matrix + matrix_row

    return multiply


multiply_columns = _columns_of(ROWS, tile_of_rows, tile_of_four, tile_of_one)
multiply_narrow_columns = _columns_of(
    NARROW_ROWS, narrow_tile_of_rows, narrow_tile_of_four, narrow_tile_of_one
)
