"""How noisy an image is."""

from __future__ import annotations

from math import ldexp

import numpy as np
from array_api_compat import is_dask_array

from sedil import checks
from sedil.arrays import Array, to_numpy
from sedil.imaging.noise_details import level_of, require_details, sizes_of_details
from sedil.imaging.pixels import Units


def estimate_noise(image: Array, channel_axis: int | None = None) -> float:
    """Standard deviation of white Gaussian noise in an image, in its own units.

    The median absolute value of the finest diagonal wavelet coefficients (Donoho and Johnstone, 1994),
    over all channels together.

    Parameters
    ----------
    image : NumPy array, or a tensor, which is fetched from its device, or a Dask array, in any units
        At least four entries along each axis.
    channel_axis : int, optional
        Axis of the colour channels.

    Returns
    -------
    float
        Of a Dask array a Dask array without axes, not yet computed (docs/cluster.md).

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
    if is_dask_array(image):
        from sedil.cluster.lazy_noise import lazy_estimate

        return lazy_estimate(image, channel_axis)
    image = checks.as_image(image, channel_axis)
    own = to_numpy(image)
    units = Units.of(own)
    values = units.pixels(own, "float64")
    checks.require_finite(values, "image")
    channels = values[None] if channel_axis is None else np.moveaxis(values, channel_axis, 0)
    require_details(channels.shape[1:], values.shape)
    details = sizes_of_details(channels, np.abs(values).max())
    return ldexp(level_of(float(np.median(details)) if details.size else 0.0), -units.exponent)
