"""How noisy an image is."""

from __future__ import annotations

from math import ldexp

import numpy as np

from sedil import checks
from sedil.arrays import Array, to_numpy
from sedil.imaging.pixels import Units

# High-pass filter of Daubechies' wavelet with two vanishing moments: blind to ramps, unit length.
_DETAIL = np.array([1 - np.sqrt(3), np.sqrt(3) - 3, 3 + np.sqrt(3), -1 - np.sqrt(3)]) / np.sqrt(32)
_ROUNDING = 1e-9  # of the largest value
_MEDIAN_OF_NORMAL = 0.6744897501960817  # median of |z| for a standard normal z


def estimate_noise(image: Array, channel_axis: int | None = None) -> float:
    """Standard deviation of white Gaussian noise in an image, in its own units.

    The median absolute value of the finest diagonal wavelet coefficients (Donoho and Johnstone, 1994),
    over all channels together.

    Parameters
    ----------
    image : NumPy array, or a tensor, which is fetched from its device, in any units
        At least four entries along each axis.
    channel_axis : int, optional
        Axis of the colour channels.

    Returns
    -------
    float

    Notes
    -----
    Fine texture is taken for noise, so that very clean images seem noisier than they are; and noise that
    was clipped at the ends of the range, as in an 8-bit file with sigma above 30 or so, is underestimated.
    Give `sigma` where you know it.

    Examples
    --------
    >>> import numpy as np, sedil
    >>> noisy = 100 + 10 * np.random.default_rng(0).standard_normal((64, 64))
    >>> round(sedil.estimate_noise(noisy))
    10
    """
    image = checks.as_image(image, channel_axis)
    own = to_numpy(image)
    units = Units.of(own)
    values = units.pixels(own, "float64")
    checks.require_finite(values, "image")
    details = values
    if channel_axis is not None:
        details = np.moveaxis(details, channel_axis, 0)
    for axis in range(channel_axis is not None, details.ndim):
        if details.shape[axis] < len(_DETAIL):
            raise ValueError(
                f"The noise of an image of shape {values.shape} cannot be estimated: give sigma."
            )
        windows = np.lib.stride_tricks.sliding_window_view(details, len(_DETAIL), axis=axis)
        details = windows @ _DETAIL
    # Saturated and synthetic regions have no noise to show, only what rounding leaves.
    details = np.abs(details)
    details = details[details > _ROUNDING * np.abs(values).max()]
    level = float(np.median(details)) / _MEDIAN_OF_NORMAL if details.size else 0.0
    return ldexp(level, -units.exponent)
