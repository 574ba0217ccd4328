"""Denoise picture files: one, several, or a folder of them."""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import prod
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sedil.dictionary import SeparableDictionary
from sedil.errors import EXPECTED
from sedil.files import make_folder, require_writable, write_content
from sedil.imaging.denoise import Progress, denoise
from sedil.imaging.images import find_images
from sedil.imaging.noise import estimate_noise
from sedil.imaging.picture_files import ImageFileError, Picture, picture_shape, read_picture, require_memory
from sedil.imaging.picture_formats import conform, encode

_BYTES_PER_VALUE = 45  # at the peak, measured on large grey and colour pictures
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
    """A picture that is read and whose results can be written."""

    job: Job
    picture: Picture
    facts: Facts


class Outcome(NamedTuple):
    """What became of a file: `error` says why it failed; `facts` is None if it could not be read."""

    job: Job
    facts: Facts | None
    seconds: float
    error: Exception | None


def plan_one(source: Path, output: Path, compare: Path | None, force: bool) -> Job:
    """Where the results of one file go: to the names given, or into the folders given under its own name."""
    job = Job(source, _inside(output, source), None if compare is None else _inside(compare, source))
    _require_distinct([job])
    _require_free(job.outputs, [source], force)
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
        file for place in places for file in (find_images([place], False) if place.is_dir() else [place])
    ]
    jobs = [
        Job(source, output / source.name, None if compare is None else compare / source.name)
        for source in sources
    ]
    _require_distinct(jobs)
    _require_free([path for job in jobs for path in job.outputs], sources, force)
    for path in jobs[0].outputs:
        make_folder(path.parent)
        require_writable(path)
    return jobs


def open_noisy(job: Job, sigma: float | None = None) -> Noisy:
    """Read a picture, make sure that the results can be written, estimate the noise unless it is given."""
    require_memory(job.source, _BYTES_PER_VALUE)
    picture = read_picture(job.source)
    notes = [*picture.notes]
    for path, pixels in _results(job, picture, picture.pixels):
        content, lost = conform(path, pixels)
        encode(path, content[:1, :1], **picture.extras)  # fails now rather than after the work
        notes += lost
    level = _estimated_noise(picture) if sigma is None else sigma
    return Noisy(job, picture, Facts(level, sigma is None, tuple(notes)))


def denoise_file(noisy: Noisy, settings: Settings, progress: Progress | None = None) -> None:
    """Denoise a picture and write the results; a picture in which no noise was found stays as it is."""
    picture, facts = noisy.picture, noisy.facts
    clean = picture.pixels
    if facts.sigma or not facts.estimated:
        clean = denoise(
            picture.pixels,
            facts.sigma,
            settings.dictionary,
            method=settings.method,
            stride=settings.stride,
            channel_axis=_channel_axis(picture),
            progress=progress,
        )
    for path, pixels in _results(noisy.job, picture, clean):
        write_content(path, encode(path, conform(path, pixels)[0], **picture.extras))


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


def _estimated_noise(picture: Picture) -> float:
    """The noise of a picture; 0 where what is found is but rounding."""
    level = estimate_noise(picture.pixels, _channel_axis(picture))
    return level if level > np.finfo(np.float32).eps * np.abs(picture.pixels).max() else 0.0


def _channel_axis(picture: Picture) -> int | None:
    return -1 if picture.pixels.ndim == 3 else None


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


def _require_free(outputs: Sequence[Path], sources: Iterable[Path], force: bool) -> None:
    """No result takes the place of a noisy picture, nor of any other file unless that is wanted."""
    there = [path for path in outputs if path.exists()]
    noisy = {_identity(source) for source in sources if source.exists()}
    for path in there:
        if _identity(path) in noisy:
            raise FileExistsError(f"{path} is the noisy picture itself: choose another name or folder.")
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
        return prod(picture_shape(source))
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
