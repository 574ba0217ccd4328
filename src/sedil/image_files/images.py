"""Image files: finding them, and the images in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from sedil.image_files.picture_files import ImageFileError, read_picture
from sedil.image_files.volume_files import read_volume

SUFFIXES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp", ".pgm", ".ppm")
VOLUME_SUFFIXES = (".nii", ".nii.gz", ".npy")
_LUMA = np.array([0.299, 0.587, 0.114])  # ITU-R BT.601, as in the grey versions of the classic test images


def find_images(
    places: Iterable[str | Path], recursive: bool = True, suffixes: Sequence[str] = SUFFIXES
) -> list[Path]:
    """Image files in `places`, sorted: files are taken as they are, folders searched with their subfolders.

    Hidden files and folders, whose names start with a dot, are left out, and subfolders unless `recursive`.
    """
    found: list[Path] = []
    for place in map(Path, places):
        if place.is_dir():
            inside = sorted(
                p for p in place.glob("**/*" if recursive else "*") if _is_image(p, place, suffixes)
            )
            if not inside:
                raise FileNotFoundError(f"The folder {place} holds no images ({', '.join(suffixes)}).")
            found += inside
        elif place.is_file():
            found.append(place)
        else:
            raise FileNotFoundError(f"There is no file or folder {place}.")
    return found


def find_training_files(places: Iterable[str | Path], n_axes: int) -> list[Path]:
    """Files to take patches of so many axes from: images, or volumes for three."""
    return find_images(places, suffixes=SUFFIXES if n_axes == 2 else (*VOLUME_SUFFIXES, ".tif", ".tiff"))


def read_grey(path: str | Path) -> np.ndarray:
    """The image as float32, shape (rows, columns), in its own units; colours become their luma."""
    picture = read_picture(path)
    return _grey(path, picture.pixels, picture.channel_axis)


def read_grey_volume(path: str | Path) -> np.ndarray:
    """The volume or stack of frames as float32, shape (slices, rows, columns); colours become their luma."""
    volume = read_volume(path)
    grey = _grey(path, volume.pixels, volume.channel_axis)
    if grey.ndim != 3:
        raise ImageFileError(f"{path} holds a picture, not a volume: its shape is {volume.pixels.shape}.")
    return grey


def _grey(path: str | Path, pixels: np.ndarray, channel_axis: int | None) -> np.ndarray:
    image = pixels if channel_axis is None else pixels @ _LUMA
    if image.size == 0:
        raise ImageFileError(f"{path} is an empty picture of shape {image.shape}.")
    if not np.isfinite(image).all():
        raise ImageFileError(f"{path} contains NaN or infinite pixels.")
    return image.astype(np.float32)


def scikit_image_photographs(names: Sequence[str]) -> list[np.ndarray]:
    """Photographs that scikit-image carries (``skimage.data``), grey, float32, on the scale 0 to 255."""
    from skimage import color, data

    pictures = [getattr(data, name)() for name in names]
    return [
        (255 * color.rgb2gray(picture) if picture.ndim == 3 else picture).astype(np.float32)
        for picture in pictures
    ]


def _is_image(path: Path, folder: Path, suffixes: Sequence[str]) -> bool:
    hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
    return not hidden and path.name.lower().endswith(tuple(suffixes)) and path.is_file()
