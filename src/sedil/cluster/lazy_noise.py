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
from sedil.cluster.parts import (
    Layout,
    chunks_to_work_in,
    halo_of_width,
    layout_of,
    map_parts,
    with_halos,
)
from sedil.cluster.reductions import again, merged
from sedil.imaging.noise_details import DETAIL_LENGTH, level_of, require_details, sizes_of_details
from sedil.patch_grid import Part

_BITS_LEFT = 40, 20, 0  # after each time


class Counts(NamedTuple):
    """How often numbers begin with these bits."""

    bits: np.ndarray
    counts: np.ndarray


class Sought(NamedTuple):
    """A number of which the first bits are known: it comes at `rank` among those that begin with them."""

    bits: int
    rank: int


def lazy_estimate(image: Any, channel_axis: int | None) -> Any:
    """See `sedil.estimate_noise`: a Dask array without axes."""
    from dask import delayed

    image = as_lazy_image(image, channel_axis)
    first = channels_first(image, channel_axis)
    require_details(first.shape[1:], image.shape)
    chunks = chunks_to_work_in(first.chunks[1:], [halo_of_details(first.shape[1:])])
    first = first.rechunk((first.chunks[0], *chunks))
    scale = lazy_scale(first, "float64")
    level = lazy_level(lazy_channels(again(first, scale), scale, "float64", rotate=False), scale)
    return dask_array().from_delayed(delayed(_in_units)(level, scale), (), dtype=np.float64)


def _in_units(level: float, scale: Scale) -> float:
    return ldexp(level, -scale.units.exponent)


def lazy_level(channels: Any, scale: Any) -> Any:
    """Standard deviation of white noise in (channels, *shape), as a Delayed; see `sedil.estimate_noise`.

    `scale` is the `Scale` of the image as a Delayed.
    """
    from dask import delayed

    layout = layout_of(channels.chunks[1:], halo_of_details(channels.shape[1:]))
    sought: Any = None
    for left in _BITS_LEFT:
        held = with_halos(channels if sought is None else again(channels, sought), layout)
        counts = _counted(held, layout, sought, left, scale)
        sought = delayed(_middle if sought is None else partial(_followed, left))(
            *([counts] if sought is None else [counts, sought])
        )
    return delayed(_level)(sought)


def halo_of_details(shape: Sequence[int]) -> Any:
    """The filter looks ahead."""
    return halo_of_width(shape, (0,) * len(shape), (DETAIL_LENGTH - 1,) * len(shape))


def _counted(held: Any, layout: Layout, sought: Any, left: int, scale: Any) -> Any:
    before = _BITS_LEFT[_BITS_LEFT.index(left) - 1]
    blocks = map_parts(
        _counts_of_part, [held], layout, object, scale=scale, sought=sought, left=left, before=before
    )
    return merged(blocks, _merged_counts)


def _counts_of_part(
    held: np.ndarray, part: Part, scale: Scale, sought: Sequence[Sought] | None, left: int, before: int
) -> Counts:
    bits = sizes_of_details(held, scale.largest).view(np.int64)
    if sought is not None:
        bits = bits[np.isin(bits >> before, [each.bits for each in sought])]
    return Counts(*np.unique(bits >> left, return_counts=True))


def _merged_counts(parts: Sequence[Counts]) -> Counts:
    bits, place = np.unique(np.concatenate([part.bits for part in parts]), return_inverse=True)
    counts = np.zeros(len(bits), np.int64)
    np.add.at(counts, place, np.concatenate([part.counts for part in parts]))
    return Counts(bits, counts)


def _middle(counts: Counts) -> list[Sought]:
    """The two numbers in the middle of all, which are one if there is an odd number; none if there is none."""
    n = int(counts.counts.sum())
    return [_found(counts, rank) for rank in ((n - 1) // 2, n // 2)] if n else []


def _followed(left: int, counts: Counts, sought: Sequence[Sought]) -> list[Sought]:
    """The same numbers with more of their bits."""
    gained = _BITS_LEFT[_BITS_LEFT.index(left) - 1] - left
    own = [counts.bits >> gained == each.bits for each in sought]
    return [
        _found(Counts(counts.bits[mine], counts.counts[mine]), each.rank)
        for each, mine in zip(sought, own, strict=True)
    ]


def _found(counts: Counts, rank: int) -> Sought:
    up_to = np.cumsum(counts.counts)
    at = int(np.searchsorted(up_to, rank, "right"))
    return Sought(int(counts.bits[at]), rank - int(up_to[at] - counts.counts[at]))


def _level(sought: Sequence[Sought]) -> float:
    numbers = np.array([each.bits for each in sought], np.int64).view(np.float64)
    return level_of(float(np.mean(numbers))) if sought else 0.0
