"""Which pixels of a photograph are missing: at random, under text, under scratches. The same on every run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw as Draw

_WORDS = "Separable dictionaries fill what is missing. "
_LETTER, _LINE = 18, 26  # pixels: height of the letters, distance of the lines
_SCRATCHES, _WIDTH = 40, 3  # how many on a picture, and how many pixels wide


def make_mask(kind: str, shape: tuple[int, int]) -> np.ndarray:
    """The mask of a kind in `MASKS`, True where a pixel is missing."""
    return MASKS[kind](shape)


def _random(share: float, shape: tuple[int, int]) -> np.ndarray:
    return np.random.default_rng(round(100 * share)).random(shape) < share


def _drawn(draw_on: Callable[[Draw, tuple[int, int]], None], shape: tuple[int, int]) -> np.ndarray:
    from PIL import Image, ImageDraw

    picture = Image.new("1", shape[::-1])
    draw_on(ImageDraw.Draw(picture), shape)
    return np.array(picture) != 0  # Pillow's True is a byte of 255, at which inpaint_biharmonic fails


def _write(draw: Draw, shape: tuple[int, int]) -> None:
    from PIL import ImageFont

    font = ImageFont.load_default(_LETTER)
    line = _WORDS * (shape[1] // (_LETTER * len(_WORDS) // 4) + 2)
    for number, top in enumerate(range(4, shape[0], _LINE)):
        draw.text((-37 * (number % 7), top), line, fill=1, font=font)


def _scratch(draw: Draw, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    for _ in range(_SCRATCHES):
        ends = rng.random((2, 2)) * shape[::-1]
        draw.line([tuple(end) for end in ends], fill=1, width=_WIDTH)


MASKS: dict[str, Callable[[tuple[int, int]], np.ndarray]] = {
    "25 % of pixels": partial(_random, 0.25),
    "50 % of pixels": partial(_random, 0.5),
    "80 % of pixels": partial(_random, 0.8),
    "text": partial(_drawn, _write),
    "scratches": partial(_drawn, _scratch),
}
