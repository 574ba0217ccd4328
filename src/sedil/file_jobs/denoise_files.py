"""Denoise files of pictures, volumes and stacks of frames: one, several, or a folder of pictures."""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sedil.dictionary import SeparableDictionary
from sedil.errors import EXPECTED
from sedil.files import make_folder, require_writable, write_content
from sedil.image_files.images import SUFFIXES, VOLUME_SUFFIXES, find_images
from sedil.image_files.picture_files import (
    ImageFileError,
    Picture,
    picture_shape,
    read_picture,
    require_memory,
)
from sedil.image_files.picture_formats import conform, encode
from sedil.image_files.volume_files import (
    Volume,
    is_volume,
    read_volume,
    require_same_format,
    volume_shape,
    write_volume,
)
from sedil.imaging.denoise import Progress, denoise
from sedil.imaging.noise import estimate_noise

_BYTES_PER_VALUE = 45  # at the peak, measured on large grey and colour pictures, and on volumes
_NOISY = "the noisy picture"
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


class Job(NamedTuple):
    """A noisy file, where the clean picture goes, and where the comparison of both goes if it is wanted."""

    source: Path
    target: Path
    comparison: Path | None

    @property
    def outputs(self) -> list[Path]:
        """The files that are written."""
        return [self.target] if self.comparison is None else [self.target, self.comparison]


class Settings(NamedTuple):
    """How files are denoised: see `sedil.denoise`."""

    sigma: float | None = None
    dictionary: SeparableDictionary | None = None
    method: str = "refit"
    stride: int = 1


class Facts(NamedTuple):
    """What is known of a picture before the work begins.

    `notes` has a sentence on each thing of the file that will be lost.
    """

    sigma: float
    estimated: bool
    notes: tuple[str, ...]


class Noisy(NamedTuple):
    """A picture or volume that is read and whose results can be written."""

    job: Job
    picture: Picture | Volume
    facts: Facts


class Outcome(NamedTuple):
    """What became of a file: `error` says why it failed; `facts` is None if it could not be read."""

    job: Job
    facts: Facts | None
    seconds: float
    error: Exception | None


def plan_one(
    source: Path,
    output: Path,
    compare: Path | None,
    force: bool,
    inputs: Mapping[Path, str] | None = None,
) -> Job:
    """Where the results of one file go: to the names given, or into the folders given under its own name.

    `inputs` says what each file is that no result may replace. Default: the source is the noisy picture.
    """
    job = Job(source, _inside(output, source), None if compare is None else _inside(compare, source))
    _require_distinct([job])
    _require_free(job.outputs, inputs or {source: _NOISY}, force)
    for path in job.outputs:
        require_writable(path)
    return job


def plan_several(places: Sequence[Path], output: Path, compare: Path | None, force: bool) -> list[Job]:
    """Where the results of files and folders go: each into the folders given, under its own name.

    The folders are made if they do not exist; subfolders of `places` are left out.
    """
    if output.is_file():
        raise NotADirectoryError(f"{output} is a file: several pictures go into a folder, which comes last.")
    sources = [
        file
        for place in places
        for file in (find_images([place], False, SUFFIXES + VOLUME_SUFFIXES) if place.is_dir() else [place])
    ]
    jobs = [
        Job(source, output / source.name, None if compare is None else compare / source.name)
        for source in sources
    ]
    _require_distinct(jobs)
    _require_free([path for job in jobs for path in job.outputs], dict.fromkeys(sources, _NOISY), force)
    for path in jobs[0].outputs:
        make_folder(path.parent)
        require_writable(path)
    return jobs


def open_noisy(job: Job, sigma: float | None = None) -> Noisy:
    """Read a file, make sure that the results can be written, estimate the noise unless it is given."""
    content, notes = _open_volume(job) if is_volume(job.source) else _open_picture(job)
    level = _estimated_noise(content) if sigma is None else sigma
    return Noisy(job, content, Facts(level, sigma is None, tuple(notes)))


def _open_picture(job: Job) -> tuple[Picture, list[str]]:
    require_memory(job.source, _BYTES_PER_VALUE)
    picture = read_picture(job.source)
    notes = [*picture.notes]
    for path, pixels in _results(job, picture, picture.pixels):
        notes += _checked_picture(path, pixels, picture.extras)
    return picture, notes


def _open_volume(job: Job) -> tuple[Volume, list[str]]:
    volume = read_volume(job.source, _BYTES_PER_VALUE)
    notes = require_same_format(job.target, volume)
    if job.comparison is not None:
        notes += _checked_picture(job.comparison, _middle_slices(volume, volume.pixels), {})
    return volume, notes


def _checked_picture(path: Path, pixels: np.ndarray, extras: dict[str, Any]) -> list[str]:
    """Make sure that a picture can be written, before the work rather than after; returns what is lost."""
    content, lost = conform(path, pixels)
    encode(path, content[:1, :1], **extras)
    return lost


def denoise_file(noisy: Noisy, settings: Settings, progress: Progress | None = None) -> None:
    """Denoise a picture or volume and write the results; where no noise was found it stays as it is."""
    content, facts = noisy.picture, noisy.facts
    clean = content.pixels
    if facts.sigma or not facts.estimated:
        clean = denoise(
            content.pixels,
            facts.sigma,
            settings.dictionary,
            method=settings.method,
            stride=settings.stride,
            channel_axis=content.channel_axis,
            progress=progress,
        )
    write_results(noisy, clean)


def write_results(noisy: Noisy, clean: np.ndarray) -> None:
    """Write what was made of a picture or volume, and the comparison if it is wanted."""
    content = noisy.picture
    if isinstance(content, Volume):
        _write_volume_results(noisy.job, content, clean)
        return
    for path, pixels in _results(noisy.job, content, clean):
        write_content(path, encode(path, conform(path, pixels)[0], **content.extras))


def _write_volume_results(job: Job, volume: Volume, clean: np.ndarray) -> None:
    write_volume(job.target, clean, volume)
    if job.comparison is not None:
        pixels = conform(job.comparison, _middle_slices(volume, clean))[0]
        write_content(job.comparison, encode(job.comparison, pixels))


def _middle_slices(volume: Volume, clean: np.ndarray) -> np.ndarray:
    """The slice in the middle of the first axis before and after, side by side, as a picture of 8 bits."""
    flat = volume.pixels.ndim - (volume.channel_axis is not None) == 2
    middle = ... if flat else len(clean) // 2
    both = np.concatenate([volume.pixels[middle], clean[middle]], axis=1).astype(np.float64)
    low, high = volume.pixels[middle].min(), volume.pixels[middle].max()
    return np.clip(255 * (both - low) / max(float(high - low), 1e-12), 0, 255).astype(np.uint8)


def denoise_files(
    jobs: Sequence[Job], settings: Settings, progress: Progress | None = None
) -> Iterator[Outcome]:
    """Denoise file after file; one that fails does not stop the others, unless the disk is full.

    `progress` is called with the numbers of pixels done and in all.
    """
    overall = _Overall(progress, [_size(job.source) for job in jobs])
    for job in jobs:
        outcome = _attempt(job, settings, overall.part)
        overall.next()
        yield outcome
        if outcome.error is not None and _is_full_disk(outcome.error):
            return


def _attempt(job: Job, settings: Settings, progress: Progress) -> Outcome:
    began = time.perf_counter()
    facts, error = None, None
    try:
        noisy = open_noisy(job, settings.sigma)
        facts = noisy.facts
        denoise_file(noisy, settings, progress)
    except EXPECTED as failure:
        error = failure
    return Outcome(job, facts, time.perf_counter() - began, error)


def _estimated_noise(content: Picture | Volume) -> float:
    """The noise of a picture or volume; 0 where what is found is but rounding."""
    level = estimate_noise(content.pixels, content.channel_axis)
    return level if level > np.finfo(np.float32).eps * np.abs(content.pixels).max() else 0.0


def _inside(place: Path, source: Path) -> Path:
    return place / source.name if place.is_dir() else place


def _require_distinct(jobs: Iterable[Job]) -> None:
    """No two results under one name."""
    origin: dict[Path, Path] = {}
    for job in jobs:
        for path in job.outputs:
            place = path.parent.resolve() / path.name
            if place in origin:
                raise FileExistsError(_same_name(origin[place], job.source, path))
            origin[place] = job.source


def _same_name(first: Path, second: Path, path: Path) -> str:
    if first == second:
        return f"{path} would be both the result and the comparison: choose another place for one."
    return f"{first} and {second} would both be written to {path}: denoise them into different folders."


def _require_free(outputs: Sequence[Path], inputs: Mapping[Path, str], force: bool) -> None:
    """No result takes the place of an input, nor of any other file unless that is wanted."""
    there = [path for path in outputs if path.exists()]
    words = {_identity(path): word for path, word in inputs.items() if path.exists()}
    for path in there:
        if word := words.get(_identity(path)):
            raise FileExistsError(f"{path} is {word} itself: choose another name or folder.")
    files = [path for path in there if not path.is_dir()]
    if files and not force:
        more = f", and so do {len(files) - 1} more" if len(files) > 1 else ""
        raise FileExistsError(f"{files[0]} exists already{more}: choose another name or add --force.")


def _identity(path: Path) -> tuple[int, int]:
    """The same for all names of a file."""
    found = path.stat()
    return found.st_dev, found.st_ino


def _results(job: Job, picture: Picture, clean: np.ndarray) -> Iterator[tuple[Path, np.ndarray]]:
    """Each file to be written and its pixels."""
    yield job.target, clean if picture.alpha is None else np.dstack([clean, picture.alpha])
    if job.comparison is not None:
        yield job.comparison, np.concatenate([picture.pixels, clean], axis=1)


def _size(source: Path) -> int:
    """Numbers in a picture, for the time left; a file that cannot be read takes none."""
    try:
        return prod((volume_shape if is_volume(source) else picture_shape)(source))
    except ImageFileError:
        return 0


def _is_full_disk(error: Exception) -> bool:
    return isinstance(error.__cause__, OSError) and error.__cause__.errno in _NO_SPACE


class _Overall:
    """Progress over all files from the progress in each."""

    def __init__(self, progress: Callable[[int, int], None] | None, sizes: Sequence[int]) -> None:
        self._progress, self._sizes, self._index = progress, sizes, 0

    def part(self, done: int, total: int) -> None:
        """Tell what is done, given what is done of the present file."""
        if self._progress:
            finished = sum(self._sizes[: self._index])
            self._progress(finished + self._sizes[self._index] * done // total, sum(self._sizes))

    def next(self) -> None:
        """The present file is done."""
        self.part(1, 1)
        self._index += 1
