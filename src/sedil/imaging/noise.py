"""How noisy an image is."""

from __future__ import annotations

import numpy as np


def estimate_noise(image: np.ndarray, channel_axis: int | None = None) -> float:
    """Standard deviation of white Gaussian noise in an image, in its own units.

    The median absolute value of the finest wavelet coefficients (scikit-image's `estimate_sigma`), over
    all channels together.

    Parameters
    ----------
    image : ndarray
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
    """
    from skimage.restoration import estimate_sigma

    return float(estimate_sigma(image.astype(np.float64), channel_axis=channel_axis, average_sigmas=True))
