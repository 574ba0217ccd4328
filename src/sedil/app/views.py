"""Pictures as a browser shows them: eight bits, and not larger than a screen needs."""

from __future__ import annotations

from math import ceil, sqrt

import numpy as np

_MOST_PIXELS = 2_000_000


class View:
    """Turns pixels of one picture or volume, before and after, into the same grey levels.

    Parameters
    ----------
    pixels : those that say which value is black and which is white: eight bits as they are, 16 bits by their
        whole range, all else by the extremes
    """

    def __init__(self, pixels: np.ndarray) -> None:
        self._is_shown_as_it_is = pixels.dtype == np.uint8
        if pixels.dtype == np.uint16:
            self._low, self._high = 0.0, 65535.0
        else:
            finite = pixels[np.isfinite(pixels)] if pixels.dtype.kind == "f" else pixels
            self._low, self._high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)

    def __call__(self, pixels: np.ndarray) -> np.ndarray:
        """Eight bits, in the shape that came in."""
        if self._is_shown_as_it_is:
            return pixels.astype(np.uint8, copy=False)
        share = (np.nan_to_num(pixels.astype(np.float32)) - self._low) / ((self._high - self._low) or 1)
        return np.rint(255 * share.clip(0, 1)).astype(np.uint8)


def shrunk(picture: np.ndarray) -> np.ndarray:
    """A picture of eight bits, averaged down by a whole number where it has more pixels than a screen."""
    from PIL import Image

    by = ceil(sqrt(picture.shape[0] * picture.shape[1] / _MOST_PIXELS))
    return picture if by <= 1 else np.asarray(Image.fromarray(picture).reduce(by))
