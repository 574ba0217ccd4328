"""Products of a block of samples with the factors of a dictionary, for any number of axes.

A block has the shape ``(entries, WIDTH)``: the entries of the patch or code in row-major order, one sample a
column. Below that a matrix is multiplied into one axis after the other of an array given by its address.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sedil.engines.fused.kernels.compilation import ONE, inner, pasted
from sedil.engines.fused.kernels.tiles import COLUMNS, ROWS, tile_of_four, tile_of_one, tile_of_rows
from sedil.engines.fused.kernels.vectors import BYTES, WIDTH, address, aligned_zeros


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


def block_workspace(operator: Operator) -> np.ndarray:
    """Two halves for what lies between two products, in turn; shape (2, entries, WIDTH)."""
    largest = max(
        int(np.prod(operator.counts[:axis]) * np.prod(operator.lengths[axis:]))
        for axis in range(len(operator.lengths) + 1)
    )
    return aligned_zeros((2, largest, WIDTH))


@pasted
def half_address(pair, half):
    """Where the first or the second of two equal arrays begins."""
    return address(pair) + half * (BYTES * pair.size // 2)


@inner
def synthesize(operator, codes, patches, workspace):
    """Patches from codes, one axis after the other, the last one first. Paper: Eq. (3).

    Along the last axis the entries of the codes, the largest array of all, are neighbours.
    """
    axes = len(operator.lengths) - ONE, -ONE, -ONE
    halves = half_address(workspace, 0), half_address(workspace, 1)
    end = address(operator.synthesis) + BYTES * len(operator.synthesis)
    source, target = address(codes), address(patches)
    lengths, counts = operator.lengths, operator.counts
    multiply_axes(end, lengths, counts, axes, len(codes), WIDTH * ONE, source, halves, target)


@inner
def analyze(operator, patches, codes, workspace):
    """Inner products of patches with all atoms: the adjoint of `synthesize`, the last axis last."""
    axes = 0 * ONE, len(operator.lengths) * ONE, ONE
    halves = half_address(workspace, 0), half_address(workspace, 1)
    begin, step = address(operator.analysis), WIDTH * len(patches)
    source, target = address(patches), address(codes)
    multiply_axes(begin, operator.counts, operator.lengths, axes, ONE, step, source, halves, target)


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
        multiply(matrix, n_terms, n_rows, n_terms, source, target, step)
        source, target = source + BYTES * n_terms * step, target + BYTES * n_rows * step


@pasted
def multiply(matrix, matrix_step, n_rows, n_terms, source, target, step):
    """A matrix with rows `matrix_step` apart times one with rows `step` apart, a multiple of COLUMNS."""
    for column in range(0, step, COLUMNS):
        offset = BYTES * column
        _multiply_columns(matrix, matrix_step, n_rows, n_terms, source + offset, target + offset, step)


@pasted
def _multiply_columns(matrix, matrix_step, n_rows, n_terms, source, target, step):
    """As many columns as a tile has: tiles one below the other, the largest first."""
    matrix_row, target_row, row = BYTES * matrix_step, BYTES * step, 0
    while row + ROWS <= n_rows:
        tile_of_rows(target, step, matrix, matrix_step, source, step, n_terms)
        row, target, matrix = row + ROWS, target + ROWS * target_row, matrix + ROWS * matrix_row
    while row + 4 <= n_rows:
        tile_of_four(target, step, matrix, matrix_step, source, step, n_terms)
        row, target, matrix = row + 4, target + 4 * target_row, matrix + 4 * matrix_row
    while row < n_rows:
        tile_of_one(target, step, matrix, matrix_step, source, step, n_terms)
        row, target, matrix = row + 1, target + target_row, matrix + matrix_row
