"""What a run over many blocks has done: the run that comes after one that was stopped goes on from there.

A folder beside the result, ``NAME.unfinished``, holds the result as far as it is made, a file that says what
run it is of, and one with a line for each block that is written whole. Only the process that leads a run
writes lines, and only after the block is in its file: a block that was half-written has none. At the end the
result takes its place in one step and the folder is gone.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

try:
    import fcntl
except ImportError:  # Windows: two runs at a time are not noticed there
    fcntl = None  # type: ignore[assignment]

_WHAT, _DONE, _RESULT = "run.json", "finished.txt", "result"


class Journal:
    """The record of a run whose result goes to `target`."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self.folder = target.with_name(f"{target.name}.unfinished")
        self.result = self.folder / f"{_RESULT}{target.suffix}"
        self.finished: set[str] = set()
        self._lines: TextIO | None = None

    @contextmanager
    def opened(self, identity: dict[str, Any], force: bool) -> Iterator[dict[str, Any] | None]:
        """Gives the facts of a run that was stopped, or None for a new one.

        Parameters
        ----------
        identity : what the result follows from; a run that was stopped must have had the same
        force : whether what is left of another run may be removed
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / _DONE).open("a+", encoding="ascii") as lines:
            _require_alone(lines, self.folder)  # before anything of what may be another run's is removed
            found = self._found()
            if found is not None and found["identity"] != json.loads(json.dumps(identity)):
                if not force:
                    raise FileExistsError(
                        f"{self.folder} is left of a run with other settings: remove it, or use --force to "
                        f"begin anew."
                    )
                found = None
            if found is None:
                self._remove_all_but_lines()
                lines.truncate(0)
            self._lines = lines
            lines.seek(0)
            written = lines.read()
            # A line that was cut off is none.
            self.finished = set(written[: written.rfind("\n") + 1].split())
            if written and not written.endswith("\n"):
                lines.write("\n")
            yield None if found is None else found["facts"]

    def begin(self, identity: dict[str, Any], facts: dict[str, Any]) -> None:
        """The file of the result is there, and empty."""
        partial = self.folder / f"{_WHAT}.part"
        partial.write_text(json.dumps({"identity": identity, "facts": facts}))
        partial.replace(self.folder / _WHAT)

    def note(self, block: str) -> None:
        """A block is written whole."""
        assert self._lines is not None  # or it was not opened
        self._lines.write(f"{block}\n")
        self._lines.flush()
        os.fsync(self._lines.fileno())
        self.finished.add(block)

    def end(self) -> None:
        """All is written: the result takes its place, whatever was there."""
        for leftover in self.result.rglob("*.partial") if self.result.is_dir() else ():
            leftover.unlink()  # of a worker that was killed while it wrote
        old = self.folder / "replaced"
        if self.target.exists():
            self.target.replace(old)
        self.result.replace(self.target)
        shutil.rmtree(self.folder)

    def _remove_all_but_lines(self) -> None:
        for leftover in self.folder.iterdir():
            if leftover.is_dir():
                shutil.rmtree(leftover)
            elif leftover.name != _DONE:
                leftover.unlink()

    def _found(self) -> dict[str, Any] | None:
        """What an earlier run says of itself; None where it had not begun."""
        try:
            return json.loads((self.folder / _WHAT).read_text())
        except (FileNotFoundError, ValueError):
            return None


def _require_alone(lines: TextIO, folder: Path) -> None:
    """Two runs that write one result would do all work twice."""
    if fcntl is None:
        return
    try:
        fcntl.flock(lines, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise FileExistsError(f"Another run is at work in {folder}: wait for it, or end it.") from None
    except OSError:
        pass  # a file system without locks
