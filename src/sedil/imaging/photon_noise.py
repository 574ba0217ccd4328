"""Noise of photon counts: made even before the work, and an unbiased way back after it.

A pixel is ``offset + gain * n + e``: n photons, a Poisson number, and e, Gaussian noise of reading it out.
The root of Anscombe (1948), as Starck, Murtagh and Bijaoui (1998) extend it to e, has noise of level 1
wherever there are a few photons. What is clean in it is a mean of roots, not the root of a mean: the way back
is the inverse of that mean as a function of the number of photons, tabulated here by summing the Poisson
series, an idea of Makitalo and Foi (2011, 2013). Roots of less than two photons or so have less noise: how
much less, the same series tells.
"""

from __future__ import annotations

from functools import lru_cache
from math import ldexp, sqrt
from typing import NamedTuple

import numpy as np
from array_api_compat import array_namespace
from array_api_compat import device as device_of
from scipy.ndimage import uniform_filter

from sedil.arrays import AnyArray, Array, to_numpy
from sedil.imaging.measured_noise import NoiseEstimate, measure_noise
from sedil.imaging.noise_levels import NoiseLevels
from sedil.imaging.pixels import Units

_MOST_PHOTONS = 250  # of the table; beyond, the series of the mean root is known to three decimals
_TABLE = 1500
# In the largest value of an image.
_LEAST_GAIN, _MOST_GAIN, _MOST_READ_NOISE, _MOST_OFFSET = 1e-12, 16, 16, 1e4
_FARTHEST_BELOW, _MOST_BELOW = 4, 0.01  # in levels of read noise; share of pixels that may be lower
# Pixels over which the number of photons around one is the mean; the least noise of roots that groups get,
# chosen on training images; and that from which on it is 1 for all.
_AROUND, _LEAST_LEVEL, _NEARLY_EVEN = 121, 0.5, 0.97
_NODES = 401  # of the normal density of the read noise


class PhotonNoise(NamedTuple):
    """What a pixel is: `offset` without light, and `gain` more for each photon; and the noise of reading it.

    In the units of the pixels.
    """

    gain: float
    read_noise: float = 0.0
    offset: float = 0.0

    @property
    def _read(self) -> float:
        """Of the noise of reading, in photons."""
        return self.read_noise / self.gain

    def even(self, pixels: AnyArray) -> AnyArray:
        """Pixels with noise of level 1."""
        xp = array_namespace(pixels)
        photons = (pixels - self.offset) * (1 / self.gain)
        return 2 * xp.sqrt(xp.clip(photons + (0.375 + self._read**2), min=0))

    def restored(self, even: AnyArray) -> AnyArray:
        """Pixels again, from clean roots."""
        photons, roots, _ = _roots(self._read)
        own = to_numpy(even).astype(np.float64)
        found = np.interp(own, roots, photons)
        beyond = np.square(own / 2) - 0.125 - self._read**2
        found = self.offset + self.gain * np.where(own > roots[-1], beyond, found)
        return array_namespace(even).asarray(found, dtype=even.dtype, device=device_of(even))

    def levels(self, pixels: Array, channel_axis: int | None) -> NoiseLevels:
        """Noise of the roots of pixels: 1, and less where the mean around a pixel has few photons."""
        light = (to_numpy(pixels).astype(np.float64) - self.offset) / self.gain
        light = light if channel_axis is None else light.mean(axis=channel_axis)
        around = uniform_filter(light, max(round(_AROUND ** (1 / light.ndim)), 3))
        photons, _, spreads = _roots(self._read)
        levels = np.maximum(np.interp(around, photons, spreads), _LEAST_LEVEL)
        return NoiseLevels(1.0) if levels.min() > _NEARLY_EVEN else NoiseLevels.of_map(levels, None)


def plan_photon_noise(
    pixels: Array,
    units: Units,
    channel_axis: int | None,
    gain: float | None,
    read_noise: float | None,
    offset: float | None,
) -> PhotonNoise:
    """What a caller says of the photons, in the units of the image, for its pixels; the rest is estimated."""
    # As numbers of Python: those of narrow types overflow.
    gain, read_noise, offset = (None if each is None else float(each) for each in (gain, read_noise, offset))
    _require_like_image(units, gain, read_noise, offset)
    black = ldexp((offset or 0.0) - units.offset, units.exponent)
    if gain is None:
        found = found_photons(measure_noise(pixels - black, channel_axis, "poisson-gaussian"), Units())
        own_gain, own_read = found.gain, found.read_noise
        black += found.offset if offset is None else 0.0
    else:
        own_gain, own_read = ldexp(gain, units.exponent), 0.0
    if read_noise is not None:
        own_read = ldexp(read_noise, units.exponent)
    _require_light(pixels, black - _FARTHEST_BELOW * own_read - own_gain)
    return PhotonNoise(own_gain, own_read, black)


def found_photons(found: NoiseEstimate, units: Units, *, is_given: bool = False) -> PhotonNoise:
    """What was measured in an image, for its pixels; channels without noise tell nothing.

    What a caller has given may be of another image, and is checked.
    """
    noisy = np.array(found.sigma) > 0
    gains, read_noises, offsets = (
        np.array(each)[noisy] for each in (found.gain, found.read_noise, found.offset)
    )
    gain = float(np.mean(gains)) if len(gains) else 0.0
    if gain == 0:
        raise ValueError(
            "The gain cannot be found in this image: it has too few photons, or its noise does not grow "
            'with brightness. Give gain, or noise="white".'
        )
    read_noise = sqrt(np.mean(np.square(read_noises)))
    offset = float(np.mean(offsets))
    if is_given:
        _require_like_image(units, gain, read_noise, offset)
    black = offset - units.offset
    return PhotonNoise(*(ldexp(each, units.exponent) for each in (gain, read_noise, black)))


def _require_like_image(
    units: Units, gain: float | None, read_noise: float | None, offset: float | None
) -> None:
    """Refuse what must be meant for other units."""
    if gain is not None and gain > _MOST_GAIN * units.largest:
        raise ValueError(f"gain {gain:g} is far above the values of the image: no pixel has a photon.")
    if gain is not None and gain < _LEAST_GAIN * units.largest:
        raise ValueError(f"gain {gain:g} is far below the values of the image: check its units.")
    if read_noise is not None and read_noise > _MOST_READ_NOISE * units.largest:
        raise ValueError(f"read_noise {read_noise:g} is far above the values of the image: check its units.")
    if offset is not None and abs(offset) > _MOST_OFFSET * units.largest:
        raise ValueError(f"offset {offset:g} is far from the values of the image: check its units.")


def _require_light(pixels: Array, lowest: float) -> None:
    """Refuse an image with many pixels that are darker than no photon can be."""
    if float(np.mean(to_numpy(pixels) < lowest)) > _MOST_BELOW:
        raise ValueError("Many pixels lie below the offset, where no photon is: give a lower offset.")


@lru_cache(maxsize=8)
def _roots(read: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers of photons; the mean root of what is measured of so many, and its standard deviation."""
    from scipy.stats import poisson  # takes a third of a second to load

    photons = np.linspace(0, np.sqrt(_MOST_PHOTONS), _TABLE) ** 2
    counts = np.arange(_MOST_PHOTONS + 12 * int(np.sqrt(_MOST_PHOTONS)))
    nodes = np.linspace(-8, 8, _NODES)
    density = np.exp(-(nodes**2) / 2)
    roots = 2 * np.sqrt(np.maximum(counts[:, None] + read * nodes + 0.375 + read**2, 0))
    moments = np.stack([roots, roots**2]) @ (density / density.sum())
    mean, square = moments @ poisson.pmf(counts, photons[:, None]).T
    return photons, mean, np.sqrt(np.maximum(square - mean**2, 0))
