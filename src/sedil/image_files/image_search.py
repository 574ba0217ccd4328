"""Finding files of pictures and volumes in folders."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

PICTURE_SUFFIXES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp", ".pgm", ".ppm")
VOLUME_SUFFIXES = (".nii", ".nii.gz", ".npy")


def find_images(
    paths: Iterable[Path], suffixes: Sequence[str] = PICTURE_SUFFIXES, leave_out: Sequence[Path] = ()
) -> list[Path]:
    """Files of pictures or volumes, sorted: folders are searched with their subfolders, files taken as given.

    Hidden files and folders, whose names start with a dot, are left out, and so are the folders `leave_out`
    where they lie inside of one that is searched.
    """
    found: list[Path] = []
    for path in paths:
        found += _inside(path, suffixes, leave_out) if path.is_dir() else [path]
    return found


def find_training_files(paths: Iterable[Path], n_axes: int) -> list[Path]:
    """Files to take patches of so many axes from: pictures for two, volumes for three."""
    suffixes = (*PICTURE_SUFFIXES, ".npy") if n_axes == 2 else (*VOLUME_SUFFIXES, ".tif", ".tiff")
    return find_images(paths, suffixes)


def has_suffix_of_image(path: Path) -> bool:
    """Whether a name is that of a picture or volume rather than of a folder."""
    return path.name.lower().endswith(PICTURE_SUFFIXES + VOLUME_SUFFIXES)


def _inside(folder: Path, suffixes: Sequence[str], leave_out: Sequence[Path]) -> list[Path]:
    others = {path.resolve() for path in leave_out} - {folder.resolve()}
    found = sorted(
        path
        for path in folder.glob("**/*")
        if path.name.lower().endswith(tuple(suffixes))
        and path.is_file()
        and not _is_hidden(path.relative_to(folder))
        and others.isdisjoint(path.resolve().parents)
    )
    if not found:
        raise FileNotFoundError(f"The folder {folder} holds no images ({', '.join(suffixes)}).")
    return found


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)
