"""Image files: finding and reading them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

SUFFIXES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp", ".pgm", ".ppm")
_LUMA = np.array([0.299, 0.587, 0.114])  # ITU-R BT.601, as in the grey versions of the classic test images


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
    from imageio.v3 import imread

    try:
        image = np.asarray(imread(path))
    except Exception as error:  # decoders raise what they like
        raise ImageFileError(f"{path} cannot be read as an image ({type(error).__name__}).") from error
    if image.ndim == 3 and image.shape[-1] in (3, 4):
        image = image[..., :3] @ _LUMA
    elif image.ndim == 3 and image.shape[-1] in (1, 2):
        image = image[..., 0]  # grey, with or without transparency
    if image.ndim != 2 or image.size == 0:
        raise ImageFileError(f"{path} is not a picture: its data has shape {image.shape}.")
    return image.astype(np.float32)


def read_all_grey(paths: Iterable[Path]) -> Iterator[np.ndarray]:
    """Read images one after the other."""
    return (read_grey(path) for path in paths)
