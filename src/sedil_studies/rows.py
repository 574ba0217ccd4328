"""The results file between running and drawing: a CSV that grows row by row."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints


class Row(NamedTuple):
    """One method on one noisy image.

    Attributes
    ----------
    image, sigma, seed, method : what was run
    psnr, ssim : of the unrounded result, on the scale 0 to 255
    seconds : of the method alone
    threads : it was given
    settings : of the method
    sedil, baseline, numpy : versions; `baseline` names its package, and is empty for methods of sedil
    """

    image: str
    sigma: int
    seed: int
    method: str
    psnr: float
    ssim: float
    seconds: float
    threads: int
    settings: str
    sedil: str
    baseline: str
    numpy: str


# Two rows that agree in these hold the same measurement; the time and the threads are not part of it.
_IDENTITY = ("image", "sigma", "seed", "method", "settings", "sedil", "baseline", "numpy")


def identity(row: Row) -> tuple:
    """What makes a measurement: cell, method, settings and versions."""
    return tuple(getattr(row, name) for name in _IDENTITY)


def latest(rows: Iterable[Row]) -> list[Row]:
    """One row per image, sigma, seed and method: where settings or versions changed, the last one."""
    return list({(row.image, row.sigma, row.seed, row.method): row for row in rows}.values())


def open_rows(path: Path, kind: Any = Row) -> list[Any]:
    """Rows of the results file, which is begun if it is not there; half a last line is cut off.

    Half a line is what a run leaves that was killed while it wrote.
    """
    header = _line(kind._fields).encode()
    content = path.read_bytes() if path.exists() else b""
    if header.startswith(content):
        path.write_bytes(header)
        return []
    whole = content[: content.rfind(b"\n") + 1]
    rows = read_rows(path, whole.decode("utf-8", errors="replace"), kind)
    if whole != content:
        path.write_bytes(whole)
    return rows


def append_row(path: Path, row: NamedTuple) -> None:
    """Add one row, at once and whole."""
    with path.open("a", encoding="utf-8", newline="") as stream:
        stream.write(_line(row))


def read_rows(path: Path, text: str | None = None, kind: Any = Row) -> list[Any]:
    """Rows of one kind of a results file; one clear error for any other file."""
    content = path.read_text(encoding="utf-8", errors="replace") if text is None else text
    lines = csv.DictReader(StringIO(content, newline=""))
    if tuple(lines.fieldnames or ()) != kind._fields:
        raise ValueError(
            f"{path} is not a results file of this version (its columns are not {', '.join(kind._fields)}): "
            f"move it away or choose another folder."
        )
    return [_row(path, number, line, kind) for number, line in enumerate(lines, start=2)]


def _row(path: Path, number: int, line: dict, kind: Any) -> Any:
    types = get_type_hints(kind)
    try:
        return kind(**{name: types[name](line[name]) for name in kind._fields})
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path} is damaged in line {number} ({error}): remove that line.") from None


def _line(values: Sequence) -> str:
    stream = StringIO(newline="")
    csv.writer(stream, lineterminator="\n").writerow(values)
    return stream.getvalue()
