"""A disk that has no room left, or a user who presses Ctrl-C, in the middle of a write."""

import errno
import io
import os
from pathlib import Path


def no_space():
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def stop_writes(monkeypatch, name, error, room=50):
    """Writes to files with `name` in their name fail with `error` after `room` bytes."""
    plain_open = Path.open

    class Full(io.FileIO):
        def write(self, data):
            super().write(bytes(data)[:room])
            raise error()

    def open_(path, mode="r", *more, **named):
        return (
            Full(path, mode) if name in path.name and "x" in mode else plain_open(path, mode, *more, **named)
        )

    monkeypatch.setattr(Path, "open", open_)
