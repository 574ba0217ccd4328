"""Grey images, as dictionaries are learned from: of files, and of scikit-image."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sedil.errors import ImageFileError
from sedil.image_files.picture_files import read_picture
from sedil.image_files.volume_files import is_array_file, read_volume

_LUMA = np.array([0.299, 0.587, 0.114])  # ITU-R BT.601, as in the grey versions of the classic test images


def read_grey(path: str | Path) -> np.ndarray:
    """The image as float32, shape (rows, columns), in its own units; colours become their luma."""
    picture = read_volume(path) if is_array_file(path) else read_picture(path)
    grey = _grey(path, picture.pixels, picture.channel_axis)
    if grey.ndim != 2:
        raise ImageFileError(
            f"{path} holds a volume, not a picture: its shape is {picture.pixels.shape}: take "
            f"patches of three axes from it, such as 8x8x8."
        )
    return grey


def read_grey_volume(path: str | Path) -> np.ndarray:
    """The volume or stack of frames as float32, shape (slices, rows, columns); colours become their luma."""
    volume = read_volume(path)
    grey = _grey(path, volume.pixels, volume.channel_axis)
    if grey.ndim != 3:
        raise ImageFileError(
            f"{path} holds a picture, not a volume: its shape is {volume.pixels.shape}: take "
            f"patches of two axes from it, such as 8x8."
        )
    return grey


def _grey(path: str | Path, pixels: np.ndarray, channel_axis: int | None) -> np.ndarray:
    image = pixels if channel_axis is None else pixels @ _LUMA
    if image.size == 0:
        raise ImageFileError(f"{path} is an empty picture of shape {image.shape}.")
    if not np.isfinite(image).all():
        raise ImageFileError(f"{path} contains NaN or infinite pixels.")
    if np.abs(image).max() > np.finfo(np.float32).max:
        raise ImageFileError(f"{path} contains pixels beyond 3.4e38, the range of float32: scale them down.")
    return image.astype(np.float32)


def scikit_image_photographs(names: Sequence[str]) -> list[np.ndarray]:
    """Photographs that scikit-image carries (``skimage.data``), grey, float32, on the scale 0 to 255."""
    from skimage import color, data

    pictures = [getattr(data, name)() for name in names]
    return [
        (255 * color.rgb2gray(picture) if picture.ndim == 3 else picture).astype(np.float32)
        for picture in pictures
    ]
