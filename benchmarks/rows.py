"""The results file between running and drawing: one CSV row per measurement."""

import csv
from pathlib import Path

from sedil_studies.harness.source_commit import source_commit


def write_rows(path: Path, rows: list[dict]) -> None:
    rows = [row | {"commit": source_commit()} for row in rows]
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows(rows)
