"""What happens around the compilation of kernels: the first call on a machine takes some seconds."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Lock, Timer

_PATIENCE = 1.0  # seconds
_ready: set[str] = set()
_said = Event()
_saying = Lock()


@contextmanager
def announced(kernel: str) -> Iterator[None]:
    """Say on standard error, once per process, if the first use of `kernel` takes longer than a second.

    What is compiled is kept on disk, so this happens once per machine and version.
    """
    if kernel in _ready:
        yield
        return
    timer = Timer(_PATIENCE, _say)
    timer.daemon = True
    timer.start()
    try:
        with _no_search_for_garbage():
            yield
    finally:
        timer.cancel()
    _ready.add(kernel)


@contextmanager
def _no_search_for_garbage() -> Iterator[None]:
    """Numba makes millions of objects and needs them to the end: searching takes a twentieth of its time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _say() -> None:
    with _saying:
        if _said.is_set():
            return
        _said.set()
        print("sedil: compiling for this machine, once ...", file=sys.stderr, flush=True)  # noqa: T201
