"""Memory of this process, as the system tells it."""

from __future__ import annotations

import ctypes
import gc
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_RESET_PEAK = "5"  # what Linux wants to read there


def memory_of(run: Callable[[], Any]) -> int | None:
    """Bytes that one run takes at its peak beyond what was in use, result included; None if not on Linux."""
    gc.collect()
    before = reset_peak()
    if before is None:
        return None
    result = run()
    peak = peak_memory()
    del result
    return max(peak - before, 0)


def reset_peak() -> int | None:
    """Forget the peak so far; returns the bytes in use now, or None where this cannot be done (not Linux)."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)  # what is free but held back would hide what is taken
    try:
        _CLEAR.write_text(_RESET_PEAK)
    except OSError:
        return None
    return _status_bytes("VmRSS")


def peak_memory() -> int:
    """Bytes of memory in use at the peak, of this process without its children."""
    if _STATUS.exists():
        # Not ru_maxrss, which a process inherits from the one that started it.
        return _status_bytes("VmHWM")
    import resource
    import sys

    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return largest if sys.platform == "darwin" else 1024 * largest


def _status_bytes(name: str) -> int:
    found = re.search(rf"^{name}:\s+(\d+) kB", _STATUS.read_text(), re.MULTILINE)
    return 1024 * int(found[1]) if found else 0
