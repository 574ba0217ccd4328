"""Changes to what belongs to the whole process, made once for all calls that need them at the same time."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import RLock
from typing import Any

Undo = Callable[[], None]


class SharedChange:
    """A change that the first call to need it makes, and the last one to need it undoes.

    Parameters
    ----------
    change : callable
        Makes the change and returns the function that undoes it.

    Examples
    --------
    >>> from sedil.global_state import SharedChange
    >>> def change():
    ...     print("quiet")
    ...     return lambda: print("loud")
    >>> quiet = SharedChange(change)
    >>> with quiet.held(), quiet.held():
    ...     print("work")
    quiet
    work
    loud
    """

    def __init__(self, change: Callable[..., Undo]) -> None:
        self._change = change
        self._undo: Undo | None = None
        self._holders: set[object] = set()
        # Reentrant, as the collector may end a generator that holds the change in the midst of what follows.
        self._lock = RLock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=self._lock.acquire,
                after_in_parent=self._lock.release,
                after_in_child=self._begin_in_child,
            )

    @contextmanager
    def held(self, *arguments: Any) -> Iterator[None]:
        """The change is made inside; what was there before is back when nobody is inside any more.

        Parameters
        ----------
        *arguments
            What the change takes, should this call be the first one in.
        """
        holder = object()
        try:
            with self._lock:
                self._holders.add(holder)
                if self._undo is None:
                    self._undo = self._change(*arguments)
            yield
        finally:
            with self._lock:
                self._holders.discard(holder)
                self._undo_if_free()

    def _undo_if_free(self) -> None:
        if not self._holders and self._undo is not None:
            undo, self._undo = self._undo, None
            undo()

    def _begin_in_child(self) -> None:
        """A forked process has none of the threads that would undo the change later."""
        self._holders.clear()
        self._undo_if_free()
        self._lock.release()


# Who reads and writes files for us, and the loggers by which they speak of what is strange in one.
# NumPy has Python itself read the heads of its files, which warns as "<unknown>" of a stray backslash.
_LIBRARIES = r"(PIL|nibabel|tifffile)\.|<unknown>$"
_LOGGERS = ("PIL.TiffImagePlugin", "nibabel.global", "tifffile")


def _silence_libraries() -> Undo:
    """One entry more in the list of filters: `warnings.catch_warnings` would undo what other threads add."""
    filters = warnings.filters
    warnings.filterwarnings("ignore", module=_LIBRARIES)
    entry = filters[0]
    were = {log: log.disabled for log in map(logging.getLogger, _LOGGERS)}
    for log in were:
        log.disabled = True

    def undo() -> None:
        for found in (filters, warnings.filters):  # which another thread may have replaced by a copy
            with suppress(ValueError):
                found.remove(entry)  # type: ignore[attr-defined]
        for log, was in were.items():
            log.disabled = was

    return undo


without_words_of_libraries = SharedChange(_silence_libraries)
"""They warn of damaged facts in a file, and speak to programmers: what stops the reading is raised."""
