"""What must be known of a whole image before any part of it is worked on: units, noise, contrast."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from sedil.checks import require_finite
from sedil.choices import Precision
from sedil.cluster.dask_arrays import dask_array
from sedil.cluster.parts import map_blocks
from sedil.cluster.reductions import Extremes, Moments, merged, merged_extremes, merged_moments
from sedil.imaging.pixels import Units, extremes, join_channels, split_channels


def channels_first(image: Any, channel_axis: int | None) -> Any:
    """A Dask image as (channels, *shape), the channels in one chunk."""
    da = dask_array()
    first = image[None] if channel_axis is None else da.moveaxis(image, channel_axis, 0)
    return first.rechunk({0: -1})


def channels_back(first: Any, channel_axis: int | None) -> Any:
    """Inverse of `channels_first`."""
    return first[0] if channel_axis is None else dask_array().moveaxis(first, 0, channel_axis)


class Scale(NamedTuple):
    """The units of a whole image; and its range and largest size as numbers that are computed on."""

    units: Units
    spread: float
    largest: float


def lazy_scale(first: Any, dtype: Precision, missing: Any = None) -> Any:
    """Of an image (channels, *shape), or what is not missing of it; see `merged`."""
    given = [first] if missing is None else [first, missing]
    blocks = map_blocks(_extremes_of, given, object, {})
    return merged(blocks, merged_extremes, partial(_scale_of, own=first.dtype, dtype=dtype))


def _extremes_of(block: np.ndarray, missing: np.ndarray | None = None) -> Extremes | None:
    known = block if missing is None else block[~missing]
    if not known.size:
        return None
    found = Extremes(*extremes(known))
    if not (isfinite(found.low) and isfinite(found.high)):
        where = "" if missing is None else ", where it is not missing,"
        require_finite(block if missing is None else np.where(missing, 0, block), f"A chunk of image{where}")
    return found


def _scale_of(found: Extremes | None, own: Any, dtype: Precision) -> Scale:
    if found is None:
        return Scale(Units(), 0.0, 0.0)
    units = Units.between(*found)
    low, high = units.pixels(np.array(found, own), "float64").astype(dtype)
    return Scale(units, float(high - low), float(max(abs(low), abs(high))))


def lazy_channels(first: Any, scale: Any, dtype: Precision) -> Any:
    """The numbers of an image (channels, *shape) that are computed on; colours are not rotated."""
    return map_blocks(_channels_of, [first], dtype, {"scale": scale}, precision=dtype)


def _channels_of(block: np.ndarray, scale: Scale, precision: Precision) -> np.ndarray:
    return pixels_of_block(block, units=scale.units, dtype=precision, rotate=False)


def lazy_pixels(first: Any, noise: Any, dtype: Precision) -> Any:
    """Those of an image to be denoised: colours are rotated; where nothing is to be done, its own numbers."""
    return map_blocks(start_of_block, [first], dtype, {"noise": noise}, precision=dtype)


def start_of_block(block: np.ndarray, noise: Noise, precision: Precision) -> np.ndarray:
    """Of a block (channels, *shape)."""
    return pixels_of_block(block, units=noise.units, dtype=precision, rotate=True) if noise.level else block


def pixels_of_block(
    block: np.ndarray, missing: np.ndarray | None = None, *, units: Units, dtype: Precision, rotate: bool
) -> np.ndarray:
    """What `Units.pixels` and `split_channels` make of a whole image, of a block (channels, *shape)."""
    if missing is not None:
        block = np.where(missing, block.dtype.type(units.offset), block)
    # The range is that of the whole image: a part may well be too small for float32, and is zero then.
    with np.errstate(under="ignore"):
        pixels = units.pixels(block, "float64").astype(dtype)
    return np.stack(split_channels(pixels, 0, rotate=rotate))


def image_of_block(pixels: np.ndarray, units: Units, dtype: Any, rotate: bool) -> np.ndarray:
    """Inverse of `pixels_of_block`, of the type of the image."""
    return units.image(join_channels(list(pixels), 0, rotate=rotate), dtype)


def lazy_moments(channels: Any, missing: Any = None) -> Any:
    """Moments of each channel, of the pixels that are known; see `merged`."""
    given = [channels] if missing is None else [channels, missing]
    return merged(map_blocks(_moments_of, given, object, {}), merged_moments)


def _moments_of(block: np.ndarray, missing: np.ndarray | None = None) -> tuple[Moments, ...]:
    if missing is None:
        return tuple(Moments.of(channel) for channel in block)
    return tuple(Moments.of(channel[~own]) for channel, own in zip(block, missing, strict=True))


class Noise(NamedTuple):
    """Of a whole image: its units, the level of noise in those of the pixels, how weak it is to a method.

    A level of zero says that there is nothing to be done.
    """

    units: Units
    level: float
    weakness: float
    is_weak_for_groups: bool


def facts_as_plain(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The noise of an image and the moments of its channels, if there are any, as JSON takes them."""
    return {name: list(each) for name, each in facts.items()}


def facts_from_plain(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Inverse of `facts_as_plain`, to the bit."""
    units, *others = plain["noise"]
    facts: dict[str, Any] = {"noise": Noise(Units(*units), *others)}
    if "moments" in plain:
        facts["moments"] = tuple(Moments(*each) for each in plain["moments"])
    return facts
