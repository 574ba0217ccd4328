"""Where training patches come from: the images of files, or blocks of an array in chunks.

Either is a number of images, any of which can be read without the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import prod
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from array_api_compat import is_dask_array

from sedil import checks
from sedil.cluster.dask_arrays import require_known_chunks, without_empty_chunks
from sedil.errors import EXPECTED
from sedil.image_files.grey_images import read_grey, read_grey_volume

OnError = Callable[[Path, Exception], None]

_PATCHES_PER_BLOCK = 64  # so that few patches read a few blocks alone
_SIDE_WITHOUT_CHUNKS = 64  # of a block of a file that has no chunks, any part of which can be read


class TrainingImages(Protocol):
    """Images that patches are drawn from."""

    def __len__(self) -> int: ...

    def read(self, order: Iterable[int]) -> Iterator[np.ndarray]:
        """The images of these numbers, in that order."""


class ImageFiles:
    """The grey images of files; `on_error` is told of those that cannot be used, or it is raised."""

    def __init__(self, files: Sequence[Path], patch_shape: Sequence[int], on_error: OnError | None) -> None:
        self._files, self._patch_shape, self._on_error = files, patch_shape, on_error

    def __len__(self) -> int:
        return len(self._files)

    def read(self, order: Iterable[int]) -> Iterator[np.ndarray]:
        """Those of these numbers that patches can be taken from."""
        n_read = 0
        for file in (self._files[number] for number in order):
            try:
                image = read_grey(file) if len(self._patch_shape) == 2 else read_grey_volume(file)
                remedy = "leave it out or choose smaller patches"
                checks.require_fits(image.shape, self._patch_shape, str(file), remedy)
            except EXPECTED as error:
                if self._on_error is None:
                    raise
                self._on_error(file, error)
            else:
                n_read += 1
                yield image
        if n_read == 0:
            raise ValueError(f"None of the {len(self._files)} images can be learned from.")


class ArrayBlocks:
    """Blocks of an array in chunks, evenly drawn; no patch lies across two.

    Parameters
    ----------
    array : Dask array, or one of Zarr, HDF5 or the like
    patch_shape : one length for each axis of the array
    n_patches : int
        How many are wanted in all: with few of them, few blocks are read.
    rng : numpy.random.Generator
    """

    def __init__(
        self, array: Any, patch_shape: Sequence[int], n_patches: int, rng: np.random.Generator
    ) -> None:
        if is_dask_array(array):
            require_known_chunks(array, "images")
        if array.shape is None or 0 in array.shape:
            raise ValueError("The array is empty: there is nothing to take patches from.")
        if array.dtype.kind not in "biuf":
            raise TypeError(f"images must hold real numbers, got dtype {array.dtype}.")
        checks.require_fits(array.shape, patch_shape, "The array", "choose smaller patches")
        self._array = without_empty_chunks(array) if is_dask_array(array) else array
        lengths = zip(array.shape, patch_shape, _chunks_of(self._array), strict=True)
        self._boxes = _some_boxes([_spans(*own) for own in lengths], patch_shape, n_patches, rng)

    def __len__(self) -> int:
        return len(self._boxes)

    def read(self, order: Iterable[int]) -> Iterator[np.ndarray]:
        """The blocks of these numbers."""
        for number in order:
            block = self._array[self._boxes[number]]
            yield np.asarray(block.compute() if is_dask_array(block) else block)


def _some_boxes(
    spans: Sequence[Sequence[slice]], patch_shape: Sequence[int], n_patches: int, rng: np.random.Generator
) -> list[tuple[slice, ...]]:
    """Of the blocks that these stretches of each axis make, as many at random as patches want."""
    counts = [len(own) for own in spans]
    pairs = zip(spans, patch_shape, strict=True)
    places = prod(own[0].stop - own[0].start - length + 1 for own, length in pairs)  # of patches in a block
    n_boxes = min(prod(counts), -(-n_patches // min(_PATCHES_PER_BLOCK, places)))
    chosen = np.unravel_index(rng.choice(prod(counts), n_boxes, replace=False), counts)
    return [
        tuple(own[number] for own, number in zip(spans, numbers, strict=True))
        for numbers in np.transpose(chosen).tolist()
    ]


def _chunks_of(array: Any) -> list[int]:
    """The length of a chunk along each axis; of a Dask array of its longest."""
    if is_dask_array(array):
        return [max(lengths) for lengths in array.chunks]
    return list(getattr(array, "shards", None) or array.chunks or [_SIDE_WITHOUT_CHUNKS] * len(array.shape))


def _spans(side: int, length: int, chunk: int) -> list[slice]:
    """Where blocks of whole chunks lie along an axis; the last is as long as the others, if the side is.

    They are long enough for a patch to begin anywhere in a stretch of its own length.
    """
    step = min(-(-(2 * length - 1) // chunk) * chunk, side)
    return [slice(min(start, side - step), min(start + step, side)) for start in range(0, side, step)]
