"""Which files are worked on, and where their results go: over no file that somebody still needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from sedil.files import make_folder, require_free, require_writable
from sedil.image_files.image_search import (
    PICTURE_SUFFIXES,
    VOLUME_SUFFIXES,
    find_images,
    has_suffix_of_image,
)

_NOISY = "the noisy picture"


class FileJob(NamedTuple):
    """A file, where the result goes, and where the comparison of both goes if it is wanted."""

    source: Path
    target: Path
    comparison: Path | None

    @property
    def outputs(self) -> list[Path]:
        """The files that are written."""
        return [self.target] if self.comparison is None else [self.target, self.comparison]


def plan_one(
    source: Path,
    output: Path,
    compare: Path | None,
    force: bool,
    inputs: Mapping[Path, str] | None = None,
) -> FileJob:
    """Where the results of one file go: to the names given, or into the folders given under its own name.

    `inputs` says what each file is that no result may replace. Default: the source is the noisy picture.
    """
    job = FileJob(
        source, _inside_folder(output, source), None if compare is None else _inside_folder(compare, source)
    )
    _require_order(job)
    _require_distinct([job])
    _require_not_inputs(job.outputs, inputs or {source: _NOISY})
    require_free(job.outputs, force)
    for path in job.outputs:
        require_writable(path)
    return job


def plan_several(paths: Sequence[Path], output: Path, compare: Path | None, force: bool) -> list[FileJob]:
    """Where the results of files and folders go: into the folders given, under their own names.

    What lies in subfolders of `paths` goes into subfolders of the same names. The folders given are made if
    they do not exist, and never searched for pictures themselves.
    """
    _require_name_of_folder(output, "several pictures go into a folder, which comes last")
    if compare is not None:
        _require_name_of_folder(compare, "comparisons of several pictures go into a folder")
    folders = [output] if compare is None else [output, compare]
    jobs = [
        FileJob(source, output / name, None if compare is None else compare / name)
        for source, name in _sources(paths, folders)
    ]
    _require_distinct(jobs)
    outputs = [path for job in jobs for path in job.outputs]
    _require_not_inputs(outputs, dict.fromkeys((job.source for job in jobs), _NOISY))
    require_free(outputs, force)
    for folder in folders:
        make_folder(folder)
        require_writable(folder / jobs[0].target.name)
    return jobs


def _sources(paths: Sequence[Path], leave_out: Sequence[Path]) -> Iterator[tuple[Path, Path]]:
    """Each file, and its name below the folder that is given."""
    for path in paths:
        for file in find_images([path], PICTURE_SUFFIXES + VOLUME_SUFFIXES, leave_out):
            yield file, Path(file.name) if file == path else file.relative_to(path)


def _inside_folder(path: Path, source: Path) -> Path:
    return path / source.name if path.is_dir() else path


def _require_name_of_folder(path: Path, rule: str) -> None:
    """Refuse a file, and what looks like the name of one."""
    if path.is_file():
        raise NotADirectoryError(f"{path} is a file: {rule}.")
    if has_suffix_of_image(path) and not path.is_dir():
        raise NotADirectoryError(f"{path} looks like a file: {rule}: name it {path.stem}, for example.")


def _require_order(job: FileJob) -> None:
    """Whoever names the result first is not told to overwrite the picture."""
    if job.target.exists() and not job.source.exists():
        raise FileNotFoundError(
            f"There is no file {job.source}, but {job.target} is there: IN comes first, OUT last."
        )


def _require_distinct(jobs: Iterable[FileJob]) -> None:
    """No two results under one name."""
    origin: dict[Path, Path] = {}
    for job in jobs:
        for path in job.outputs:
            resolved = path.parent.resolve() / path.name
            if resolved in origin:
                raise FileExistsError(_same_name(origin[resolved], job.source, path))
            origin[resolved] = job.source


def _same_name(first: Path, second: Path, path: Path) -> str:
    if first == second:
        return f"{path} would be both the result and the comparison: choose another name for one."
    return f"{first} and {second} would both be written to {path}: denoise them into different folders."


def _require_not_inputs(outputs: Sequence[Path], inputs: Mapping[Path, str]) -> None:
    """No result replaces an input."""
    words = {_identity(path): word for path, word in inputs.items() if path.exists()}
    for path in outputs:
        if path.exists() and (word := words.get(_identity(path))):
            raise FileExistsError(f"{path} is {word} itself: choose another name or folder.")


def _identity(path: Path) -> tuple[int, int]:
    """The same for all names of a file."""
    found = path.stat()
    return found.st_dev, found.st_ino
