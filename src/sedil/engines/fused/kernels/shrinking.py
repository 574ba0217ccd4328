"""Shrinkage of the directions of a group of alike patches, and its sums."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sedil.engines.fused.kernels.blocks import multiply
from sedil.engines.fused.kernels.compilation import inner, kernel
from sedil.engines.fused.kernels.entrance import takes
from sedil.engines.fused.kernels.tiles import COLUMNS
from sedil.engines.fused.kernels.vectors import address, aligned_zeros
from sedil.engines.portable.grouping import PRECISION

_PIVOTS = 8  # as many rows as a tile has
_PRECISION = np.float32(PRECISION * np.finfo(np.float32).eps)
_LEAST = np.float32(np.finfo(np.float32).smallest_normal ** 0.5)


def padded(length: int) -> int:
    """The next multiple of the columns of a tile, as products are made of whole tiles."""
    return -(-length // COLUMNS) * COLUMNS


class GroupMemory(NamedTuple):
    """Where one group is worked on. Its short side is that of its members or that of a patch's entries.

    Attributes
    ----------
    rows : (short, long), padded
    columns : (long, short), padded: the transpose
    cleaned : like `rows`
    mean : (n_entries,)
    removed, squared, cubed : (short, short), padded
    panel, corner : columns of a matrix, and the rows of these that hold its diagonal
    """

    rows: np.ndarray
    columns: np.ndarray
    cleaned: np.ndarray
    mean: np.ndarray
    removed: np.ndarray
    squared: np.ndarray
    cubed: np.ndarray
    panel: np.ndarray
    corner: np.ndarray

    @classmethod
    def create(cls, n_members: int, n_entries: int) -> GroupMemory:
        """For groups of this size."""
        short, long = sorted((n_members, n_entries))
        square = short, padded(short)
        return cls(
            aligned_zeros((short, padded(long))),
            aligned_zeros((long, padded(short))),
            aligned_zeros((short, padded(long))),
            aligned_zeros(n_entries),
            aligned_zeros(square),
            aligned_zeros(square),
            aligned_zeros(square),
            aligned_zeros((short, _PIVOTS)),
            aligned_zeros((_PIVOTS, _PIVOTS)),
        )


class GroupBox(NamedTuple):
    """A part of an image, its groups, and the sums over them.

    Attributes
    ----------
    pixels, total : (n_pixels,), flat, all channels
    begun : (n_positions,), of one channel: how many members begin there
    noise : (n_positions,), variance of the noise in the patch that begins there
    members : (n, n_members), where they begin
    entries : (n_entries,), where the entries of a patch lie, counted from its first
    """

    pixels: np.ndarray
    total: np.ndarray
    begun: np.ndarray
    noise: np.ndarray
    members: np.ndarray
    entries: np.ndarray


@takes(
    box__pixels="float32 pixels",
    box__total="float32 pixels",
    box__begun="float32 positions",
    box__noise="float32 positions",
    box__members="int32 n members",
    box__entries="int64 entries",
    memory__mean="float32 entries",
)
@kernel
def clean_each_group(box, memory, n_channels, strength, mean_strength, smooth_steps):
    """Clean all groups and add their members to the sums; strengths times the noise are the thresholds."""
    for group in range(len(box.members)):
        members = box.members[group]
        noise = np.float32(0)
        for member in members:
            noise += box.noise[member]
        noise /= len(members)
        _gather(box, members, memory)
        _shrink(memory, strength * noise, smooth_steps)
        _shrink_mean(memory.mean.reshape(n_channels, -1), len(members), mean_strength * noise, smooth_steps)
        _scatter(box, members, memory)


@inner
def _gather(box, members, memory):
    """The members without their mean, as rows of the short side and as columns."""
    n_members, n_entries = len(members), len(box.entries)
    by_member, by_entry = memory.rows, memory.columns
    if n_entries < n_members:
        by_member, by_entry = memory.columns, memory.rows
    for entry in range(n_entries):
        offset = box.entries[entry]
        total = np.float32(0)
        for member in range(n_members):
            value = box.pixels[members[member] + offset]
            by_entry[entry, member] = value
            total += value
        total /= n_members
        memory.mean[entry] = total
        for member in range(n_members):
            value = by_entry[entry, member] - total
            by_entry[entry, member] = value
            by_member[member, entry] = value


@inner
def _shrink(memory, wanted, smooth_steps):
    """`cleaned` is what remains of `rows`. See `sedil.engines.contract.Shrinkage`."""
    short, step = memory.removed.shape
    long, width = len(memory.columns), memory.rows.shape[1]
    removed, squared, cubed = address(memory.removed), address(memory.squared), address(memory.cubed)
    rows = address(memory.rows)
    multiply(rows, width, short, long, address(memory.columns), removed, step)
    energy = np.float32(0)
    for i in range(short):
        energy += memory.removed[i, i]
    threshold = max(wanted, _PRECISION * energy, _LEAST)
    for i in range(short):
        memory.removed[i, i] += threshold
    _invert(memory)
    flat = memory.removed.reshape(-1)
    for index in range(len(flat)):
        flat[index] *= threshold
    # The share that is taken away, 1 - b, has the same smooth steps as b.
    for _ in range(smooth_steps):
        multiply(removed, step, short, short, removed, squared, step)
        multiply(squared, step, short, short, removed, cubed, step)
        _combine(memory.squared.reshape(-1), memory.cubed.reshape(-1), flat)
    certain = wanted / threshold
    for index in range(len(flat)):
        flat[index] *= certain
    multiply(removed, step, short, short, rows, address(memory.cleaned), width)


@inner
def _shrink_mean(mean, n_members, threshold, smooth_steps):
    """Shrink what the mean member holds beside the mean of each channel."""
    energy = np.float32(0)
    for channel in range(len(mean)):
        level = mean[channel].mean()
        for value in mean[channel]:
            energy += (value - level) ** 2
    energy *= n_members
    share = energy / max(energy + threshold, _LEAST)
    for _ in range(smooth_steps):
        share *= share * (3 - 2 * share)
    for channel in range(len(mean)):
        level = mean[channel].mean()
        for entry in range(mean.shape[1]):
            mean[channel, entry] = level + share * (mean[channel, entry] - level)


@inner
def _combine(squared, cubed, target):
    """Three squares less two cubes."""
    for index in range(len(target)):
        target[index] = 3 * squared[index] - 2 * cubed[index]


@inner
def _invert(memory):
    """Invert `removed`, a positive definite matrix, in place: Gauss and Jordan, some pivots at a time.

    What is left of the matrix after these pivots is changed by one product, which is where the time goes.
    """
    matrix, corner, panel = memory.removed, memory.corner, memory.panel
    size, step = matrix.shape
    for first in range(0, size, _PIVOTS):
        count = min(_PIVOTS, size - first)
        for i in range(size):
            for k in range(count):
                panel[i, k] = matrix[i, first + k]
                matrix[i, first + k] = 0
        for i in range(count):
            for k in range(count):
                corner[i, k] = panel[first + i, k]
                panel[first + i, k] = 0
            matrix[first + i, first + i] = 1
        _invert_corner(corner, count)
        beside = address(matrix[first])
        multiply(address(corner), _PIVOTS, count, count, beside, address(memory.cubed), step)
        multiply(address(panel), _PIVOTS, size, count, address(memory.cubed), address(memory.squared), step)
        _subtract(memory.squared.reshape(-1), matrix.reshape(-1))
        for i in range(count):
            for j in range(step):
                matrix[first + i, j] = memory.cubed[i, j]


@inner
def _subtract(values, target):
    """From each entry of a flat array."""
    for index in range(len(target)):
        target[index] -= values[index]


@inner
def _invert_corner(matrix, count):
    """Invert the first rows and columns of a matrix of _PIVOTS columns in place, without pivoting."""
    for pivot in range(count):
        scale = 1 / matrix[pivot, pivot]
        matrix[pivot, pivot] = 1
        for k in range(_PIVOTS):
            matrix[pivot, k] *= scale
        for i in range(count):
            if i != pivot:
                share = matrix[i, pivot]
                matrix[i, pivot] = 0
                for k in range(_PIVOTS):
                    matrix[i, k] -= share * matrix[pivot, k]


@inner
def _scatter(box, members, memory):
    """Add the cleaned members to the sums."""
    n_members, n_entries = len(members), len(box.entries)
    for member in range(n_members):
        box.begun[members[member]] += 1
    if n_entries < n_members:
        for entry in range(n_entries):
            offset, mean = box.entries[entry], memory.mean[entry]
            for member in range(n_members):
                value = memory.rows[entry, member] - memory.cleaned[entry, member]
                box.total[members[member] + offset] += value + mean
    else:
        for member in range(n_members):
            corner = members[member]
            for entry in range(n_entries):
                value = memory.rows[member, entry] - memory.cleaned[member, entry]
                box.total[corner + box.entries[entry]] += value + memory.mean[entry]
