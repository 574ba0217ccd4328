"""From the image of a caller to the numbers that are computed on, and back; colours one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import array_namespace
from array_api_compat import device as device_of

from sedil import checks
from sedil.arrays import AnyArray, Array, contiguous, detached
from sedil.choices import Precision


def as_pixels(image: AnyArray, dtype: Precision | None) -> AnyArray:
    """The image as a new array in row-major memory, in the precision that is computed in.

    The rule is that of `sedil.checks.as_working_array`, and all integers are computed on in float32.
    """
    own = detached(image)
    pixels = checks.in_working_precision(own, "image", dtype)
    return contiguous(copied(pixels) if pixels.dtype == own.dtype else pixels)


def copied(image: AnyArray) -> AnyArray:
    """The image itself, as a new array."""
    return array_namespace(image).asarray(detached(image), copy=True)


def like_image(values: AnyArray, image: Array) -> AnyArray:
    """Values in the type of the image: integers rounded and clipped to their range."""
    return as_type(values, image.dtype)


def as_type(values: AnyArray, dtype: Any) -> AnyArray:
    """Values in a type of their library: integers rounded and clipped to its range."""
    xp = array_namespace(values)
    if xp.isdtype(dtype, "bool"):
        return values > 0.5
    if not xp.isdtype(dtype, "integral"):
        return xp.astype(values, dtype)
    limits = xp.iinfo(dtype)
    # A float64 has 53 bits: of wider integers the largest is not among them, but rounded down it is.
    largest = limits.max - (limits.max >> 53)
    return xp.astype(xp.clip(xp.round(xp.astype(values, xp.float64)), limits.min, largest), dtype)


# Luminance and two chrominances as an orthonormal basis, so that white noise keeps its level in each.
_OPPONENT = np.array([[1, 1, 1], [1, 0, -1], [1, -2, 1]]) / np.sqrt([[3], [2], [6]])


def split_channels(pixels: AnyArray, channel_axis: int | None, *, rotate: bool = True) -> list[AnyArray]:
    """Channels to be restored one by one; three as luminance and two chrominances, unless not to `rotate`."""
    if channel_axis is None:
        return [pixels]
    xp = array_namespace(pixels)
    channels = xp.moveaxis(pixels, channel_axis, 0)
    if rotate and channels.shape[0] == 3:
        channels = xp.tensordot(_basis(pixels), channels, axes=1)
    return [contiguous(channels[k, ...]) for k in range(channels.shape[0])]


def join_channels(channels: list[AnyArray], channel_axis: int | None, *, rotate: bool = True) -> AnyArray:
    """Inverse of `split_channels`."""
    if channel_axis is None:
        return channels[0]
    xp = array_namespace(channels[0])
    stacked = xp.stack(channels)
    if rotate and len(channels) == 3:
        stacked = xp.tensordot(_basis(stacked).T, stacked, axes=1)
    return xp.moveaxis(stacked, 0, channel_axis)


def _basis(like: AnyArray) -> AnyArray:
    return array_namespace(like).asarray(_OPPONENT, dtype=like.dtype, device=device_of(like))
