"""Denoise files of pictures, volumes and stacks of frames, one or several."""

from __future__ import annotations

import errno
import time
from collections.abc import Iterator, Sequence
from math import prod
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sedil.choices import DenoisingMethod
from sedil.dictionary import SeparableDictionary
from sedil.errors import EXPECTED, ImageFileError
from sedil.file_jobs.job_planning import FileJob
from sedil.file_jobs.opened_file import OpenedFile, open_file, write_results
from sedil.image_files.picture_files import Picture, picture_shape
from sedil.image_files.volume_files import Volume, is_volume, volume_shape
from sedil.imaging.denoise import denoise
from sedil.imaging.noise import estimate_noise
from sedil.progress import Progress, Report

_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


class DenoiseSettings(NamedTuple):
    """How files are denoised: see `sedil.denoise`."""

    sigma: float | None = None
    dictionary: SeparableDictionary | None = None
    method: DenoisingMethod | None = None
    stride: int | None = None
    time_axis: int | None = None
    threads: int | None = None


class NoiseLevel(NamedTuple):
    """Standard deviation of the noise in a picture, and whether it was estimated or given."""

    sigma: float
    estimated: bool


class Outcome(NamedTuple):
    """What became of a file: `error` says why it failed; `noise` is None if it could not be read."""

    job: FileJob
    noise: NoiseLevel | None
    notes: tuple[str, ...]
    seconds: float
    error: Exception | None


def noise_level(content: Picture | Volume, sigma: float | None) -> NoiseLevel:
    """The noise that is given, else an estimate: 0 where what is found is but rounding."""
    if sigma is not None:
        return NoiseLevel(sigma, estimated=False)
    level = estimate_noise(content.pixels, content.channel_axis)
    rounding = np.finfo(np.float32).eps * np.abs(content.pixels).max()
    return NoiseLevel(level if level > rounding else 0.0, estimated=True)


def denoise_file(opened: OpenedFile, noise: NoiseLevel, settings: DenoiseSettings, report: Report) -> None:
    """Denoise a picture or volume and write the results; where no noise was found it stays as it is."""
    clean = opened.content.pixels
    if noise.sigma or not noise.estimated:
        clean = denoise(
            clean,
            noise.sigma,
            settings.dictionary,
            method=settings.method,
            stride=settings.stride,
            time_axis=settings.time_axis,
            channel_axis=opened.content.channel_axis,
            threads=settings.threads,
            progress=report,
        )
    write_results(opened, clean)


def denoise_files(jobs: Sequence[FileJob], settings: DenoiseSettings, report: Report) -> Iterator[Outcome]:
    """Denoise file after file; one that fails does not stop the others, unless the disk is full.

    `report` is told how many of the numbers in all files are done.
    """
    overall = _OverAllFiles(report, [_size(job.source) for job in jobs])
    for job in jobs:
        outcome = _attempt(job, settings, overall)
        yield outcome
        if outcome.error is not None and _is_full_disk(outcome.error):
            return


def _attempt(job: FileJob, settings: DenoiseSettings, overall: _OverAllFiles) -> Outcome:
    began = time.perf_counter()
    noise: NoiseLevel | None = None
    notes: tuple[str, ...] = ()
    error: Exception | None = None
    try:
        opened = open_file(job)
        notes = opened.notes
        noise = noise_level(opened.content, settings.sigma)
        denoise_file(opened, noise, settings, overall.report_part)
    except EXPECTED as failure:
        error = failure
    overall.end_file()
    return Outcome(job, noise, notes, time.perf_counter() - began, error)


def _size(source: Path) -> int:
    """Numbers in a picture, for the time left; a file that cannot be read takes none."""
    try:
        return prod((volume_shape if is_volume(source) else picture_shape)(source))
    except ImageFileError:
        return 0


def _is_full_disk(error: Exception) -> bool:
    return isinstance(error.__cause__, OSError) and error.__cause__.errno in _NO_SPACE


class _OverAllFiles:
    """Turns progress in each file into progress over all of them."""

    def __init__(self, report: Report, sizes: Sequence[int]) -> None:
        self._report, self._sizes, self._index = report, sizes, 0

    def report_part(self, part: Progress) -> None:
        """Tell what is done, given what is done of the present file."""
        self._tell(part.done / (part.total or 1))

    def end_file(self) -> None:
        """The present file is done."""
        self._tell(1)
        self._index += 1

    def _tell(self, share: float) -> None:
        done = sum(self._sizes[: self._index]) + int(share * self._sizes[self._index])
        self._report(Progress(done, sum(self._sizes), "values"))
