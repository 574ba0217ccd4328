"""From the image of a caller to the numbers that are computed on, and back; colours one by one.

Images come in any units. Where these suit float32, as nearly all do, their numbers are taken as they are. A
large offset is taken off first, as float32 would hold little else, and very large or small numbers are
multiplied by a power of two, which is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, ldexp
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace
from array_api_compat import device as device_of

from sedil import checks
from sedil.arrays import AnyArray, Array, contiguous, detached, exponent_to_work_in, times_power_of_two
from sedil.choices import Precision

_LARGEST_OFFSET = 4096  # ranges of the image: float32 then has 12 bits or more for what varies
_STRONGEST = 2.0**60  # noise: its square is still a number to float32
_LEAST_RANGE = 255  # of integers, whatever a part of an image holds


class Units(NamedTuple):
    """What an image is measured in: ``image = offset + pixels / 2**exponent``.

    Attributes
    ----------
    offset : float, or int for integers
    exponent : int
    spread : float
        Range of the image, in its own units.
    largest : float
        Largest size of a value there; of integers at least 255.
    """

    offset: float = 0
    exponent: int = 0
    spread: float = 0.0
    largest: float = 0.0

    @classmethod
    def of(cls, image: Array) -> Units:
        """Units that suit an image; of one that is not finite those it has, for others to complain about."""
        return cls.between(*extremes(detached(image)))

    @classmethod
    def between(cls, low: float, high: float) -> Units:
        """Units that suit an image of these extremes, which are of type int for integers."""
        if not (isfinite(low) and isfinite(high)):
            return cls()
        spread, largest = high - low, max(abs(low), abs(high))
        offset = low if largest > _LARGEST_OFFSET * spread else 0
        exponent = exponent_to_work_in(float(spread if offset else largest))
        is_whole = isinstance(low, int)
        return cls(offset, exponent, float(spread), float(max(largest, _LEAST_RANGE if is_whole else 0)))

    def pixels(self, image: AnyArray, dtype: Precision | None) -> AnyArray:
        """The image as a new array in row-major memory, in the precision that is computed in.

        The rule is that of `sedil.checks.as_working_array`, and all integers are computed on in float32.
        """
        own = detached(image)
        if self.offset or self.exponent:
            xp = array_namespace(own)
            shifted = xp.astype(own - of_type(self.offset, own), xp.float64) if self.offset else own
            wide = times_power_of_two(xp.astype(shifted, xp.float64), self.exponent)
            wanted = checks.working_precision(dtype, own)
            pixels: AnyArray = checks.in_working_precision(wide, "image", wanted)
            return contiguous(copied(pixels))
        pixels = checks.in_working_precision(own, "image", dtype)
        return contiguous(copied(pixels) if pixels.dtype == own.dtype else pixels)

    def level(self, sigma: float) -> float:
        """A level of noise in the units of the pixels.

        Parts of an image may vary less than their noise, but are not far smaller: that is a mistake in units.
        """
        sigma = float(sigma)  # of any kind of number
        if self.spread == 0:
            return min(sigma, _STRONGEST)
        if sigma > max(self.spread, self.largest):
            raise ValueError(
                f"sigma {sigma:g} is larger than the values of the image (up to {self.largest:g}): "
                f"give it in the units of the image."
            )
        return ldexp(sigma, self.exponent)

    def image(self, pixels: AnyArray, dtype: Any) -> AnyArray:
        """Pixels as an image of this type: integers rounded, and all kept in its range."""
        if not (self.offset or self.exponent):
            return as_type(pixels, dtype)
        xp = array_namespace(pixels)
        wide = times_power_of_two(xp.astype(pixels, xp.float64), -self.exponent)
        if self.offset and xp.isdtype(dtype, "integral"):
            return _shifted_integers(wide, int(self.offset), dtype)
        return as_type(wide + self.offset, dtype)


def extremes(image: Array) -> tuple[float, float]:
    """Least and largest value; of integers of NumPy to the last digit, as Python's own."""
    xp = array_namespace(image)
    if xp.isdtype(image.dtype, "bool"):
        return 0, 1
    if not isinstance(image, np.ndarray) and xp.isdtype(image.dtype, "integral"):
        image = xp.astype(image, xp.float64)  # torch has no extremes of some types
    return _plain(xp.min(image)), _plain(xp.max(image))


def _plain(number: Any) -> float:
    return int(number) if isinstance(number, np.integer) else float(number)


def of_type(number: float, like: Any) -> Any:
    """A number of the type of an array of NumPy, so that integers of 64 bits stay what they are."""
    return like.dtype.type(number) if isinstance(like, np.ndarray) else number


def _shifted_integers(values: AnyArray, offset: int, dtype: Any) -> AnyArray:
    """Rounded values plus an offset that is large beside them, which float64 may not hold exactly.

    So they are added as integers: the offset with the least of the values, and how far others are above it.
    """
    xp = array_namespace(values)
    limits = xp.iinfo(dtype)
    values = xp.round(values)
    least = max(int(xp.min(values)), limits.min - offset)
    above = xp.clip(values - float(least), 0.0, float(limits.max - offset - least))
    whole = xp.astype(above, dtype)
    return whole + of_type(offset + least, whole)


def copied(image: AnyArray) -> AnyArray:
    """The image itself, as a new array."""
    return array_namespace(image).asarray(detached(image), copy=True)


def as_type(values: AnyArray, dtype: Any) -> AnyArray:
    """Values in a type of their library: integers rounded, and all clipped to its range."""
    xp = array_namespace(values)
    if xp.isdtype(dtype, "bool"):
        return values > 0.5
    if not xp.isdtype(dtype, "integral"):
        limits = xp.finfo(dtype)
        if limits.bits < xp.finfo(values.dtype).bits:
            values = xp.clip(values, float(limits.min), float(limits.max))
        return xp.astype(values, dtype)
    limits = xp.iinfo(dtype)
    # A float64 has 53 bits: of wider integers the largest is not among them, but rounded down it is.
    largest = limits.max - (limits.max >> 53)
    return xp.astype(xp.clip(xp.round(xp.astype(values, xp.float64)), limits.min, largest), dtype)


def without_channels(shape: Sequence[int], channel_axis: int | None) -> tuple[int, ...]:
    """Shape of a channel of an image of this shape."""
    lengths = list(shape)
    if channel_axis is not None:
        del lengths[channel_axis]
    return tuple(lengths)


def one_channel(image: AnyArray, channel_axis: int) -> AnyArray:
    """The first."""
    channel: AnyArray = array_namespace(image).moveaxis(detached(image), channel_axis, 0)[0, ...]
    return channel


def in_all_channels(channel: AnyArray, n_channels: int, channel_axis: int) -> AnyArray:
    """An image of so many that are all this one."""
    image: AnyArray = array_namespace(channel).stack([channel] * n_channels, axis=channel_axis)
    return image


def is_grey(image: Array, channel_axis: int | None) -> bool:
    """Whether an image has several channels that are all the same."""
    if channel_axis is None or image.shape[channel_axis] == 1:
        return False
    xp = array_namespace(image)
    channels = xp.moveaxis(detached(image), channel_axis, 0)
    return bool(xp.all(channels[1:, ...] == channels[:1, ...]))


# Luminance and two chrominances as an orthonormal basis, so that white noise keeps its level in each.
_OPPONENT = np.array([[1, 1, 1], [1, 0, -1], [1, -2, 1]]) / np.sqrt([[3], [2], [6]])


def split_channels(
    pixels: AnyArray, channel_axis: int | None, *, rotate: bool = True, levels: Sequence[float] = ()
) -> list[AnyArray]:
    """Channels to be restored one by one; three as luminance and two chrominances, unless not to `rotate`.

    With `levels`, how strong the noise of each channel is beside the others', it is alike in all that come.
    """
    if channel_axis is None:
        return [pixels]
    xp = array_namespace(pixels)
    channels = xp.moveaxis(pixels, channel_axis, 0)
    mixing = _mixing(channels.shape[0], rotate, levels)
    if mixing is not None:
        channels = xp.tensordot(_like(mixing, pixels), channels, axes=1)
    return [contiguous(channels[k, ...]) for k in range(channels.shape[0])]


def join_channels(
    channels: list[AnyArray], channel_axis: int | None, *, rotate: bool = True, levels: Sequence[float] = ()
) -> AnyArray:
    """Inverse of `split_channels`."""
    if channel_axis is None:
        return channels[0]
    xp = array_namespace(channels[0])
    stacked = xp.stack(channels)
    mixing = _mixing(len(channels), rotate, levels)
    if mixing is not None:
        inverse = mixing.T if not levels else np.linalg.inv(mixing)
        stacked = xp.tensordot(_like(inverse, stacked), stacked, axes=1)
    return xp.moveaxis(stacked, 0, channel_axis)


def _mixing(n_channels: int, rotate: bool, levels: Sequence[float]) -> np.ndarray | None:
    """The matrix that makes channels with white noise of one level; None if they are that as they come.

    Once each channel is divided by its level, a rotation keeps the noise white. Luminance is then the mean of
    the channels with weights that leave the least noise in it, and the chrominances are zero for grey.
    """
    if not (rotate and n_channels == 3):
        return np.diag(1 / np.array(levels)) if levels else None
    if not levels:
        return _OPPONENT
    weights = 1 / np.array(levels)
    rows, _ = np.linalg.qr(np.stack([weights, *(_OPPONENT[1:] / weights)]).T)
    signs = np.sign(np.sum(rows.T * _OPPONENT, axis=1, keepdims=True))
    mixing: np.ndarray = signs * rows.T * weights
    return mixing


def _like(matrix: np.ndarray, array: AnyArray) -> AnyArray:
    return array_namespace(array).asarray(matrix, dtype=array.dtype, device=device_of(array))
