"""What is kept on disk of compiled kernels, when it is out of date, and when it is damaged.

Numba looks at the file of the called kernel alone. Here a change in any file of this package counts, as a
kernel contains code of the others. And as whatever a file holds would be run, a digest tells whether it is
what was written: what is damaged, old or of another kernel is compiled anew. A disk that is full or read-only
costs nothing but the time to compile in every process.
"""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib.resources import files
from pathlib import Path
from secrets import token_hex
from typing import Any

import numba
from numba.core.caching import FunctionCache, NullCache
from numba.core.serialize import dumps

_DIGEST_BYTES = 32


class KernelCache(FunctionCache):
    """The files of one kernel: where Numba would put them, valid for the sources as they are now."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        stamp = f"{self._impl.locator.get_source_stamp()} {digest_of_sources()} {numba.__version__}"
        self._cache_file: Any = KernelFiles(Path(self._cache_path), self._impl.filename_base, stamp)

    @classmethod
    def create(cls, function: Callable[..., Any]) -> KernelCache | NullCache:
        """The cache of a kernel; of none, if there is no folder to write it to."""
        try:
            return cls(function)
        except (RuntimeError, OSError):
            return NullCache()

    def save_overload(self, signature: Any, data: Any) -> None:
        """Keep a kernel, if there is room for it."""
        with suppress(OSError):
            super().save_overload(signature, data)


class KernelFiles:
    """One file for each set of types and each kind of processor: a digest, and what was compiled.

    Parameters
    ----------
    folder : where they are
    name : how their names begin
    stamp : what they depend on besides their keys
    """

    def __init__(self, folder: Path, name: str, stamp: str) -> None:
        self._folder, self._name, self._stamp = folder, name, stamp

    def load(self, key: Any) -> Any:
        """What was saved with this key; None if nothing was, or if the file is not what was written."""
        try:
            content = self._path(key).read_bytes()
        except OSError:
            return None
        digest, pickled = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
        return pickle.loads(pickled) if digest == self._digest(key, pickled) else None

    def save(self, key: Any, data: Any) -> None:
        """Write a file in one step."""
        pickled, path = dumps(data), self._path(key)
        partial = path.with_name(f"{path.name}.{token_hex(8)}.part")
        try:
            partial.write_bytes(self._digest(key, pickled) + pickled)
            os.replace(partial, path)
        finally:
            with suppress(OSError):
                partial.unlink()

    def flush(self) -> None:
        """Forget all: the next process compiles anew."""
        for path in self._folder.glob(f"{self._name}.*.nbc"):
            path.unlink(missing_ok=True)

    def _path(self, key: Any) -> Path:
        return self._folder / f"{self._name}.{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.nbc"

    def _digest(self, key: Any, pickled: bytes) -> bytes:
        what = f"{self._stamp} {key!r}".encode()
        return hashlib.sha256(hashlib.sha256(what).digest() + pickled).digest()


@cache
def digest_of_sources() -> str:
    """A digest of all files of this package, also inside an archive, whatever their dates."""
    digest = hashlib.sha256()
    for file in sorted(files(__package__).iterdir(), key=lambda file: file.name):
        if file.name.endswith((".py", ".pyc")):
            digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()
