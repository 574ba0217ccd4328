"""Pictures side by side in one, each with a line of words above it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_WHITE = 255
_LINE, _FONT = 20, 13  # pixels: height of a line of words, size of its letters

Panel = tuple[str, np.ndarray]  # a few words, and the picture below them


def side_by_side(
    rows: Sequence[Sequence[Panel]], *, gap: int, zoom: int = 1, framed: bool = False
) -> np.ndarray:
    """Rows of grey or colour pictures on the scale 0 to 255 as one picture of bytes.

    Parameters
    ----------
    rows : sequence of sequences of (str, array)
        Pictures of a row have the same height. Where all words are empty, there is no room for them.
    gap : int
        White pixels to the right of each picture and below it.
    zoom : int, default 1
        How many pixels a pixel becomes along each axis.
    framed : bool, default False
        Whether the gap is also to the left of all pictures and above them.
    """
    with_words = any(words for row in rows for words, _ in row)
    strips = []
    for row in rows:
        panels = [_panel(picture, gap, zoom) for _, picture in row]
        if with_words:
            panels = [_below(words, panel) for (words, _), panel in zip(row, panels, strict=True)]
        strips.append(np.concatenate(panels, axis=1))
    width = max(strip.shape[1] for strip in strips)
    whole = np.concatenate([_padded(strip, (0, 0), (0, width - strip.shape[1])) for strip in strips])
    return _padded(whole, (gap, 0), (gap, 0)) if framed else whole


def _panel(picture: np.ndarray, gap: int, zoom: int) -> np.ndarray:
    pixels = np.clip(np.rint(picture), 0, _WHITE).astype(np.uint8)
    return _padded(pixels.repeat(zoom, axis=0).repeat(zoom, axis=1), (0, gap), (0, gap))


def _below(words: str, panel: np.ndarray) -> np.ndarray:
    from PIL import Image, ImageDraw, ImageFont

    line = Image.new("L", (panel.shape[1], _LINE), _WHITE)
    ImageDraw.Draw(line).text((1, 2), words, fill=0, font=ImageFont.load_default(_FONT))
    letters = np.asarray(line).reshape(line.height, line.width, *(1,) * (panel.ndim - 2))
    return np.concatenate([np.broadcast_to(letters, (_LINE, *panel.shape[1:])), panel])


def _padded(pixels: np.ndarray, rows: tuple[int, int], columns: tuple[int, int]) -> np.ndarray:
    return np.pad(pixels, [rows, columns, (0, 0)][: pixels.ndim], constant_values=_WHITE)
