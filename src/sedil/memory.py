"""The memory that this process may use: of the machine, of its container and under its own limit."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

_CONTROL_GROUPS = Path("/sys/fs/cgroup")
_OWN_GROUPS = Path("/proc/self/cgroup")


def usable_memory() -> int | None:
    """Bytes of memory that this process may use in all, where the system says so.

    The least of the memory of the machine, the limits of its control groups, which containers and batch
    systems set, and the limit on its address space (``ulimit -v``).
    """
    return min((*_machine(), *_control_groups(), *_address_space()), default=None)


def _machine() -> Iterator[int]:
    if hasattr(os, "sysconf"):  # not on Windows
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _address_space() -> Iterator[int]:
    try:
        import resource
    except ImportError:  # Windows
        return
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if soft != resource.RLIM_INFINITY:
        yield soft


def _control_groups() -> Iterator[int]:
    """Limits of the groups of this process and of those above them, in both versions of Linux' files."""
    with suppress(OSError, UnicodeDecodeError):
        for line in _OWN_GROUPS.read_text().splitlines():
            _, controllers, group = line.split(":", 2)
            if controllers == "":
                yield from _limits(_CONTROL_GROUPS, group, "memory.max")
            elif "memory" in controllers.split(","):
                yield from _limits(_CONTROL_GROUPS / "memory", group, "memory.limit_in_bytes")


def _limits(root: Path, group: str, name: str) -> Iterator[int]:
    """In a container the path may be that of the machine, and only its root be there."""
    inside = PurePosixPath(group.lstrip("/"))
    for folder in (inside, *inside.parents):
        with suppress(OSError, ValueError):  # no such file; "max" where there is no limit
            yield int((root / folder / name).read_text())
