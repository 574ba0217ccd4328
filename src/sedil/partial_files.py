"""Hidden files beside the one that is to be written, which take its place once they are whole.

A process that is killed leaves such a file behind. The one at work holds a lock on it, which ends with the
process: a file that nobody locks is a leftover, and is removed when the same file is written again.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # Windows: leftovers stay there
    fcntl = None  # type: ignore[assignment]

_LONGEST_NAME = 200  # bytes that leave room for what is added, where names may have 255


def place_to_write(path: Path) -> Path:
    """Where what is written to `path` goes: for a link where it points to; no folder, device or pipe."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        mode = stat.S_IFREG  # it will be one
    except OSError as error:
        raise OSError(f"Cannot write {path}: {error.strerror}.") from error
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(f"{path} is a folder: give the name of a file.")
    if not stat.S_ISREG(mode):
        raise OSError(f"{path} is a device, a pipe or a socket: give the name of a file.")
    return path.resolve() if path.is_symlink() else path


@contextmanager
def partial_file(place: Path) -> Iterator[BinaryIO]:
    """A new file beside `place`, with the permissions of the file there; gone at the end unless moved."""
    partial, stream = _locked_file(place)
    try:
        with stream:
            _take_permissions(stream, place)
            yield stream
    finally:
        with suppress(OSError):
            partial.unlink()


def remove_leftovers(place: Path) -> None:
    """Remove the partial files of `place` that no process is at work on."""
    if fcntl is None:
        return
    names = re.compile(re.escape(_beginning(place)) + r"[0-9a-f]{16}\.part")
    with suppress(OSError), os.scandir(place.parent) as entries:
        for leftover in [entry.path for entry in entries if names.fullmatch(entry.name)]:
            with suppress(OSError):  # it is locked, or gone, or not ours
                _remove_unless_locked(leftover)


def _locked_file(place: Path) -> tuple[Path, BinaryIO]:
    while True:
        partial = place.with_name(f"{_beginning(place)}{token_hex(8)}.part")
        stream = partial.open("xb")
        if fcntl is None:
            return partial, stream
        with suppress(OSError):  # a file system without locks, where no leftovers are removed either
            fcntl.flock(stream, fcntl.LOCK_EX)
        if os.fstat(stream.fileno()).st_nlink:
            return partial, stream
        stream.close()  # taken for a leftover between the two lines: another one


def _remove_unless_locked(leftover: str) -> None:
    # A link is not followed and a pipe not waited for: others may write in the folder, too.
    handle = os.open(leftover, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(leftover)
    finally:
        os.close(handle)


def _beginning(place: Path) -> str:
    name = os.fsencode(place.name)
    short = place.name if len(name) <= _LONGEST_NAME else blake2b(name, digest_size=16).hexdigest()
    return f".{short}."


def _take_permissions(stream: BinaryIO, place: Path) -> None:
    if not hasattr(os, "fchmod"):  # Windows
        return
    with suppress(OSError):  # there is none, or its file system has none
        old, new = place.stat(), os.fstat(stream.fileno())
        if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
            with suppress(OSError):  # only the superuser gives files away
                os.fchown(stream.fileno(), old.st_uid, old.st_gid)
        os.fchmod(stream.fileno(), stat.S_IMODE(old.st_mode))
