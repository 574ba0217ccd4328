"""Contrast that a denoiser takes away together with the noise, given back.

What is shrunk and averaged varies less than what it estimates: of a good estimate the variance is that of the
clean image less the mean squared error. So around each pixel the image is stretched about its mean until the
variance is right. Where hardly anything is left to stretch, it is more likely noise, and stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from array_api_compat import array_namespace

from sedil.arrays import AnyArray, Array, window_sums

# Chosen on photographs and a part of the head that are not in a table (docs/groups.md).
ERROR = 0.07  # mean squared error where there is texture, beside the variance of the noise
CAUTION = 0.75  # of that error: a variance far below it is not stretched
_SIDES = {2: 7, 3: 5}  # of the patches that a pixel is compared with, by the number of axes


def patches_of_contrast(shape: Sequence[int]) -> tuple[int, ...] | None:
    """The shape of patches in an image of this shape; None where contrast is left alone, as in signals."""
    side = _SIDES.get(len(shape))
    return None if side is None else tuple(min(side, own) for own in shape)


def with_contrast(clean: AnyArray, noise: Array | float, patch_shape: Sequence[int]) -> AnyArray:
    """The image with the contrast that it should have.

    Parameters
    ----------
    clean : array
        An image without its noise.
    noise : array or float
        The variance that the noise had, everywhere or at each pixel.
    patch_shape : sequence of int
        Means and variances around a pixel are those over all patches of this shape that hold it.

    Returns
    -------
    array
        Like `clean`.
    """
    xp = array_namespace(clean)
    counts = _sum_around(xp.ones_like(clean), patch_shape)
    rest = clean - _sum_around(clean, patch_shape) / counts
    variance = _sum_around(rest**2, patch_shape) / counts
    error = ERROR * noise
    total = variance + CAUTION * error
    total = xp.where(total > 0, total, xp.ones_like(total))  # flat, and without noise from the beginning
    # error / variance in texture, and nearly nothing where it is flat
    missing = (error / total) * (variance / total)
    return clean + (xp.sqrt(1 + missing) - 1) * rest


def _sum_around(values: AnyArray, patch_shape: Sequence[int]) -> AnyArray:
    """Sums over all patches that hold a pixel, an entry counted once for each of them."""
    sums: Any = window_sums(values, patch_shape, forwards=False)
    for axis, length in enumerate(patch_shape):
        beyond = (slice(None),) * axis + (slice(values.shape[axis] - length + 1, None), ...)
        sums[beyond] = 0  # patches that would end outside
    return window_sums(sums, patch_shape, forwards=True)
