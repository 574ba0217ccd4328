"""All overlapping patches of an image, in boxes that fit into memory, and back: an adjoint pair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from itertools import product
from math import prod
from numbers import Integral
from typing import NamedTuple

import numpy as np
from array_api_compat import array_namespace
from array_api_compat import device as device_of

from sedil.arrays import AnyArray, Array

Box = tuple[np.ndarray, ...]  # first corners along each axis; the box holds all their combinations


class Part(NamedTuple):
    """A part of an image that is worked on by itself, as if the rest of the image were there.

    Attributes
    ----------
    image_shape : of the whole image
    held : slices of the whole image, what there is of it
    inside : slices of the whole image, what is wanted: patches that do not touch it are left out
    """

    image_shape: tuple[int, ...]
    held: tuple[slice, ...]
    inside: tuple[slice, ...]


Reach = tuple[np.ndarray, np.ndarray]  # along one axis: where what each patch touches begins, and ends


class PatchGrid:
    """Where the patches of an image lie.

    Every pixel is covered at any image size and stride: besides every `stride`-th position, the last
    one of each axis is always taken.

    Parameters
    ----------
    image_shape, patch_shape : sequence of int, as long as each other
    stride : int or sequence of int, default 1
        Distance between neighbouring patches, along all axes or each; at most the side of a patch.
    shift : sequence of int below `stride`, optional
        Where the second patch of each axis begins, if not `stride` after the first: passes over an image with
        different shifts see different patches.
    """

    def __init__(
        self,
        image_shape: Sequence[int],
        patch_shape: Sequence[int],
        stride: int | Sequence[int] = 1,
        shift: Sequence[int] | None = None,
    ) -> None:
        self.image_shape, self.patch_shape = tuple(image_shape), tuple(patch_shape)
        if isinstance(stride, Integral):
            require_no_gaps(int(stride), self.patch_shape)
            stride = (int(stride),) * len(self.image_shape)
        self.strides: tuple[int, ...] = tuple(stride)  # type: ignore[arg-type]
        for apart, length in zip(self.strides, self.patch_shape, strict=True):
            require_no_gaps(apart, (length,))
        first = (0,) * len(self.image_shape) if shift is None else shift
        self.corners = [
            np.union1d(np.arange(begin, side - length + 1, apart), [0, side - length])
            for begin, side, length, apart in zip(
                first, self.image_shape, self.patch_shape, self.strides, strict=True
            )
        ]
        self.held = tuple(slice(0, side) for side in self.image_shape)
        self._kept = [slice(None)] * len(self.corners)

    def within(self, part: Part | None, reaches: Sequence[Reach] | None = None) -> PatchGrid:
        """The same patches in an array that holds only a part of the image, without those not needed there.

        Boxes are still those of the whole image, cut: sums over them are added in the same order, so that
        the part is that of the whole image to the bit. `reaches` is what each patch touches, by default
        itself.
        """
        if part is None:
            return self
        grid = copy(self)
        grid.held = part.held
        grid._kept = [
            _touching(reach, inside)
            for reach, inside in zip(reaches or self.reaches(), part.inside, strict=True)
        ]
        for axis, (corners, held, length) in enumerate(
            zip(self.corners, part.held, self.patch_shape, strict=True)
        ):
            there = np.searchsorted(corners, [held.start, held.stop - length + 1])
            kept = grid._kept[axis]
            grid._kept[axis] = slice(max(kept.start, int(there[0])), min(kept.stop, int(there[1])))
        return grid

    def reaches(self) -> list[Reach]:
        """The pixels of each patch, along each axis."""
        return [
            (corners, corners + length)
            for corners, length in zip(self.corners, self.patch_shape, strict=True)
        ]

    @property
    def n_patches(self) -> int:
        """Number of patches."""
        return prod(len(corners) for corners in self.corners)

    def boxes(self, max_patches: int) -> Iterator[Box]:
        """Split the grid into boxes of at most `max_patches` patches (one at least)."""
        chunk_lengths = []
        left = max(max_patches, 1)
        for corners in reversed(self.corners):
            chunk_lengths.append(min(len(corners), left))
            left = max(left // chunk_lengths[-1], 1)
        pieces = [
            np.array_split(corners, -(-len(corners) // length))
            for corners, length in zip(self.corners, reversed(chunk_lengths), strict=True)
        ]
        return product(*map(self._local, range(len(pieces)), pieces))

    def _local(self, axis: int, pieces: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Corners that are needed, counted from where the array begins."""
        kept = self.corners[axis][self._kept[axis]]
        if not len(kept):
            return []
        own = (piece[(piece >= kept[0]) & (piece <= kept[-1])] for piece in pieces)
        return [piece - self.held[axis].start for piece in own if len(piece)]

    def extent(self, box: Box) -> tuple[slice, ...]:
        """The part of the image that the patches of a box cover."""
        ends = zip(box, self.patch_shape, strict=True)
        return tuple(slice(int(corners[0]), int(corners[-1]) + length) for corners, length in ends)

    @staticmethod
    def shifted(box: Box) -> Box:
        """The same box inside its own extent."""
        return tuple(corners - corners[0] for corners in box)

    def flat_indices(self, shape: Sequence[int], box: Box) -> tuple[np.ndarray, np.ndarray]:
        """Where patches begin in a flat array of this shape, (n,), and where their entries lie from there."""
        corners = np.ravel_multi_index(np.ix_(*box), shape).ravel()
        offsets = flat_offsets(self.patch_shape, shape)
        return corners, offsets

    def touching(self, wanted: AnyArray, box: Box) -> AnyArray:
        """Which patches of a box hold a pixel where `wanted` is True, shape (n,)."""
        inside = self.extract(wanted, box)
        return array_namespace(wanted).any(inside, axis=tuple(range(1, inside.ndim)))

    def extract(self, image: AnyArray, box: Box) -> AnyArray:
        """Patches of a box as a copy, shape (n, *patch_shape)."""
        xp = array_namespace(image)
        corners, offsets = self.flat_indices(image.shape, box)
        index = xp.asarray((corners[:, None] + offsets).ravel(), device=device_of(image))
        entries = xp.take(xp.reshape(image, (-1,)), index, axis=0)
        return xp.reshape(entries, (len(corners), *self.patch_shape))

    def add(self, image: Array, patches: Array, box: Box) -> None:
        """Add each patch to a contiguous `image` at its place: the adjoint of `extract`, in place."""
        xp = array_namespace(image)
        corners, offsets = self.flat_indices(image.shape, box)
        first = xp.asarray(corners, device=device_of(image))
        pixels = xp.reshape(image, (-1,), copy=False)
        entries = xp.reshape(patches, (len(corners), len(offsets)))
        # For one offset inside the patch no pixel occurs twice, so plain indexed addition is exact.
        for number, offset in enumerate(offsets.tolist()):
            pixels[first + offset] += entries[:, number]


def _touching(reach: Reach, inside: slice) -> slice:
    """Which patches touch an interval, given what each touches; both ends of that grow with the patches."""
    begins, ends = reach
    first, last = np.searchsorted(ends, inside.start, "right"), np.searchsorted(begins, inside.stop)
    return slice(int(first), int(last))


def extent_needed(reach: Reach, inside: slice) -> slice:
    """What the patches touch, along one axis, that touch an interval."""
    touching = _touching(reach, inside)
    begins, ends = reach
    return slice(int(begins[touching][0]), int(ends[touching][-1]))


def flat_offsets(lengths: Sequence[int], shape: Sequence[int]) -> np.ndarray:
    """Flat indices of the entries of a box at the beginning of an array of this shape.

    A box of fewer axes is one of the first axes, one entry long along the others.
    """
    lengths = (*lengths, *(1,) * (len(shape) - len(lengths)))
    return np.ravel_multi_index(np.ix_(*map(np.arange, lengths)), tuple(shape)).ravel()


def require_no_gaps(stride: int, patch_shape: Sequence[int]) -> None:
    """Refuse patches so far apart that they leave pixels out."""
    if stride > min(patch_shape):
        raise ValueError(
            f"stride {stride} leaves gaps between patches of shape {tuple(patch_shape)}: "
            f"use at most {min(patch_shape)}."
        )
