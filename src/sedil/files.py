"""Files that are written in one step: archives and pictures.

An archive is one ``.npz`` with arrays and a header of plain JSON; nothing is ever unpickled.
"""

from __future__ import annotations

import json
import os
import re
import struct
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from sedil.checks import require_folder
from sedil.errors import DictionaryFileError, kind_of
from sedil.global_state import without_words_of_libraries
from sedil.memory import usable_memory
from sedil.npz import ArrayHead, array_heads, read_array
from sedil.partial_files import partial_file, place_to_write, remove_leftovers

FORMAT_VERSION = 2
_HEADER = "header"


def write_archive(path: str | Path, kind: str, arrays: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
    """Write `arrays` and `facts` to `path` in one step: after a crash the old file is still whole.

    Parameters
    ----------
    path : path of the file; it is replaced if it exists.
    kind : what the archive holds; `read_archive` refuses another kind.
    arrays : NumPy arrays by name.
    facts : anything that JSON can hold.
    """
    header = json.dumps({"kind": kind, "format_version": FORMAT_VERSION, "facts": dict(facts)})
    with replacing(path) as stream:
        np.savez(stream, allow_pickle=False, **{_HEADER: np.array(header)}, **arrays)


def archive_kind(path: str | Path) -> str | None:
    """What an archive of sedil holds, from its header alone; None for any other file."""
    if not Path(path).is_file():  # a pipe would be waited for
        return None
    try:
        with _opened_archive(Path(path)) as (archive, heads):
            return _read_header(archive, heads)["kind"]
    except Exception:  # as many kinds as there are ways to be damaged
        return None


def read_archive(
    path: str | Path, kind: str, names: str = ".*"
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Arrays and facts that `write_archive` wrote; one clear error for any other file.

    Parameters
    ----------
    path : path of the file
    kind : what the archive must hold
    names : what its arrays may be called, as a regular expression; if there are others, none is read
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}.")
    with _one_error(path, kind), _opened_archive(path) as (archive, heads):
        header = _read_header(archive, heads)
        _require_header(path, kind, header["kind"], header["format_version"], header["facts"])
        del heads[_HEADER]
        _require_names(path, kind, heads, names)
        arrays = {name: read_array(archive, head) for name, head in heads.items()}
        return arrays, header["facts"]


@contextmanager
def _one_error(path: Path, kind: str) -> Iterator[None]:
    """Whatever zipfile, NumPy and JSON raise on damaged or foreign content, as a `DictionaryFileError`."""
    try:
        yield
    except DictionaryFileError:
        raise
    except Exception as error:
        raise DictionaryFileError(
            f"{path} is not a {kind} file of sedil, or it is damaged ({type(error).__name__})."
        ) from error


@contextmanager
def _opened_archive(path: Path) -> Iterator[tuple[zipfile.ZipFile, dict[str, ArrayHead]]]:
    """An archive and what its arrays are, which fit into the memory."""
    # One file from here on, whatever another process puts in its place meanwhile.
    with path.open("rb") as stream, zipfile.ZipFile(stream) as archive:
        heads = array_heads(archive)
        _require_size(path, heads, os.fstat(stream.fileno()).st_size)
        yield archive, heads


def _require_size(path: Path, heads: Mapping[str, ArrayHead], size: int) -> None:
    """Refuse arrays that are larger than their file, which is not compressed, or than the memory."""
    needed = sum(head.n_bytes for head in heads.values())
    if needed > size:
        raise DictionaryFileError(
            f"{path} was not written by sedil, or it is damaged: its arrays take {needed:,} bytes, and the "
            f"file has {size:,}."
        )
    there = usable_memory()
    if there is not None and needed > there:
        raise DictionaryFileError(
            f"{path} takes {needed / 1e9:,.1f} GB of memory, and this process may use {there / 1e9:,.1f} GB: "
            f"read it on a larger machine, or raise the limit."
        )


def _read_header(archive: zipfile.ZipFile, heads: Mapping[str, ArrayHead]) -> dict[str, Any]:
    text = str(read_array(archive, heads[_HEADER])[()])
    if not text.isascii():  # as it was written; NumPy lets through what is no character at all
        raise ValueError("the header is not ASCII")
    return json.loads(text)


def _require_header(path: Path, kind: str, found: Any, version: Any, facts: Any) -> None:
    if type(version) is not int or version < 1:
        raise DictionaryFileError(f"{path} is damaged: its format version is {version!r:.60}, not 1 or more.")
    if not isinstance(facts, dict):
        raise DictionaryFileError(f"{path} is damaged: its facts are {kind_of(facts)}, not a dict.")
    if found != kind:
        raise DictionaryFileError(f"{path} holds a {found!s:.60}, not a {kind}.")
    if version != FORMAT_VERSION:
        remedy = "update sedil to read it" if version > FORMAT_VERSION else "make it anew"
        raise DictionaryFileError(
            f"{path} has format version {version}; this sedil reads version {FORMAT_VERSION}: {remedy}."
        )


def _require_names(path: Path, kind: str, heads: Mapping[str, ArrayHead], names: str) -> None:
    strangers = [name for name in heads if not re.fullmatch(names, name)]
    if strangers:
        raise DictionaryFileError(
            f"{path} was not written by sedil, or it is damaged: it holds an array {strangers[0]!r:.40}, as "
            f"no {kind} does."
        )


@contextmanager
def replacing(path: str | Path) -> Iterator[BinaryIO]:
    """A stream whose content becomes that of `path` at the end; on failure the old file stays whole.

    A link stays and what it points to is replaced; the permissions of the old file are kept.
    """
    with _partial_file(Path(path)) as (place, stream):
        remove_leftovers(place)
        yield stream
        stream.flush()
        os.fsync(stream.fileno())
        if os.name == "nt":
            stream.close()  # Windows moves closed files only; elsewhere the lock lasts until it is moved
        os.replace(stream.name, place)


def require_writable(path: str | Path) -> None:
    """Refuse a path where `replacing` could not write, before the work that it is to hold."""
    with _partial_file(Path(path)):
        pass


def require_free(paths: Sequence[Path], force: bool) -> None:
    """Refuse to write over files that exist, unless that is wanted."""
    there = [path for path in paths if path.exists() and not path.is_dir()]
    if there and not force:
        more = f", and so do {len(there) - 1} more" if len(there) > 1 else ""
        raise FileExistsError(f"{there[0]} exists already{more}: choose another name or add --force.")


@contextmanager
def _partial_file(path: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """Where the file goes, and a partial one beside it; errors of the system name `path`."""
    place = place_to_write(path)
    require_folder(place)
    try:
        with partial_file(place) as stream:
            yield place, stream
    except OSError as error:
        raise OSError(f"Cannot write {path}: {error.strerror or error}.") from error


def write_picture(path: str | Path, pixels: np.ndarray) -> None:
    """Write grey or colour pixels in the format of the suffix, in one step like `replacing`."""
    write_content(path, as_file_content(path, pixels))


def write_content(path: str | Path, content: bytes) -> None:
    """Write a whole file in one step like `replacing`."""
    with replacing(path) as stream:
        stream.write(content)


def as_file_content(path: str | Path, pixels: np.ndarray, **options: Any) -> bytes:
    """What a file with the picture holds, in the format of the suffix; `options` are those of Pillow.

    Made in memory: Pillow writes to files past Python's streams, and takes no notice of a disk that
    fills up during its last write. No view of the stream is handed out: while there is one, Python cannot
    clear the stream away, and complains.
    """
    from PIL import Image

    chosen = picture_format(path)
    stream = BytesIO()
    try:
        with without_words_of_libraries.held():
            Image.fromarray(pixels).save(stream, format=chosen, **options)
    except (OSError, ValueError, TypeError, struct.error) as error:
        raise OSError(f"Cannot write {path}: {getattr(error, 'strerror', None) or error}.") from error
    return stream.getvalue()


def picture_format(path: str | Path) -> str:
    """Pillow's name of the format that the suffix of `path` stands for."""
    from PIL import Image

    suffix = Path(path).suffix.lower()
    found = Image.registered_extensions().get(suffix)
    if found not in Image.SAVE:
        came = f"{suffix} is not a picture format that can be written" if suffix else "it has no suffix"
        raise ValueError(f"Cannot write a picture to {path}: {came}: use .png.")
    return found


def make_folder(folder: Path, parents: bool = False) -> None:
    """Make a folder in one that exists, unless it is there; with `parents` those above it too."""
    try:
        folder.mkdir(parents=parents, exist_ok=True)
    except FileExistsError as error:
        raise NotADirectoryError(f"{folder} is a file: give the name of a folder.") from error
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"Cannot make the folder {folder}: the folder {folder.parent} does not exist."
        ) from error
    except OSError as error:
        raise OSError(f"Cannot make the folder {folder}: {error.strerror}.") from error
