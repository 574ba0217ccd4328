"""Into what blocks an image is cut, when each worker holds one block at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from sedil.cluster.parts import Chunks, Halo, length_held

# Bytes that one block may take. Python and its packages take some 200 MB more: a worker stays below 600 MB.
BYTES_OF_A_BLOCK = 330e6
_LEAST_SIDE = 8
_ALL_NUMBERS_UP_TO = 16  # of cuts that are looked at; of more only some, each a tenth more than the last


class _Cut(NamedTuple):
    """An axis in so many pieces: how long what is held is of the largest, and what is worked on, of all too.

    What is worked on reaches about half as far beyond a block as what is held.
    """

    n_pieces: int
    largest_held: float
    largest_work: float
    work: float


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
    n_blocks = _products([[cut.n_pieces for cut in cuts] for cuts in along])
    cost = work / n_workers + np.ceil(n_blocks / n_workers) * largest
    # Where even the smallest blocks do not fit, it is these.
    fits = held <= max(BYTES_OF_A_BLOCK / bytes_per_pixel, held.min())
    # Of equals those that are cut along the first axes, so that what lies together in files stays together.
    best = np.unravel_index(np.argmin(np.where(fits, cost, np.inf).T), cost.T.shape)[::-1]
    numbers = [cuts[at].n_pieces for cuts, at in zip(along, best, strict=True)]
    return tuple(
        tuple(map(_length, _pieces(side, number, range(number))))
        for side, number in zip(shape, numbers, strict=True)
    )


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
    """What lies at the ends, and in the middle, stands for all."""
    some = {0, 1, number // 2, number - 2, number - 1}
    inside = _pieces(side, number, [at for at in some if 0 <= at < number])
    held = np.max([[length_held(halo, axis, own) for own in inside] for halo in set(halos)], axis=0)
    work = (held + [_length(own) for own in inside]) / 2
    return _Cut(number, float(held.max()), float(work.max()), number * float(work.mean()))


def _pieces(side: int, number: int, which: Iterable[int]) -> list[slice]:
    """Some of so many pieces of an axis, which are as long as each other, or one pixel longer."""
    return [slice(at * side // number, (at + 1) * side // number) for at in which]


def _length(own: slice) -> int:
    return own.stop - own.start
