"""What stops a file of a picture or volume from being read, in one sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Any

from sedil.errors import ImageFileError
from sedil.global_state import without_words_of_libraries
from sedil.memory import usable_memory

_LONGEST_WORDS = 200  # of what a library says: more is the content of the file


@contextmanager
def one_sentence(path: Path, kind: str, why_damaged: Callable[[Exception], str]) -> Iterator[None]:
    """Whatever the readers of a file raise, as an `ImageFileError`.

    Parameters
    ----------
    path : path of the file
    kind : what it should be, for example "an image"
    why_damaged : what to say of an error that the content of the file is to blame for
    """
    _require_plain_file(path)
    try:
        with without_words_of_libraries.held():
            yield
    except ImageFileError:
        raise
    except Exception as error:  # decoders of damaged files raise all kinds
        reason = _reason_besides_content(path, error) or why_damaged(error)
        raise ImageFileError(f"{path} cannot be read as {kind}: {reason}.") from error


def _require_plain_file(path: Path) -> None:
    """Refuse what would be waited for; what is not there, and folders, are left to the readers."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise ImageFileError(f"{path} is a device, a pipe or a socket: give the name of a file.")


class DamagedFileError(ValueError):
    """What is wrong with the content of a file, in our own words."""


def what_it_says(error: Exception, *kinds: type[Exception]) -> str:
    """The words of an error in brackets, if it is of a kind whose words are for users; else nothing.

    Others, such as the ValueError of a number that cannot be parsed, are for those who wrote the reader.
    """
    words = " ".join(str(error).split()).rstrip(".") if isinstance(error, (DamagedFileError, *kinds)) else ""
    return f" ({words})" if words and len(words) <= _LONGEST_WORDS else ""


def require_counts(counts: tuple[Any, ...]) -> None:
    """Refuse a shape that a file tells in something else than numbers."""
    if not all(isinstance(count, int) for count in counts):
        raise DamagedFileError("its size is not told in numbers")


def _reason_besides_content(path: Path, error: Exception) -> str | None:
    if path.is_dir():
        return "it is a folder"
    if isinstance(error, MemoryError):
        return "it does not fit into memory"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return "the file is empty" if path.stat().st_size == 0 else None


def require_memory(path: str | Path, shape: tuple[int, ...], bytes_per_value: float) -> None:
    """Refuse a file of so many numbers if they take more memory than this process may use."""
    sides = shape[:-1] if len(shape) > 2 and shape[-1] == 3 else shape
    require_bytes(path, f"{' x '.join(f'{side:,}' for side in sides)} pixels", bytes_per_value * prod(shape))


def require_bytes(path: str | Path, what: str, needed: float) -> None:
    """Refuse a file if `what` it has takes more bytes of memory than this process may use."""
    there = usable_memory()
    if there is not None and needed > there:
        raise ImageFileError(
            f"{path} has {what}, which take about {needed / 1e9:,.1f} GB of memory, and this process may use "
            f"{there / 1e9:,.1f} GB: cut it into parts."
        )
