"""Ctrl-C that lets the current iteration finish."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType


class Interruption:
    """While active, the first Ctrl-C sets `requested`; a second one interrupts at once, as usual.

    In threads other than the main one Python delivers no signals, and this does nothing.
    """

    def __init__(self) -> None:
        self.requested = False
        self._is_main = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> Interruption:
        if self._is_main:
            self._previous = signal.signal(signal.SIGINT, self._request)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._restore()

    def _request(self, number: int, frame: FrameType | None) -> None:
        self.requested = True
        self._restore()

    def _restore(self) -> None:
        if self._is_main and self._previous is not None:  # None: not set from Python, cannot be restored
            signal.signal(signal.SIGINT, self._previous)
