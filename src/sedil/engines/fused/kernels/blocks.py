"""Products of a block of samples with the factors of a dictionary, for any number of axes.

A block has the shape ``(entries, WIDTH)``: the entries of the patch or code in row-major order, one sample a
column.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sedil.engines.fused.kernels.columns import multiply_axis
from sedil.engines.fused.kernels.decorators import ONE, inlined, inner, pasted
from sedil.engines.fused.kernels.llvm import WIDTH, address, aligned_zeros

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
        int(np.prod(operator.counts[:axis]) * np.prod(operator.lengths[axis:]))
        for axis in range(len(operator.lengths) + 1)
    )
    return aligned_zeros((2, largest, WIDTH))


@pasted
def half_of(room, half):
    """Where one half of a workspace begins."""
    return address(room) + _BYTES * half * room.shape[1] * WIDTH


@pasted
def last_of(operator, factors):
    """Where the last factor begins, among all of them or their transposes."""
    return address(factors) + _BYTES * (len(factors) - operator.lengths[-1] * operator.counts[-1])


@inner
def synthesize(operator, codes, patches, room):
    """Patches from codes, one axis after the other, the last one first. Paper: Eq. (3).

    Along the last axis the entries of the codes, the largest array of all, are neighbours.
    """
    partial = after_last_axis(operator, address(patches), room)
    synthesize_last_axis(operator, codes, partial)
    synthesize_earlier_axes(operator, address(patches), room)


@inlined
def after_last_axis(operator, patches, room):
    """Where `synthesize` puts its first product; `patches` and the result are addresses."""
    return patches if len(operator.lengths) == 1 else half_of(room, 0)


@inlined
def synthesize_last_axis(operator, codes, target):
    """The first product of `synthesize`; the target is an address."""
    length, count = operator.lengths[-1], operator.counts[-1]
    matrix = last_of(operator, operator.synthesis)
    multiply_axis(matrix, length, count, address(codes), codes.shape[0] // count, WIDTH * ONE, target)


@inner
def synthesize_earlier_axes(operator, patches, room):
    """The other products of `synthesize`; `patches` is an address."""
    last = len(operator.lengths) - 1
    n_before, step = ONE, WIDTH * operator.lengths[last]
    matrix = address(operator.synthesis)
    for axis in range(last):
        n_before *= operator.counts[axis]
        matrix += _BYTES * operator.lengths[axis] * operator.counts[axis]
    source = half_of(room, 0)
    for axis in range(last - 1, -1, -1):
        length, count = operator.lengths[axis], operator.counts[axis]
        n_before //= count
        matrix -= _BYTES * length * count
        target = patches if axis == 0 else half_of(room, (last - axis) % 2)
        multiply_axis(matrix, length, count, source, n_before, step, target)
        step *= length
        source = target


@inner
def analyze(operator, patches, codes, room):
    """Inner products of patches with all atoms: the adjoint of `synthesize`, the last axis last."""
    length, count = operator.lengths[-1], operator.counts[-1]
    matrix = last_of(operator, operator.analysis)
    partial = analyze_earlier_axes(operator, patches, room)
    multiply_axis(matrix, count, length, partial, codes.shape[0] // count, WIDTH * ONE, address(codes))


@inner
def analyze_earlier_axes(operator, patches, room):
    """`analyze` but for its last product; returns its address. The first half of the room is free then."""
    last = len(operator.lengths) - 1
    n_before, step = ONE, WIDTH * patches.shape[0]
    matrix, source = address(operator.analysis), address(patches)
    for axis in range(last):
        length, count = operator.lengths[axis], operator.counts[axis]
        step //= length
        target = half_of(room, (last - axis) % 2)
        multiply_axis(matrix, count, length, source, n_before, step, target)
        n_before *= count
        matrix += _BYTES * length * count
        source = target
    return source
