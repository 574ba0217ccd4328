"""Fill the missing pixels of a picture or volume in a file, which another file marks."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from sedil.choices import InpaintingMethod
from sedil.dictionary import SeparableDictionary, format_shape
from sedil.errors import ImageFileError
from sedil.file_jobs.job_planning import plan_one
from sedil.file_jobs.opened_file import OpenedFile, open_file, write_results
from sedil.image_files.picture_files import Picture, read_picture
from sedil.image_files.volume_files import Volume, is_volume, read_volume
from sedil.imaging.inpaint import inpaint
from sedil.progress import Report

_LOSSY = (".jpg", ".jpeg", ".jfif")


class MaskedFile(NamedTuple):
    """A picture or volume that misses pixels, and whose results can be written.

    Attributes
    ----------
    opened : as it was read; missing pixels are 0, and so they are in the comparison
    mask : boolean array, without the axis of the colours
    """

    opened: OpenedFile
    mask: np.ndarray


def open_masked(source: Path, mask: Path, output: Path, compare: Path | None, force: bool) -> MaskedFile:
    """Read a picture or volume and its mask, and make sure that the results can be written."""
    opened = open_file(plan_one(source, output, compare, force, {source: "the picture", mask: "the mask"}))
    content, missing = opened.content, read_mask(mask)
    shape = _without_colours(content)
    if missing.shape != shape:
        raise ImageFileError(
            f"The mask {mask} has {format_shape(missing.shape)} pixels, {source} has {format_shape(shape)}: "
            f"both must be equally large."
        )
    blank = content.pixels.copy()
    blank[missing] = 0
    return MaskedFile(opened._replace(content=content._replace(pixels=blank)), missing)


def notes_on(masked: MaskedFile) -> list[str]:
    """What the user should know before the filling."""
    notes = [*masked.opened.notes]
    if not masked.mask.any():
        notes.append("the mask marks no pixel as missing: it is white where pixels are missing.")
    if masked.opened.job.target.suffix.lower() in _LOSSY:
        notes.append("JPEG changes known pixels too: write a PNG or TIFF to keep them.")
    return notes


def read_mask(path: Path) -> np.ndarray:
    """True where a file is brighter than half its brightest pixel, in any channel.

    So 0 and 1 serve as well as 0 and 255, and what a JPEG has blurred.
    """
    content = read_volume(path) if is_volume(path) else read_picture(path)
    bright = content.pixels > content.pixels.max() / 2
    return bright if content.channel_axis is None else bright.any(axis=content.channel_axis)


def inpaint_file(
    masked: MaskedFile,
    dictionary: SeparableDictionary | None,
    method: InpaintingMethod | None,
    sigma: float | np.ndarray,
    threads: int | None,
    report: Report,
) -> None:
    """Fill the missing pixels and write the results."""
    content = masked.opened.content
    filled = inpaint(
        content.pixels,
        masked.mask,
        dictionary,
        method=method,
        sigma=sigma,
        channel_axis=content.channel_axis,
        threads=threads,
        progress=report,
    )
    write_results(masked.opened, filled)


def _without_colours(content: Picture | Volume) -> tuple[int, ...]:
    shape = content.pixels.shape
    return shape if content.channel_axis is None else shape[:-1]
