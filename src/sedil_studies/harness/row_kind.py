"""The results file between running and drawing: a CSV that grows row by row."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import StringIO
from math import nan
from pathlib import Path
from typing import Any, Generic, TypeVar, get_type_hints

import numpy as np

import sedil
from sedil_studies.harness.source_commit import source_commit

R = TypeVar("R", bound=tuple[Any, ...])
_UNMEASURED = {float: nan, int: 0, str: ""}
_YOUNGEST = "commit"  # column, the last; files from before it are read too


@dataclass(frozen=True)
class RowKind(Generic[R]):
    """The rows of a results file, and which of them hold the same measurement.

    Attributes
    ----------
    columns : a NamedTuple of numbers and texts
    cell : columns that say what was run; of several rows of a cell, the last counts
    made_with : columns that say with which settings and versions; time and threads are not among them
    """

    columns: type[R]
    cell: tuple[str, ...]
    made_with: tuple[str, ...]

    def planned(self, **known: Any) -> R:
        """A row that is still to be measured: what is known of it, versions, and the commit."""
        types = get_type_hints(self.columns)
        blank = {name: _UNMEASURED[kind] for name, kind in types.items()}
        versions = {"sedil": sedil.__version__, "numpy": np.__version__, _YOUNGEST: source_commit()}
        return self.columns(**blank | {name: versions[name] for name in versions if name in types} | known)

    def identity(self, row: R) -> tuple[Any, ...]:
        """What makes a measurement: two rows that agree in this hold the same one."""
        return _entries(row, self.cell + self.made_with)

    def latest(self, rows: Iterable[R]) -> list[R]:
        """One row per cell: where settings or versions changed, the last one."""
        return list({_entries(row, self.cell): row for row in rows}.values())

    def open(self, path: Path) -> list[R]:
        """Rows of the results file, which is begun if it is not there; half a last line is cut off.

        Half a line is what a run leaves that was killed while it wrote. A file from before the commit was
        written down gets that column, empty in its rows.
        """
        header = _line(self._names).encode()
        content = path.read_bytes() if path.exists() else b""
        if header.startswith(content):
            path.write_bytes(header)
            return []
        whole = content[: content.rfind(b"\n") + 1]
        rows = self._parsed(path, whole.decode("utf-8", errors="replace"))
        if not whole.startswith(header):
            whole = header + "".join(map(_line, rows)).encode()
        if whole != content:
            path.write_bytes(whole)
        return rows

    def append(self, path: Path, row: R) -> None:
        """Add one row, at once and whole."""
        with path.open("a", encoding="utf-8", newline="") as stream:
            stream.write(_line(row))

    def read(self, path: Path) -> list[R]:
        """Rows of a results file, none if there is no file; one clear error for any other file."""
        if not path.exists():
            return []
        return self._parsed(path, path.read_text(encoding="utf-8", errors="replace"))

    @property
    def _names(self) -> tuple[str, ...]:
        return self.columns._fields  # type: ignore[attr-defined]

    def _parsed(self, path: Path, text: str) -> list[R]:
        lines = csv.DictReader(StringIO(text, newline=""), restval="")
        names = tuple(lines.fieldnames or ())
        if names not in (self._names, tuple(name for name in self._names if name != _YOUNGEST)):
            raise ValueError(
                f"{path} is not a results file of this version (its columns are not "
                f"{', '.join(self._names)}): move it away or choose another folder."
            )
        return [self._row(path, number, line) for number, line in enumerate(lines, start=2)]

    def _row(self, path: Path, number: int, line: dict[str, Any]) -> R:
        types = get_type_hints(self.columns)
        try:
            return self.columns(**{name: types[name](text) for name, text in line.items()})
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path} is damaged in line {number} ({error}): remove that line.") from None


def _entries(row: tuple[Any, ...], names: Sequence[str]) -> tuple[Any, ...]:
    return tuple(getattr(row, name) for name in names)


def _line(values: Sequence[Any]) -> str:
    stream = StringIO(newline="")
    csv.writer(stream, lineterminator="\n").writerow(values)
    return stream.getvalue()
