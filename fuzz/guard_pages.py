"""Arrays beside memory that nobody may touch: one byte too far is a segmentation fault.

While `guarded` is on, every array that a fused kernel gets is such a copy, and what the kernel wrote is
copied back.
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np

Side = Literal["before", "after"]

SIDES: tuple[Side, ...] = ("before", "after")
_NO_ACCESS = 0  # PROT_NONE


class GuardPages:
    """Copies of arrays right after ("before") or right before ("after") a page that cannot be touched."""

    def __init__(self, side: Side) -> None:
        self._side = side
        # By what the originals are: an array that comes twice stays one array.
        self._copies: dict[tuple[Any, ...], tuple[np.ndarray, np.ndarray, mmap.mmap]] = {}

    def replace(self, value: Any) -> Any:
        """A value in which all arrays, also those of named tuples, are replaced by guarded copies."""
        if isinstance(value, np.ndarray):
            key = (value.ctypes.data, value.shape, value.strides, value.dtype.str)
            if key not in self._copies:
                self._copies[key] = (value, *guarded_copy(value, self._side))
            return self._copies[key][1]
        if isinstance(value, tuple):
            inside = [self.replace(each) for each in value]
            return type(value)(*inside) if hasattr(value, "_fields") else tuple(inside)
        return value

    def copy_back(self) -> None:
        """Write what the copies hold now into the arrays that they stand for."""
        for original, copy, _ in self._copies.values():
            if original.flags.writeable:
                original[...] = copy


def guarded_copy(array: np.ndarray, side: Side) -> tuple[np.ndarray, mmap.mmap]:
    """A copy of an array without gaps on pages of its own, and these pages."""
    room = -(-array.nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
    pages = mmap.mmap(-1, room + mmap.PAGESIZE)
    guard, start = (0, mmap.PAGESIZE) if side == "before" else (room, room - array.nbytes)
    forbid(ctypes.addressof(ctypes.c_char.from_buffer(pages)) + guard)
    copy = np.frombuffer(pages, array.dtype, array.size, start).reshape(array.shape)
    copy[...] = array
    return copy, pages


def forbid(address: int) -> None:
    """Let nobody touch the page at this address."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(mmap.PAGESIZE), _NO_ACCESS):
        raise OSError(ctypes.get_errno(), "mprotect failed")


@contextmanager
def guarded(side: Side) -> Iterator[None]:
    """Every call of a kernel from Python, in whatever thread, gets guarded arrays."""
    from sedil.engines.fused.kernels.compilation import Kernel

    plain = Kernel.__call__

    def call(kernel: Kernel, *arguments: Any) -> Any:
        pages = GuardPages(side)
        result = plain(kernel, *[pages.replace(argument) for argument in arguments])
        pages.copy_back()
        return result

    Kernel.__call__ = call  # type: ignore[method-assign]
    try:
        yield
    finally:
        Kernel.__call__ = plain  # type: ignore[method-assign]
