"""Image files: finding and reading them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
    """The image as float32, shape (rows, columns), in its own units; colours become their luma.

    Greys keep their 8, 16 or 32 bits; colours are read with 8 bits per channel.
    """
    image = _read(Path(path))
    if image.ndim == 3:
        image = image[..., :3] @ _LUMA
    if image.size == 0:
        raise ImageFileError(f"{path} is an empty picture of shape {image.shape}.")
    if not np.isfinite(image).all():
        raise ImageFileError(f"{path} contains NaN or infinite pixels.")
    return image.astype(np.float32)


def read_picture(path: str | Path) -> tuple[np.ndarray, np.ndarray | None]:
    """Pixels in their own type, shape (rows, columns) or (rows, columns, 3), and the transparency if any.

    Greys keep their 8, 16 or 32 bits; colours are read with 8 bits per channel.
    """
    from PIL import Image

    pixels = _read(Path(path))
    with Image.open(path) as picture:
        has_alpha = picture.mode in ("LA", "RGBA", "PA") or "transparency" in picture.info
        alpha = np.asarray(picture.convert("RGBA"))[..., 3] if has_alpha else None
    return pixels, alpha


def scikit_image_photographs(names: Sequence[str]) -> list[np.ndarray]:
    """Photographs that scikit-image carries (``skimage.data``), grey, float32, on the scale 0 to 255."""
    from skimage import color, data

    pictures = [getattr(data, name)() for name in names]
    return [
        (255 * color.rgb2gray(picture) if picture.ndim == 3 else picture).astype(np.float32)
        for picture in pictures
    ]


def _read(path: Path) -> np.ndarray:
    """Pixels of shape (rows, columns) or (rows, columns, 3); transparency and palettes are resolved."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as picture:
            pages = getattr(picture, "n_frames", 1) if picture.format == "TIFF" else 1
            if pages > 1:
                raise ImageFileError(f"{path} has {pages} pages: split it into files of one page each.")
            return np.asarray(picture.convert(_PLAIN_MODE.get(picture.mode, "RGB")))
    except ImageFileError:
        raise
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, SyntaxError, ValueError) as error:
        raise ImageFileError(f"{path} cannot be read as an image ({type(error).__name__}).") from error
