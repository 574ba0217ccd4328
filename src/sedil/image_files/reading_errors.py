"""What stops a file of a picture or volume from being read, in one sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path

from sedil.errors import ImageFileError
from sedil.memory import usable_memory


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
