"""A `NoiseEstimate` as it comes from a caller, who may have put it together or changed it."""

from __future__ import annotations

from typing import Any

import numpy as np

from sedil import checks
from sedil.imaging.measured_noise import ALL_KINDS, NoiseEstimate

_MOST_LEVEL = 1000.0  # of a flat part beside that of the channel, which is a mean over such parts


def require_estimate(noise: NoiseEstimate) -> NoiseEstimate:
    """The same with plain arrays, if all of it is what `sedil.measure_noise` may return."""
    checks.require_choice(noise.kind, "noise.kind", ALL_KINDS)
    uncertainty = checks.require_positive(noise.uncertainty, "noise.uncertainty", zero_allowed=True)
    correlation = checks.require_finite_number(noise.correlation, "noise.correlation")
    sigma = _numbers(noise.sigma, "sigma", (None,))
    n_channels = len(sigma)
    if n_channels == 0:
        raise ValueError("noise.sigma must hold a number for each channel, got none.")
    levels = _numbers(noise.levels, "levels", (None,))
    if len(levels) and levels.max() > _MOST_LEVEL:
        raise ValueError(f"noise.levels are multiples of sigma up to {_MOST_LEVEL:g}, got {levels.max():g}.")
    return noise._replace(
        sigma=tuple(sigma.tolist()),
        uncertainty=uncertainty,
        correlation=correlation,
        gain=_for_each_channel(noise.gain, "gain", n_channels),
        read_noise=_for_each_channel(noise.read_noise, "read_noise", n_channels),
        offset=_for_each_channel(noise.offset, "offset", n_channels, any_sign=True),
        brightness=_numbers(noise.brightness, "brightness", (len(levels), n_channels), any_sign=True),
        levels=levels,
        variances=_numbers(noise.variances, "variances", (len(levels), n_channels)),
    )


def _for_each_channel(
    values: Any, name: str, n_channels: int, *, any_sign: bool = False
) -> tuple[float, ...]:
    return tuple(_numbers(values, name, (n_channels,), any_sign=any_sign).tolist())


def _numbers(values: Any, name: str, shape: tuple[int | None, ...], *, any_sign: bool = False) -> np.ndarray:
    """Finite numbers of a shape, in which None is any length."""
    array = np.asarray(checks.as_real_array(values, f"noise.{name}"), dtype=np.float64)
    lengths = [own if wanted is None else wanted for own, wanted in zip(array.shape, shape, strict=False)]
    if array.ndim != len(shape) or array.shape != tuple(lengths):
        wanted = ", ".join("n" if each is None else str(each) for each in shape)
        raise ValueError(f"noise.{name} must be of shape ({wanted}), got {array.shape}.")
    checks.require_finite(array, f"noise.{name}")
    if not any_sign and array.size and array.min() < 0:
        raise ValueError(f"noise.{name} must not be negative, got {array.min():g}.")
    return array
