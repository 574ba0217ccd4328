"""Into what blocks an image is cut, when each worker holds one block at a time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from sedil.cluster.parts import Chunks, Halo, length_held

# That a worker may hold besides Python and its packages, some 200 megabytes, so that it stays below 600.
BYTES_OF_A_BLOCK = 330e6
_LEAST_SIDE = 8
_ALL_NUMBERS_UP_TO = 16  # of cuts that are looked at; of more only some, each a tenth more than the last


class _Cut(NamedTuple):
    """An axis in so many pieces: of all pieces together, and of the largest, how long what is held is.

    What is worked on reaches about half as far beyond a block as what is held.
    """

    sizes: tuple[int, ...]
    largest_held: int
    work: float
    largest_work: float


def sizes_of_blocks(
    shape: Sequence[int], halos: Sequence[Halo], bytes_per_pixel: float, n_workers: int
) -> Chunks:
    """Lengths of the blocks along each axis: of those that fit into memory, the quickest with least work.

    Whatever lies near a seam is done on both sides of it, so that few large blocks take the least work. But
    all workers are to have something to do: when the last block is done counts as much as the work of all.

    Parameters
    ----------
    shape : of the image, without channels
    halos : of all steps
    bytes_per_pixel : for each pixel that is held, all its channels
    n_workers : how many blocks are worked on at a time
    """
    along = [_cuts(axis, side, halos) for axis, side in enumerate(shape)]
    held = _products([[cut.largest_held for cut in cuts] for cuts in along])
    work = _products([[cut.work for cut in cuts] for cuts in along])
    largest = _products([[cut.largest_work for cut in cuts] for cuts in along])
    n_blocks = _products([[len(cut.sizes) for cut in cuts] for cuts in along])
    cost = work / n_workers + np.ceil(n_blocks / n_workers) * largest
    # Where even the smallest blocks do not fit, it is these.
    fits = held <= max(BYTES_OF_A_BLOCK / bytes_per_pixel, held.min())
    best = np.unravel_index(np.argmin(np.where(fits, cost, np.inf)), cost.shape)
    return tuple(cuts[at].sizes for cuts, at in zip(along, best, strict=True))


def _products(along: Sequence[Sequence[float]]) -> np.ndarray:
    """Of one number of each axis, all combinations."""
    return reduce(np.multiply.outer, [np.array(numbers, float) for numbers in along])


def _cuts(axis: int, side: int, halos: Sequence[Halo]) -> list[_Cut]:
    found, number = [], 1
    while number <= max(side // _LEAST_SIDE, 1):
        found.append(_cut(axis, side, number, halos))
        number += 1 if number < _ALL_NUMBERS_UP_TO else -(-number // 10)
    return found


def _cut(axis: int, side: int, number: int, halos: Sequence[Halo]) -> _Cut:
    """In pieces that are as long as each other, or one pixel longer."""
    ends = [at * side // number for at in range(number + 1)]
    inside = [slice(begin, end) for begin, end in pairwise(ends)]
    sizes = tuple(own.stop - own.start for own in inside)
    held = np.max([[length_held(halo, axis, own) for own in inside] for halo in set(halos)], axis=0)
    work = (held + sizes) / 2
    return _Cut(sizes, int(held.max()), float(work.sum()), float(work.max()))
