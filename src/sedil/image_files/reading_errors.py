"""What stops a file of a picture or volume from being read, in one sentence."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path

from sedil.errors import ImageFileError


@contextmanager
def one_sentence(path: Path, kind: str, why_damaged: Callable[[Exception], str]) -> Iterator[None]:
    """Whatever the readers of a file raise, as an `ImageFileError`.

    Parameters
    ----------
    path : path of the file
    kind : what it should be, for example "an image"
    why_damaged : what to say of an error that the content of the file is to blame for
    """
    try:
        yield
    except ImageFileError:
        raise
    except Exception as error:  # decoders of damaged files raise all kinds
        reason = _reason_besides_content(path, error) or why_damaged(error)
        raise ImageFileError(f"{path} cannot be read as {kind}: {reason}.") from error


def _reason_besides_content(path: Path, error: Exception) -> str | None:
    if path.is_dir():
        return "it is a folder"
    if isinstance(error, MemoryError):
        return "it does not fit into memory"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return "the file is empty" if path.stat().st_size == 0 else None


def require_memory(path: str | Path, shape: tuple[int, ...], bytes_per_value: float) -> None:
    """Refuse a file of so many numbers if they take more memory than the machine has."""
    needed, there = bytes_per_value * prod(shape), _physical_memory()
    if there is not None and needed > there:
        sides = shape[:-1] if len(shape) > 2 and shape[-1] == 3 else shape
        raise ImageFileError(
            f"{path} has {' x '.join(f'{side:,}' for side in sides)} pixels, which take about "
            f"{needed / 1e9:,.1f} GB of memory, and this machine has {there / 1e9:,.1f} GB: "
            f"cut it into parts."
        )


def _physical_memory() -> int | None:
    """Bytes of memory that the machine has, where the system says so."""
    if not hasattr(os, "sysconf"):  # Windows
        return None
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
