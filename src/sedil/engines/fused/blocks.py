"""Products of a block of samples with the factors of a dictionary, for any number of axes.

A block has the shape ``(entries, WIDTH)``: the entries of the patch or code in row-major order, one sample a
column.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sedil.engines.fused.kernel import kernel
from sedil.engines.fused.llvm import WIDTH, address, aligned_zeros
from sedil.engines.fused.tile import COLUMNS, ROWS, tile_of_four, tile_of_one, tile_of_rows

_BYTES = 4


class Operator(NamedTuple):
    """A dictionary as the kernels see it.

    Attributes
    ----------
    lengths, counts : int64 arrays, rows and columns of each factor
    synthesis : float32 array, the factors one after the other, row-major
    analysis : float32 array, their transposes
    """

    lengths: np.ndarray
    counts: np.ndarray
    synthesis: np.ndarray
    analysis: np.ndarray

    @classmethod
    def create(cls, factors: Sequence[np.ndarray]) -> Operator:
        """From factors of shape (length, count)."""
        return cls(
            np.array([factor.shape[0] for factor in factors], dtype=np.int64),
            np.array([factor.shape[1] for factor in factors], dtype=np.int64),
            np.concatenate([np.ravel(factor) for factor in factors]).astype(np.float32),
            np.concatenate([np.ravel(factor.T) for factor in factors]).astype(np.float32),
        )


def workspace(operator: Operator) -> np.ndarray:
    """Room for what lies between two products, shape (2, entries, WIDTH)."""
    largest = max(
        int(np.prod(operator.lengths[:axis]) * np.prod(operator.counts[axis:]))
        for axis in range(len(operator.lengths) + 1)
    )
    return aligned_zeros((2, largest, WIDTH))


@kernel
def multiply_axis(matrix, start, n_rows, n_terms, source, n_before, n_after, target):
    """Multiply the matrix that begins at `start` into the axis of `source` with so many entries around it."""
    step = n_after * WIDTH
    matrix_row = _BYTES * n_terms
    for before in range(n_before):
        into = address(target) + _BYTES * before * n_rows * step
        out_of = address(source) + _BYTES * before * n_terms * step
        for column in range(0, step, COLUMNS):
            entry = address(matrix) + _BYTES * start
            place = into + _BYTES * column
            terms = out_of + _BYTES * column
            row = 0
            while row + ROWS <= n_rows:
                tile_of_rows(place, step, entry, n_terms, terms, step, n_terms)
                row, place, entry = row + ROWS, place + _BYTES * ROWS * step, entry + ROWS * matrix_row
            while row + 4 <= n_rows:
                tile_of_four(place, step, entry, n_terms, terms, step, n_terms)
                row, place, entry = row + 4, place + _BYTES * 4 * step, entry + 4 * matrix_row
            while row < n_rows:
                tile_of_one(place, step, entry, n_terms, terms, step, n_terms)
                row, place, entry = row + 1, place + _BYTES * step, entry + matrix_row


@kernel
def synthesize(operator, codes, patches, room):
    """Patches from codes, one axis after the other. Paper: Eq. (3)."""
    n_axes = len(operator.lengths)
    n_before, n_after, start = 1, 1, 0
    for axis in range(n_axes):
        n_after *= operator.counts[axis]
    source = codes
    for axis in range(n_axes):
        length, count = operator.lengths[axis], operator.counts[axis]
        n_after //= count
        target = patches if axis == n_axes - 1 else room[axis % 2]
        multiply_axis(operator.synthesis, start, length, count, source, n_before, n_after, target)
        n_before *= length
        start += length * count
        source = target


@kernel
def analyze(operator, patches, codes, room):
    """Inner products of patches with all atoms: the adjoint of `synthesize`, last axis first."""
    n_axes = len(operator.lengths)
    n_before, n_after, start = 1, 1, len(operator.analysis)
    for axis in range(n_axes):
        n_before *= operator.lengths[axis]
    source = patches
    for axis in range(n_axes - 1, -1, -1):
        length, count = operator.lengths[axis], operator.counts[axis]
        n_before //= length
        start -= length * count
        target = codes if axis == 0 else room[axis % 2]
        multiply_axis(operator.analysis, start, count, length, source, n_before, n_after, target)
        n_after *= count
        source = target
