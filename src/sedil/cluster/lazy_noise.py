"""How noisy a Dask array is: the same median as of an array in memory, found without holding all it is of.

The bits of a positive float64, read as an integer, are in the order of the numbers. So the median is found
bits by bits: counts of the first 24 bits tell which of them the median has, counts of the next 20 bits of
those that begin so tell more, and the last 20 bits all. Each time the data is gone through once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import ldexp
from typing import Any, NamedTuple

import numpy as np

from sedil.cluster.dask_arrays import as_lazy_image, dask_array
from sedil.cluster.facts import Scale, channels_first, lazy_channels, lazy_scale
from sedil.cluster.made_again import again
from sedil.cluster.parts import (
    chunks_to_work_in,
    halo_of_width,
    layout_of,
    map_parts,
    with_halos,
)
from sedil.cluster.reductions import merged
from sedil.imaging.noise_details import DETAIL_LENGTH, level_of, require_details, sizes_of_details
from sedil.patch_grid import Part

_BITS_LEFT = 40, 20, 0  # after each time


class Beginning(NamedTuple):
    """A number of which the first bits are known: it comes at `rank` among those that begin with them."""

    bits: int
    rank: int


Sought = tuple[Beginning, ...]


class Counts(NamedTuple):
    """How often numbers begin with these bits, and what was known of those that are sought."""

    bits: np.ndarray
    counts: np.ndarray
    sought: Sought


def lazy_estimate(image: Any, channel_axis: int | None) -> Any:
    """See `sedil.estimate_noise`: a Dask array without axes."""
    image = as_lazy_image(image, channel_axis)
    first = channels_first(image, channel_axis)
    require_details(first.shape[1:], image.shape)
    chunks = chunks_to_work_in(first.chunks[1:], [halo_of_details(first.shape[1:])])
    first = first.rechunk((first.chunks[0], *chunks))
    scale = lazy_scale(first, "float64")
    level = lazy_level(lazy_channels(again(first, [scale]), scale, "float64"), scale)
    return dask_array().map_blocks(_in_units, level, scale, dtype=np.float64, meta=np.empty((), np.float64))


def _in_units(level: float, scale: Scale) -> np.ndarray:
    return np.asarray(ldexp(level, -scale.units.exponent))


def lazy_level(channels: Any, scale: Any) -> Any:
    """Standard deviation of white noise in (channels, *shape); `scale` is that of the image. See `merged`."""
    layout = layout_of(channels.chunks[1:], halo_of_details(channels.shape[1:]))
    facts = {"scale": scale}
    for number, left in enumerate(_BITS_LEFT):
        before = _BITS_LEFT[number - 1] if number else None
        held = with_halos(again(channels, [facts["sought"]], [scale]) if number else channels, layout)
        blocks = map_parts(_counts_of_part, [held], layout, object, facts, left=left, before=before)
        facts["sought"] = merged(blocks, _merged_counts, partial(_found, before=before, left=left))
    return dask_array().map_blocks(_level, facts["sought"], dtype=object, meta=np.empty((), object))


def halo_of_details(shape: Sequence[int]) -> Any:
    """The filter looks ahead."""
    return halo_of_width(shape, (0,) * len(shape), (DETAIL_LENGTH - 1,) * len(shape))


def _counts_of_part(
    held: np.ndarray, part: Part, scale: Scale, left: int, before: int | None, sought: Sought = ()
) -> Counts:
    bits = sizes_of_details(held, scale.largest).view(np.int64)
    if before is not None:
        bits = bits[np.isin(bits >> before, [each.bits for each in sought])]
    found, counts = np.unique(bits >> left, return_counts=True)
    return Counts(found, counts, sought)


def _merged_counts(parts: Sequence[Counts]) -> Counts:
    bits, place = np.unique(np.concatenate([part.bits for part in parts]), return_inverse=True)
    counts = np.zeros(len(bits), np.int64)
    np.add.at(counts, place, np.concatenate([part.counts for part in parts]))
    return Counts(bits, counts, parts[0].sought)


def _found(counts: Counts, before: int | None, left: int) -> Sought:
    """The numbers that are sought, with more of their bits."""
    if before is None:  # the two in the middle of all, which are one if there is an odd number
        n = int(counts.counts.sum())
        return tuple(_at(counts, rank) for rank in ((n - 1) // 2, n // 2)) if n else ()
    own = [counts.bits >> (before - left) == each.bits for each in counts.sought]
    some = [counts._replace(bits=counts.bits[mine], counts=counts.counts[mine]) for mine in own]
    return tuple(_at(those, each.rank) for those, each in zip(some, counts.sought, strict=True))


def _at(counts: Counts, rank: int) -> Beginning:
    up_to = np.cumsum(counts.counts)
    at = int(np.searchsorted(up_to, rank, "right"))
    return Beginning(int(counts.bits[at]), rank - int(up_to[at] - counts.counts[at]))


def _level(sought: Sought) -> float:
    numbers = np.array([each.bits for each in sought], np.int64).view(np.float64)
    return level_of(float(np.mean(numbers))) if sought else 0.0
