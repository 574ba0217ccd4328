"""From rows of mostly zeros to the entries of a sparse matrix."""

from __future__ import annotations

import numpy as np

from sedil.engines.fused.kernels.compilation import allocating_kernel
from sedil.engines.fused.kernels.entrance import takes

_ALL_BUT_SIGN = np.int32(0x7FFFFFFF)


@takes(rows="float32 n atoms", counts="int64 n")
@allocating_kernel
def take_nonzeros(rows, counts):
    """Values other than zero of float32 `rows` (n, columns), row by row, and their columns.

    They are replaced by zeros. `counts` (n,) gets their number in each row. It looks at bits, as comparisons
    of NaN may come out one way here and another way there.
    """
    bits = rows.view(np.int32)
    for row in range(rows.shape[0]):
        counts[row] = 0
        for column in range(rows.shape[1]):
            counts[row] += (bits[row, column] & _ALL_BUT_SIGN) != 0
    total = counts.sum()
    values, columns = np.empty(total, np.float32), np.empty(total, np.int32)
    found = 0
    for row in range(rows.shape[0]):
        for column in range(rows.shape[1]):
            if bits[row, column] & _ALL_BUT_SIGN:
                values[found], columns[found] = rows[row, column], column
                rows[row, column] = 0
                found += 1
    return values, columns
