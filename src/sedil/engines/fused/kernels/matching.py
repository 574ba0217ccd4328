"""The nearest patches of a patch, by all distances in its window."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sedil.engines.fused.kernels.compilation import ONE, inner, kernel
from sedil.engines.fused.kernels.differences import ROWS, differences_of_one, differences_of_rows
from sedil.engines.fused.kernels.entrance import takes
from sedil.engines.fused.kernels.vectors import BYTES, LANES, address, aligned_zeros

_INFINITE_BITS = np.int32(0x7F800000)  # of a float32; those of finite positive ones are smaller, in order
_COUNTED_AT_A_TIME = 2**20  # which float32 can count


class Windows(NamedTuple):
    """The candidates of a patch.

    Attributes
    ----------
    rows : (n_rows,), where the rows of a window along the last axis begin, counted from its first candidate
    width : candidates of a row
    entries : (n_entries,), where the entries of a patch lie, counted from its first, in all channels
    """

    rows: np.ndarray
    width: int
    entries: np.ndarray


def distance_rows(windows: Windows) -> np.ndarray:
    """Memory for the distances of a window; rows are padded, so that each is made of whole vectors."""
    return aligned_zeros((len(windows.rows), -(-windows.width // LANES) * LANES))


@takes(
    pixels="float32 pixels",
    windows__rows="int64 rows",
    windows__entries="int64 entries",
    corners="int64 n",
    begins="int64 n",
    distances="float32 rows columns",
    members="int32 n members",
    found="float32 n members",
)
@kernel
def find_nearest(pixels, windows, corners, begins, distances, members, found):
    """For each patch the candidates that are nearest to it, in the order of the window; of equals the first.

    Parameters
    ----------
    pixels : (n_pixels + LANES,), flat, all channels; what is beyond the pixels is read and not used
    windows : Windows
    corners, begins : (n,), where each patch and its first candidate begin
    distances : memory, from `distance_rows`
    members, found : (n, n_members), where the nearest begin, and their distances
    """
    for patch in range(len(corners)):
        _measure(pixels, windows, corners[patch], begins[patch], distances)
        _mark(windows, corners[patch] - begins[patch], distances)
        bound = _nth_smallest(distances, members.shape[1])
        _collect(windows, begins[patch], distances, bound, members[patch], found[patch])


@inner
def _measure(pixels, windows, corner, begin, distances):
    """Sums of squared differences of all candidates, a vector of them side by side."""
    n_rows, step = distances.shape
    patch, entries = address(pixels) + BYTES * corner, address(windows.entries)
    for column in range(0, step, LANES):
        first = address(pixels) + BYTES * (begin + column)
        if n_rows < ROWS:
            for row in range(n_rows):
                out, offsets = address(distances[row, column:]), address(windows.rows[row:])
                differences_of_one(out, step, first, offsets, patch, entries, len(windows.entries))
        else:
            for wanted in range(0, n_rows, ROWS):
                row = min(wanted, n_rows - ROWS)  # the last ones are made of whole tiles too
                out, offsets = address(distances[row, column:]), address(windows.rows[row:])
                differences_of_rows(out, step, first, offsets, patch, entries, len(windows.entries))


@inner
def _mark(windows, distance, distances):
    """A patch is nearest to itself, also where others are equal to it; what pads a row is never near."""
    for row in range(len(windows.rows)):
        column = distance - windows.rows[row]
        if 0 <= column < windows.width:
            distances[row, column] = -1
        distances[row, windows.width :] = np.inf


@inner
def _nth_smallest(distances, count):
    """The bits of a float32 up to which there are just so many distances, by halving.

    Where equal ones do not allow that, it is the smallest with more; where too few are finite, infinity.
    """
    values = distances.reshape(-1).view(np.int32)
    low, high = np.int32(0), _INFINITE_BITS
    while low < high:
        middle = np.int32(low + (high - low) // 2)
        below = _count_up_to(values, middle)
        if below == count:
            return middle
        if below > count:
            high = middle
        else:
            low = np.int32(middle + 1)
    return low


@inner
def _count_up_to(values, bound):
    """How many there are. They are counted in float32, some at a time, as Numba would widen int32 sums."""
    count = 0 * ONE
    for first in range(0, len(values), _COUNTED_AT_A_TIME):
        some = np.float32(0)
        for index in range(first, min(first + _COUNTED_AT_A_TIME, len(values))):
            some += np.float32(1) if values[index] <= bound else np.float32(0)
        count += np.int64(some)
    return count


@inner
def _collect(windows, begin, distances, bound, members, found):
    """All that are nearer than the bound, and of those at the bound as many as there is space for."""
    values = distances.view(np.int32)
    n_members = len(members)
    equal = n_members - _count_up_to(values.reshape(-1), np.int32(bound - 1))
    count = 0 * ONE
    for row in range(len(values)):
        for column in range(windows.width):
            if values[row, column] <= bound:
                if values[row, column] == bound:
                    if equal == 0:
                        continue
                    equal -= 1
                if count < n_members:  # also where distances are not numbers
                    members[count] = begin + windows.rows[row] + column
                    found[count] = max(distances[row, column], np.float32(0))
                    count += 1
    for rest in range(count, n_members):  # in which case they may be too few
        members[rest], found[rest] = members[0], np.float32(0)
