"""Products of a block of samples with the factors of a dictionary, for any number of axes.

A block has the shape ``(entries, WIDTH)``: the entries of the patch or code in row-major order, one sample a
column.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sedil.engines.fused.kernels.axes import multiply_axes
from sedil.engines.fused.kernels.decorators import ONE, inner, pasted
from sedil.engines.fused.kernels.memory import BYTES, WIDTH, address, aligned_zeros


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
