"""A word to the user while the kernels compile: the first call on a machine takes some seconds."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer

_PATIENCE = 1.0  # seconds
_ready: set[str] = set()


@contextmanager
def announced(kernel: str) -> Iterator[None]:
    """Say on standard error that `kernel` compiles, if its first use here takes longer than a second.

    The result is kept on disk, so this happens once per machine and version.
    """
    if kernel in _ready:
        yield
        return
    timer = Timer(_PATIENCE, _say)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
    _ready.add(kernel)


def _say() -> None:
    print("sedil: compiling for this machine, once ...", file=sys.stderr, flush=True)  # noqa: T201
