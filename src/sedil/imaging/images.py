"""Image files: finding and reading them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

SUFFIXES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp", ".pgm", ".ppm")
_LUMA = np.array([0.299, 0.587, 0.114])  # ITU-R BT.601, as in the grey versions of the classic test images
# What Pillow's modes become; all others are colours. 16-bit and float greys stay as they are.
_PLAIN_MODE = {"1": "L", "L": "L", "LA": "L", "I": "I", "F": "F", "I;16": "I;16", "I;16B": "I", "I;16L": "I"}


class ImageFileError(ValueError):
    """A file cannot be read as an image."""


def find_images(places: Iterable[str | Path]) -> list[Path]:
    """Image files in `places`, which are files or folders (searched with their subfolders), sorted."""
    found: list[Path] = []
    for place in map(Path, places):
        if place.is_dir():
            inside = sorted(p for p in place.rglob("*") if p.suffix.lower() in SUFFIXES and p.is_file())
            if not inside:
                raise FileNotFoundError(f"The folder {place} holds no images ({', '.join(SUFFIXES)}).")
            found += inside
        elif place.is_file():
            found.append(place)
        else:
            raise FileNotFoundError(f"There is no file or folder {place}.")
    return found


def read_grey(path: str | Path) -> np.ndarray:
    """The image as float32, shape (rows, columns), in its own units; colours become their luma."""
    image = _read(Path(path))
    if image.ndim == 3:
        image = image[..., :3] @ _LUMA
    if image.size == 0:
        raise ImageFileError(f"{path} is an empty picture of shape {image.shape}.")
    return image.astype(np.float32)


def _read(path: Path) -> np.ndarray:
    """Pixels of shape (rows, columns) or (rows, columns, 3); transparency and palettes are resolved."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as picture:
            return np.asarray(picture.convert(_PLAIN_MODE.get(picture.mode, "RGB")))
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, SyntaxError, ValueError) as error:
        raise ImageFileError(f"{path} cannot be read as an image ({type(error).__name__}).") from error
