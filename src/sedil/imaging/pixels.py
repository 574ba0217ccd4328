"""From the image of a caller to the numbers that are computed on, and back."""

from __future__ import annotations

from typing import Any

from array_api_compat import array_namespace

from sedil import checks
from sedil.arrays import AnyArray, Array, contiguous, detached
from sedil.choices import Precision


def as_pixels(image: AnyArray, dtype: Precision | None) -> AnyArray:
    """The image as a new array in row-major memory, in the precision that is computed in.

    The rule is that of `sedil.checks.as_working_array`, and all integers are computed on in float32.
    """
    own = detached(image)
    pixels = checks.in_working_precision(own, "image", dtype)
    return contiguous(copied(pixels) if pixels.dtype == own.dtype else pixels)


def copied(image: AnyArray) -> AnyArray:
    """The image itself, as a new array."""
    return array_namespace(image).asarray(detached(image), copy=True)


def like_image(values: AnyArray, image: Array) -> AnyArray:
    """Values in the type of the image: integers rounded and clipped to their range."""
    return as_type(values, image.dtype)


def as_type(values: AnyArray, dtype: Any) -> AnyArray:
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
