"""From rows of mostly zeros to the entries of a sparse matrix."""

from __future__ import annotations

import numpy as np

from sedil.engines.fused.kernel import kernel


@kernel
def gather(rows, counts):
    """Values other than zero of float32 `rows` (n, columns), row by row, and their columns.

    They are replaced by zeros. `counts` (n,) gets their number in each row.
    """
    for row in range(rows.shape[0]):
        counts[row] = 0
        for column in range(rows.shape[1]):
            counts[row] += rows[row, column] != 0
    total = counts.sum()
    values, columns = np.empty(total, np.float32), np.empty(total, np.int32)
    place = 0
    for row in range(rows.shape[0]):
        for column in range(rows.shape[1]):
            if rows[row, column] != 0:
                values[place], columns[place] = rows[row, column], column
                rows[row, column] = 0
                place += 1
    return values, columns
