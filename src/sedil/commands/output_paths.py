"""Where a command may write: over no file that somebody still needs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def require_usable(path: Path, force: bool) -> None:
    """Refuse a path where nothing can be written, or where a file is unless it may be replaced."""
    from sedil.files import require_free, require_writable

    require_free([path], force)
    require_writable(path)


def require_usable_picture(path: Path, force: bool) -> None:
    """The same for a picture, whose suffix must be that of a format."""
    from sedil.files import picture_format

    require_usable(path, force)
    picture_format(path)


def is_among(path: Path, files: Sequence[Path]) -> bool:
    """Whether `path` is one of `files`, under whatever name."""
    return path.exists() and any(file.exists() and path.samefile(file) for file in files)
