"""How strong the noise is in each channel and in each place, and channels in which it is alike.

Methods work on channels with one level of noise and, where it differs from place to place, a map of how far
it is above or below that level. docs/noise.md tells why.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace, is_dask_array
from array_api_compat import device as device_of
from scipy.ndimage import uniform_filter

from sedil import checks
from sedil.arrays import AnyArray, Array, detached, to_numpy
from sedil.imaging.measured_noise import NoiseEstimate
from sedil.imaging.pixels import Units, join_channels, split_channels, without_channels

Sigma = float | Sequence[Any] | Array  # a number, one for each channel, or a map

_ALIKE = 1.1  # estimates of channels that differ by less are those of one level
_BRIGHTEST = 1e300  # between brightnesses up to it, levels are still numbers
_AROUND = 7  # pixels, over which brightness is the mean
# Noise of a channel beside that of all of them together: one that is nearly clean would else be all that
# groups look at.
_LEAST_CHANNEL = 1 / 16


class NoiseLevels(NamedTuple):
    """Noise of the pixels of an image, in their units.

    Attributes
    ----------
    level : standard deviation, by mean square over channels and places
    channels : that of each channel in multiples of `level`; empty where they are alike
    places : (*shape,) float64, without channels: that of each place in multiples of `level`, by mean square
        over channels, or None where it is the same everywhere
    """

    level: float
    channels: tuple[float, ...] = ()
    places: np.ndarray | None = None

    @classmethod
    def of_map(cls, sigma: np.ndarray, channel_axis: int | None) -> NoiseLevels:
        """For standard deviations of the shape of an image, or one that has length 1 where they are alike."""
        variances = np.square(
            np.moveaxis(sigma, channel_axis, 0) if channel_axis is not None else sigma[None]
        )
        axes = tuple(range(1, variances.ndim))
        of_channel = np.mean(variances, axis=axes)
        level = float(np.sqrt(np.mean(of_channel)))
        if level == 0:
            return cls(0.0)
        channels: tuple[float, ...] = ()
        if not np.all(of_channel == of_channel[0]):
            channels = tuple(np.maximum(np.sqrt(of_channel) / level, _LEAST_CHANNEL).tolist())
        places = None
        if variances[0].size > 1:
            scales = np.reshape(channels or (1.0,), (-1, *(1,) * len(axes)))
            places = np.sqrt(np.mean(variances / (scales * level) ** 2, axis=0))
        return cls(level, channels, places)

    def split(self, pixels: AnyArray, channel_axis: int | None) -> list[AnyArray]:
        """Channels with noise of `level` in each; of three the first is luminance."""
        return split_channels(pixels, channel_axis, levels=self.channels)

    def join(self, channels: list[AnyArray], channel_axis: int | None) -> AnyArray:
        """Inverse of `split`."""
        return join_channels(channels, channel_axis, levels=self.channels)

    def places_like(self, channel: AnyArray) -> AnyArray | None:
        """The map as an array of the kind and shape of a channel."""
        if self.places is None:
            return None
        xp = array_namespace(channel)
        own = xp.asarray(self.places, dtype=channel.dtype, device=device_of(channel))
        return xp.broadcast_to(own, channel.shape)


def estimated_levels(
    found: NoiseEstimate, pixels: Array, units: Units, channel_axis: int | None
) -> NoiseLevels:
    """The noise that was found in an image, for its pixels; if correlated, by the brightness around each."""
    sigma = np.ldexp(np.array(found.sigma), units.exponent)
    if sigma.max() <= _ALIKE * sigma.min():
        sigma = np.full(len(sigma), np.sqrt(np.mean(sigma**2)))
    sigma = sigma.reshape(-1, *(1,) * (pixels.ndim - (channel_axis is not None)))
    if np.all(found.levels == 1):
        return NoiseLevels.of_map(sigma, 0)
    own = to_numpy(pixels).astype(np.float64)
    around = uniform_filter(own if channel_axis is None else own.mean(axis=channel_axis), _AROUND)
    with np.errstate(over="ignore"):  # an estimate that was given may be of a far brighter image
        brightness = np.ldexp(found.brightness.mean(axis=1) - units.offset, units.exponent)
    brightness = np.clip(brightness, -_BRIGHTEST, _BRIGHTEST)
    return NoiseLevels.of_map(sigma * np.interp(around, brightness, found.levels), 0)


def as_sigma(
    sigma: Any, shape: Sequence[int], channel_axis: int | None, *, zero_allowed: bool = False
) -> float | np.ndarray:
    """What a caller gives as `sigma`: a number, or float64 with one axis for each of the image.

    An axis has the length of that of the image, or 1 where the noise is alike along it.
    """
    if not checks.is_list_or_array(sigma):
        number = sigma.item() if checks.is_array_of_one(sigma) else sigma
        return checks.require_positive(number, "sigma", zero_allowed=zero_allowed)
    shape = tuple(shape)
    given = to_numpy(checks.as_real_array(sigma, "sigma")).astype(np.float64)
    n_axes = len(shape)
    if channel_axis is not None:
        channel_axis %= n_axes
        if given.shape == (shape[channel_axis],):
            given = given.reshape([-1 if axis == channel_axis else 1 for axis in range(n_axes)])
        elif given.ndim == n_axes - 1 and _fits(given.shape, without_channels(shape, channel_axis)):
            given = np.expand_dims(given, channel_axis)
    given = given.reshape((1,) * (n_axes - given.ndim) + given.shape) if given.ndim < n_axes else given
    if given.ndim != n_axes or not _fits(given.shape, shape):
        raise ValueError(
            f"sigma must be a number, one for each channel, or a map that fits the image of shape {shape}, "
            f"got shape {tuple(np.shape(sigma))}."
        )
    checks.require_finite(given, "sigma")
    if given.min() < 0:
        raise ValueError(f"sigma must not be negative, got {given.min():g}: 0 leaves a pixel as it is.")
    return given


def _fits(lengths: Sequence[int], shape: Sequence[int]) -> bool:
    """Whether an array of these lengths broadcasts to a shape with as many axes."""
    return all(own in (1, side) for own, side in zip(lengths, shape, strict=True))


def as_one_sigma(sigma: Any, *, zero_allowed: bool = False) -> Any:
    """What a caller gives as `sigma` for a Dask array, which has one level of noise."""
    if is_dask_array(sigma) and sigma.shape == ():  # that of `estimate_noise`
        if sigma.dtype.kind not in "biuf":
            raise TypeError(f"sigma must be a real number, got a Dask array of dtype {sigma.dtype}.")
        return sigma
    if is_dask_array(sigma) or checks.is_list_or_array(sigma):
        raise ValueError(
            "sigma of a Dask array must be one number: a map is for an image in memory, call "
            "image.compute() first."
        )
    return checks.require_positive(sigma, "sigma", zero_allowed=zero_allowed)


def in_pixels(sigma: float | np.ndarray, units: Units, channel_axis: int | None) -> NoiseLevels:
    """Checked standard deviations in the units of an image, for its pixels."""
    if isinstance(sigma, float):
        return NoiseLevels(units.level(sigma))
    largest = float(sigma.max())
    scale = units.level(largest) / largest if largest else 1.0
    return NoiseLevels.of_map(sigma * scale, channel_axis)


def is_alike(sigma: float | np.ndarray | None, channel_axis: int) -> bool:
    """Whether checked standard deviations are the same in all channels, or not given."""
    if sigma is None or isinstance(sigma, float):
        return True
    return bool(np.all(sigma == sigma.take([0], axis=channel_axis)))


def mean_of_channels(sigma: float | np.ndarray, channel_axis: int | None) -> float | np.ndarray:
    """By mean square; all channels have it then."""
    if isinstance(sigma, float) or channel_axis is None:
        return sigma
    mean: np.ndarray = np.sqrt(np.mean(np.square(sigma), axis=channel_axis, keepdims=True))
    return mean


def left_alone(result: AnyArray, image: Array, sigma: float | np.ndarray) -> AnyArray:
    """The result, and the image itself where it has no noise."""
    if isinstance(sigma, float) or sigma.min() > 0:
        return result
    xp = array_namespace(result)
    still = xp.asarray(sigma == 0, device=device_of(result))
    return xp.where(xp.broadcast_to(still, result.shape), detached(image), result)
