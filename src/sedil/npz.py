"""Arrays in ``.npz`` files: what each of them is, before any of it is read, and nothing is unpickled."""

from __future__ import annotations

from math import prod
from typing import IO, Any, NamedTuple
from zipfile import ZipFile, ZipInfo

import numpy as np

from sedil.global_state import without_words_of_libraries

_SUFFIX = ".npy"
_HEAD_READERS: dict[Any, Any] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


class ArrayHead(NamedTuple):
    """Shape and type of an array, and where it lies."""

    shape: tuple[int, ...]
    dtype: np.dtype
    member: ZipInfo

    @property
    def n_bytes(self) -> int:
        """What the array takes in memory."""
        return prod(self.shape) * self.dtype.itemsize


def array_heads(archive: ZipFile) -> dict[str, ArrayHead]:
    """What the arrays of an ``.npz`` are, by their names; a ValueError if one is not as large as it says."""
    heads: dict[str, ArrayHead] = {}
    for member in archive.infolist():
        name = member.filename.removesuffix(_SUFFIX)
        if name == member.filename or name in heads:
            raise ValueError(f"{member.filename!r} is no array, or there are two of that name")
        heads[name] = _head(archive, member)
    return heads


def read_array(archive: ZipFile, head: ArrayHead) -> np.ndarray:
    """One of the arrays."""
    with without_words_of_libraries.held(), archive.open(head.member) as stream:
        array = np.lib.format.read_array(stream, allow_pickle=False)
        if stream.read(1):  # the end has to be seen for the checksum to be compared
            raise ValueError(f"{head.member.filename!r} goes on after its array")
        return array


def _head(archive: ZipFile, member: ZipInfo) -> ArrayHead:
    with without_words_of_libraries.held(), archive.open(member) as stream:
        head = ArrayHead(*_shape_and_dtype(stream), member)
        if head.dtype.hasobject:
            raise ValueError(f"{member.filename!r} holds objects, not numbers")
        if min(head.shape, default=0) < 0 or stream.tell() + head.n_bytes != member.file_size:
            raise ValueError(f"{member.filename!r} is not as large as it says")
        return head


def _shape_and_dtype(stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype]:
    version = np.lib.format.read_magic(stream)
    if version not in _HEAD_READERS:
        raise ValueError(f"arrays of version {version} are not known")
    shape, _, dtype = _HEAD_READERS[version](stream)
    return shape, dtype
