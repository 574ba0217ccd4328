"""What is kept on disk of compiled kernels, and when it is out of date.

Numba looks at the file of the called kernel alone. Here a change in any file of this package counts, as a
kernel contains code of the others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache


class KernelCache(FunctionCache):
    """The files of one kernel: where Numba would put them, valid for the sources as they are now."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp(), digest_of_sources()
        self._cache_file = IndexDataCacheFile(self._cache_path, self._impl.filename_base, stamp)

    @classmethod
    def create(cls, function: Callable[..., Any]) -> KernelCache | NullCache:
        """The cache of a kernel; of none, if there is no folder to write it to."""
        try:
            return cls(function)
        except RuntimeError:
            return NullCache()


@cache
def digest_of_sources() -> str:
    """A digest of all files of this package, also inside an archive, whatever their dates."""
    digest = hashlib.sha256()
    for file in sorted(files(__package__).iterdir(), key=lambda file: file.name):
        if file.name.endswith((".py", ".pyc")):
            digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()
