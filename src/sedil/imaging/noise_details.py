"""The finest detail of an image, in which noise shows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

# High-pass filter of Daubechies' wavelet with two vanishing moments: blind to ramps, unit length.
_DETAIL = np.array([1 - np.sqrt(3), np.sqrt(3) - 3, 3 + np.sqrt(3), -1 - np.sqrt(3)]) / np.sqrt(32)
DETAIL_LENGTH = len(_DETAIL)
_ROUNDING = 1e-9  # of the largest value
_MEDIAN_OF_NORMAL = 0.6744897501960817  # median of |z| for a standard normal z


def require_details(sides: Sequence[int], shape: Sequence[int]) -> None:
    """Refuse an image of this shape if its sides, channels left out, are too short for the filter."""
    if min(sides) < DETAIL_LENGTH:
        raise ValueError(f"The noise of an image of shape {tuple(shape)} cannot be estimated: give sigma.")


def sizes_of_details(channels: np.ndarray, largest: float) -> np.ndarray:
    """Sizes of the finest diagonal wavelet coefficients of (channels, *shape), flat.

    Those that rounding explains in an image whose `largest` value is this are left out: saturated and
    synthetic regions have no noise to show.
    """
    details = channels
    for axis in range(1, channels.ndim):
        windows = np.lib.stride_tricks.sliding_window_view(details, DETAIL_LENGTH, axis=axis)
        details = windows @ _DETAIL
    details = np.abs(details)
    return details[details > _ROUNDING * largest]


def level_of(median: float) -> float:
    """The standard deviation of noise whose coefficients have a median size of this."""
    return median / _MEDIAN_OF_NORMAL
