"""How much the page takes, and the sentences on what is more."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from pathlib import Path

from sedil.dictionary import format_shape
from sedil.errors import ImageFileError
from sedil.image_files.picture_files import picture_shape
from sedil.image_files.volume_files import is_volume, volume_shape

MEGABYTES = 100  # of one file
PIXELS = 16_000_000
PAINTED_PIXELS = 4_000_000  # a browser paints on no more with ease
VOXELS = 8_000_000
PICTURES = 20  # to learn from
AT_ONCE = 2  # pieces of work
WAITING = 20  # pieces of work beyond those

IN_WORDS = (
    f"Files up to {MEGABYTES} MB; pictures up to {PIXELS // 10**6} million pixels, "
    f"{PAINTED_PIXELS // 10**6} million to paint on; volumes up to {VOXELS // 10**6} million voxels; "
    f"up to {PICTURES} pictures to learn from. {AT_ONCE} pieces of work are done at a time, {WAITING} more "
    f"may wait. Work ends when its tab is closed; uploads are deleted after an hour, and when the app ends."
)


def require_picture(path: Path, most: int = PIXELS) -> None:
    """Refuse what is no picture, and a picture of too many pixels, by the head of the file."""
    if is_volume(path):
        raise ImageFileError(f"{path} is a volume or an array: drop it under Volume.")
    _require_at_most(path, picture_shape(path)[:2], most, "pixels")


def require_volume(path: Path) -> None:
    """The same for a volume."""
    shape = volume_shape(path)
    if len(shape) < 3 or (len(shape) == 3 and shape[-1] == 3):
        raise ImageFileError(f"{path} holds no volume: its shape is {format_shape(shape)}.")
    _require_at_most(path, shape[:3], VOXELS, "voxels")


def require_pictures(paths: Sequence[Path]) -> None:
    """Refuse too many pictures to learn from, and any that is none or too large."""
    if len(paths) > PICTURES:
        raise ValueError(f"{len(paths)} pictures are more than the {PICTURES} that this page learns from.")
    for path in paths:
        require_picture(path)


def _require_at_most(path: Path, shape: Sequence[int], most: int, what: str) -> None:
    if prod(shape) > most:
        raise ImageFileError(
            f"{path} has {format_shape(shape)} {what}, and this page takes at most {most // 10**6} million: "
            f"use the command line."
        )
