"""Pictures side by side in one, each with a few words above it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
        Pictures of a row have the same height. Words go on in another line where a picture is too narrow for
        them. Where all words are empty, there is no room for them.
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
            lines = [_lines(words, panel.shape[1]) for (words, _), panel in zip(row, panels, strict=True)]
            n_lines = max(map(len, lines))
            panels = [_below(own, n_lines, panel) for own, panel in zip(lines, panels, strict=True)]
        strips.append(np.concatenate(panels, axis=1))
    width = max(strip.shape[1] for strip in strips)
    whole = np.concatenate([_padded(strip, (0, 0), (0, width - strip.shape[1])) for strip in strips])
    return _padded(whole, (gap, 0), (gap, 0)) if framed else whole


def _panel(picture: np.ndarray, gap: int, zoom: int) -> np.ndarray:
    pixels = np.clip(np.rint(picture), 0, _WHITE).astype(np.uint8)
    return _padded(pixels.repeat(zoom, axis=0).repeat(zoom, axis=1), (0, gap), (0, gap))


def _lines(words: str, width: int) -> list[str]:
    """The words in lines that are no wider than this many pixels; a single word may be."""
    font = _font()
    lines: list[str] = []
    for word in words.split(" "):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and font.getlength(longer) < width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _below(lines: Sequence[str], n_lines: int, panel: np.ndarray) -> np.ndarray:
    """The panel with so many lines above it; few of them stand right above the picture."""
    from PIL import Image, ImageDraw

    height = n_lines * _LINE
    space = Image.new("L", (panel.shape[1], height), _WHITE)
    draw = ImageDraw.Draw(space)
    for number, line in enumerate(reversed(lines), 1):
        draw.text((1, height - number * _LINE + 2), line, fill=0, font=_font())
    letters = np.asarray(space).reshape(height, space.width, *(1,) * (panel.ndim - 2))
    return np.concatenate([np.broadcast_to(letters, (height, *panel.shape[1:])), panel])


def _font() -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(_FONT)


def _padded(pixels: np.ndarray, rows: tuple[int, int], columns: tuple[int, int]) -> np.ndarray:
    return np.pad(pixels, [rows, columns, (0, 0)][: pixels.ndim], constant_values=_WHITE)
