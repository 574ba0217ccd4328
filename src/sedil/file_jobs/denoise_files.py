"""Denoise files of pictures, volumes and stacks of frames, one or several."""

from __future__ import annotations

import errno
import time
from collections.abc import Iterator, Sequence
from math import prod
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sedil.checks import require_positive
from sedil.choices import DenoisingMethod, NoiseKind
from sedil.dictionary import SeparableDictionary
from sedil.errors import EXPECTED, ImageFileError
from sedil.file_jobs.job_planning import FileJob
from sedil.file_jobs.opened_file import OpenedFile, open_file, write_results
from sedil.image_files.camera_facts import is_shot_in_little_light
from sedil.image_files.picture_files import Picture, picture_shape, read_picture
from sedil.image_files.volume_files import Volume, is_volume, read_volume, volume_shape
from sedil.imaging.denoise import denoise
from sedil.imaging.measured_noise import NoiseEstimate, measure_noise, usual_noise_and_doubt
from sedil.progress import Progress, Report

_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
_DOUBT = "this may be noise that a camera or JPEG has smoothed, or fine texture; for noise try --noise auto"


class DenoiseSettings(NamedTuple):
    """How files are denoised: see `sedil.denoise`."""

    sigma: float | np.ndarray | None = None
    dictionary: SeparableDictionary | None = None
    method: DenoisingMethod | None = None
    stride: int | None = None
    time_axis: int | None = None
    noise: NoiseKind | None = None
    gain: float | None = None
    read_noise: float | None = None
    offset: float | None = None
    threads: int | None = None


class Outcome(NamedTuple):
    """What became of a file: `error` says why it failed; `noise` is None if it was not estimated."""

    job: FileJob
    noise: NoiseEstimate | None
    notes: tuple[str, ...]
    seconds: float
    error: Exception | None


def find_noise(
    content: Picture | Volume, settings: DenoiseSettings
) -> tuple[NoiseEstimate | None, tuple[str, ...]]:
    """An estimate where the noise is not given: of level 0 where what is found is but rounding.

    By default of any kind for shots of a camera in little light, and of the usual kinds for others: then with
    a sentence where it does not look so.
    """
    given = (settings.sigma, settings.gain, settings.read_noise, settings.offset)
    if any(each is not None for each in given):
        return None, ()
    pixels, axis = content.pixels, content.channel_axis
    looks_smoothed = False
    if settings.noise is None and not is_shot_in_little_light(content):
        found, looks_smoothed = usual_noise_and_doubt(pixels, axis)
    else:
        found = measure_noise(pixels, axis, None if settings.noise == "auto" else settings.noise)
    rounding = np.finfo(np.float32).eps * np.ptp(pixels.astype(np.float64))
    if max(found.sigma) <= rounding:
        found = found._replace(sigma=(0.0,) * len(found.sigma))
    return found, (_DOUBT,) if looks_smoothed else ()


def denoise_file(
    opened: OpenedFile, found: NoiseEstimate | None, settings: DenoiseSettings, report: Report
) -> np.ndarray:
    """Denoise a picture or volume, write the results and return the clean pixels.

    Where no noise was found it stays as it is.
    """
    clean = opened.content.pixels
    if found is None or max(found.sigma) > 0:
        clean = denoise(
            clean,
            settings.sigma,
            settings.dictionary,
            method=settings.method,
            stride=settings.stride,
            time_axis=settings.time_axis,
            noise=settings.noise if found is None else found,
            gain=settings.gain,
            read_noise=settings.read_noise,
            offset=settings.offset,
            channel_axis=opened.content.channel_axis,
            threads=settings.threads,
            progress=report,
        )
    write_results(opened, clean)
    return clean


def given_levels(sigma: float | None, sigma_map: Path | None) -> float | np.ndarray | None:
    """What the caller of a command says of the level of the noise: nothing, a number, or a map in a file."""
    if sigma is not None:
        require_positive(sigma, "sigma")
        if sigma_map is not None:
            raise ValueError("--sigma and --sigma-map exclude each other: give one of them.")
    return sigma if sigma_map is None else _read_levels(sigma_map)


def _read_levels(path: Path) -> np.ndarray:
    """A map of the level of noise from a picture or volume, in the units that its numbers have."""
    content = read_volume(path) if is_volume(path) else read_picture(path)
    return content.pixels


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
    noise: NoiseEstimate | None = None
    notes: tuple[str, ...] = ()
    error: Exception | None = None
    try:
        opened = open_file(job)
        notes = opened.notes
        noise, doubts = find_noise(opened.content, settings)
        notes += doubts
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


def noise_in_words(noise: NoiseEstimate) -> str:
    """The level, of channels that differ that of each, and what the noise is if it is not white."""
    sigmas = noise.sigma
    if max(sigmas) == 0:
        return "none found, the picture stays as it is"
    alike = max(sigmas) < 1.1 * min(sigmas)
    level = "/".join(map(number_in_words, [sum(sigmas) / len(sigmas)] if alike else sigmas))
    words = f"sigma {level}"
    if noise.uncertainty:
        words += f" ± {100 * min(noise.uncertainty, 1):.0f} %"
    if noise.kind == "correlated":
        return f"{words}, correlated ({noise.correlation:.2f} between neighbours): cleaned as camera noise"
    if noise.kind == "poisson-gaussian":
        gain, read = (number_in_words(sum(each) / len(each)) for each in (noise.gain, noise.read_noise))
        return f"{words} on average, of photons (gain {gain}, read noise {read})"
    return f"{words}, white"


def number_in_words(level: float) -> str:
    """Three digits, or all before the point unless they are very many."""
    return f"{level:.0f}" if 100 <= level < 1e6 else f"{level:.3g}"
