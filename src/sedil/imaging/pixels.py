"""From the image of a caller to the numbers that are computed on, and back."""

from __future__ import annotations

from typing import Any

from array_api_compat import array_namespace, is_numpy_array

from sedil import checks
from sedil.arrays import Array, detached


def as_pixels(image: Array, dtype: str | None) -> Array:
    """The image as a new array in the precision that is computed in, its last axis contiguous.

    The rule is that of `sedil.checks.as_working_array`, and all integers are computed on in float32.
    """
    checks.require_precision(dtype)
    xp = array_namespace(image)
    if dtype is None and not is_numpy_array(image) and image.dtype == xp.float64:
        dtype = "float64"
    pixels = xp.astype(detached(image), getattr(xp, dtype or "float32"), copy=True)
    # A copy keeps the order of axes in memory, in NIfTI that of Fortran; flat it has that of C, as sums need.
    return xp.reshape(xp.reshape(pixels, (-1,)), image.shape)


def copied(image: Array) -> Array:
    """The image itself, as a new array."""
    return array_namespace(image).asarray(detached(image), copy=True)


def like_image(values: Array, image: Array) -> Array:
    """Values in the type of the image: integers rounded and clipped to their range."""
    return as_type(values, image.dtype)


def as_type(values: Array, dtype: Any) -> Array:
    """Values in a type of their library: integers rounded and clipped to its range."""
    xp = array_namespace(values)
    if xp.isdtype(dtype, "bool"):
        return values > 0.5
    if not xp.isdtype(dtype, "integral"):
        return xp.astype(values, dtype)
    limits = xp.iinfo(dtype)
    # A float64 has 53 bits: of wider integers the largest is not among them, but rounded down it is.
    largest = limits.max - (limits.max >> 53)
    return xp.astype(xp.clip(xp.round(xp.astype(values, xp.float64)), limits.min, largest), dtype)
