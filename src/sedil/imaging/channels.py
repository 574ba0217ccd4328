"""Colour channels: restored one by one, three of them as luminance and two chrominances."""

from __future__ import annotations

import numpy as np
from array_api_compat import array_namespace
from array_api_compat import device as device_of

from sedil.arrays import AnyArray, contiguous

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
