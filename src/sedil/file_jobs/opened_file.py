"""A picture or volume of a file between reading and writing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sedil.file_jobs.job_planning import FileJob
from sedil.files import make_folder, write_content
from sedil.image_files.picture_files import Picture, conform, encode, read_picture
from sedil.image_files.volume_files import Volume, is_volume, read_volume, require_same_format, write_volume

_BYTES_PER_VALUE = 45  # at the peak of denoising, measured on large grey and colour pictures, and on volumes


class OpenedFile(NamedTuple):
    """A picture or volume that is read, and whose results can be written.

    `notes` has a sentence on each thing of the file that will be lost.
    """

    job: FileJob
    content: Picture | Volume
    notes: tuple[str, ...]


def open_file(job: FileJob) -> OpenedFile:
    """Read a file, and make sure that the results can be written."""
    content, notes = _open_volume(job) if is_volume(job.source) else _open_picture(job)
    return OpenedFile(job, content, tuple(notes))


def write_results(opened: OpenedFile, pixels: np.ndarray) -> None:
    """Write what was made of a picture or volume, and the comparison if it is wanted."""
    job, content, _ = opened
    for path in job.outputs:
        make_folder(path.parent, parents=True)
    if isinstance(content, Volume):
        _write_volume_results(job, content, pixels)
        return
    for path, result in _pictures(job, content, pixels):
        write_content(path, encode(path, conform(path, result)[0], **content.extras))


def _open_picture(job: FileJob) -> tuple[Picture, list[str]]:
    picture = read_picture(job.source, _BYTES_PER_VALUE)
    notes = [*picture.notes]
    for path, pixels in _pictures(job, picture, picture.pixels):
        notes += _require_writable_picture(path, pixels, picture.extras)
    return picture, notes


def _open_volume(job: FileJob) -> tuple[Volume, list[str]]:
    volume = read_volume(job.source, _BYTES_PER_VALUE)
    notes = require_same_format(job.target, volume)
    if job.comparison is not None:
        notes += _require_writable_picture(job.comparison, _middle_slices(volume, volume.pixels), {})
    return volume, notes


def _require_writable_picture(path: Path, pixels: np.ndarray, extras: dict[str, Any]) -> list[str]:
    """Make sure that a picture can be written, before the work rather than after; returns what is lost."""
    pixels, lost = conform(path, pixels)
    encode(path, pixels[:1, :1], **extras)
    return lost


def _pictures(job: FileJob, picture: Picture, pixels: np.ndarray) -> Iterator[tuple[Path, np.ndarray]]:
    """Each file to be written and its pixels."""
    yield job.target, pixels if picture.alpha is None else np.dstack([pixels, picture.alpha])
    if job.comparison is not None:
        yield job.comparison, np.concatenate([picture.pixels, pixels], axis=1)


def _write_volume_results(job: FileJob, volume: Volume, pixels: np.ndarray) -> None:
    write_volume(job.target, pixels, volume)
    if job.comparison is not None:
        slices = conform(job.comparison, _middle_slices(volume, pixels))[0]
        write_content(job.comparison, encode(job.comparison, slices))


def _middle_slices(volume: Volume, pixels: np.ndarray) -> np.ndarray:
    """The slice in the middle of the first axis before and after, side by side, as a picture of 8 bits."""
    flat = volume.pixels.ndim - (volume.channel_axis is not None) == 2
    middle = ... if flat else len(pixels) // 2
    # NaN marks pixels that are missing: it is let through as far as here.
    before, after = (np.nan_to_num(whole[middle].astype(np.float64)) for whole in (volume.pixels, pixels))
    low, high = before.min(), before.max()
    both = np.concatenate([before, after], axis=1)
    return np.clip(255 * (both - low) / max(high - low, 1e-12), 0, 255).astype(np.uint8)
