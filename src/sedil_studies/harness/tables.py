"""Tables of reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Table(NamedTuple):
    """Names of the columns, lines of as many entries, and a title."""

    columns: Sequence[str]
    lines: Sequence[Sequence[str]]
    title: str = ""


def markdown_table(columns: Sequence[str], lines: Sequence[Sequence[str]], texts: int | None = None) -> str:
    """The table in Markdown: the first `texts` columns, by default all, to the left, figures to the right."""
    n_texts = len(columns) if texts is None else texts
    rule = ["---" if k < n_texts else "---:" for k in range(len(columns))]
    shown = [[entry.replace("|", "\\|") for entry in line] for line in (columns, *lines)]
    return "\n".join(f"| {' | '.join(line)} |" for line in [shown[0], rule, *shown[1:]])


def page(*parts: str) -> str:
    """Headings, sentences and tables as one page, an empty line between them."""
    return "\n\n".join(parts) + "\n"
