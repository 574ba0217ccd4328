"""Pictures side by side in one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_WHITE = 255


def side_by_side(
    rows: Sequence[Sequence[np.ndarray]], *, gap: int, zoom: int = 1, framed: bool = False
) -> np.ndarray:
    """Rows of grey or colour pictures on the scale 0 to 255 as one picture of bytes.

    Parameters
    ----------
    rows : sequence of sequences of arrays
        Pictures of a row have the same height.
    gap : int
        White pixels to the right of each picture and below it.
    zoom : int, default 1
        How many pixels a pixel becomes along each axis.
    framed : bool, default False
        Whether the gap is also to the left of all pictures and above them.
    """
    strips = [np.concatenate([_panel(picture, gap, zoom) for picture in row], axis=1) for row in rows]
    width = max(strip.shape[1] for strip in strips)
    whole = np.concatenate([_padded(strip, (0, 0), (0, width - strip.shape[1])) for strip in strips])
    return _padded(whole, (gap, 0), (gap, 0)) if framed else whole


def _panel(picture: np.ndarray, gap: int, zoom: int) -> np.ndarray:
    pixels = np.clip(np.rint(picture), 0, _WHITE).astype(np.uint8)
    return _padded(pixels.repeat(zoom, axis=0).repeat(zoom, axis=1), (0, gap), (0, gap))


def _padded(pixels: np.ndarray, rows: tuple[int, int], columns: tuple[int, int]) -> np.ndarray:
    return np.pad(pixels, [rows, columns, (0, 0)][: pixels.ndim], constant_values=_WHITE)
