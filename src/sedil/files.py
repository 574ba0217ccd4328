"""Archives: one ``.npz`` with arrays and a header of plain JSON; nothing is ever unpickled."""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sedil.errors import DictionaryFileError, require_folder

FORMAT_VERSION = 1
_HEADER = "header"
# What numpy, zipfile and json raise on damaged or foreign content.
_UNREADABLE = (
    OSError,
    ValueError,
    KeyError,
    EOFError,
    TypeError,
    AttributeError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
)


def write_archive(path: str | Path, kind: str, arrays: Mapping[str, Any], facts: Mapping) -> None:
    """Write `arrays` and `facts` to `path` in one step: after a crash the old file is still whole.

    Parameters
    ----------
    path : path of the file; it is replaced if it exists.
    kind : what the archive holds; `read_archive` refuses another kind.
    arrays : NumPy arrays by name.
    facts : anything that JSON can hold.
    """
    path = Path(path)
    require_folder(path)
    header = json.dumps({"kind": kind, "format_version": FORMAT_VERSION, "facts": dict(facts)})
    handle, partial = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            np.savez(stream, allow_pickle=False, **{_HEADER: np.array(header)}, **arrays)
        os.chmod(partial, 0o666 & ~_umask())  # mkstemp makes private files; results are ordinary ones
        os.replace(partial, path)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise


def read_archive(path: str | Path, kind: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Arrays and facts that `write_archive` wrote; one clear error for any other file."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}.")
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        header = json.loads(str(arrays.pop(_HEADER)[()]))
        found, version, facts = header["kind"], header["format_version"], header["facts"]
    except _UNREADABLE as error:
        raise DictionaryFileError(
            f"{path} is not a {kind} file of sedil, or it is damaged ({type(error).__name__})."
        ) from error
    if found != kind:
        raise DictionaryFileError(f"{path} holds a {found}, not a {kind}.")
    if version != FORMAT_VERSION:
        raise DictionaryFileError(
            f"{path} has format version {version}; this sedil reads version {FORMAT_VERSION}: "
            f"update sedil to read it."
        )
    return arrays, facts


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
