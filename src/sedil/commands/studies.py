"""What the commands of studies share: their options, and how they tell what came of a study.

The studies are not part of the library: commands load `sedil_studies` when they are run, not before.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table

from sedil.terminal import console

if TYPE_CHECKING:
    from sedil_studies.harness.running import Summary
    from sedil_studies.harness.tables import Table as StudyTable

INTERRUPTED = 130  # exit code after Ctrl-C, by custom

Output = Annotated[Path, typer.Option("--output", "-o", help="Folder for the results; made if need be.")]
Threads = Annotated[int | None, typer.Option(min=1, help="Threads; default one per core.")]


def data_option(words: str) -> typer.models.OptionInfo:
    """The option of the folder with the data."""
    return typer.Option(help=words, envvar="SEDIL_DATA", show_default=False)


def known_names(text: str, known: tuple[str, ...]) -> list[str]:
    """``odct,separable`` as names, in the order of the report."""
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in known:
            raise typer.BadParameter(f"{name!r} is not one of {', '.join(known)}.")
    return [name for name in known if name in names]


def tell(summary: Summary, interrupted: str = "the same command goes on from here") -> None:
    """Say what was run, show the table, name the files; exit with 130 if the run was interrupted."""
    for ran in summary.ran:
        console.print(f"ran          {ran}")
    if not summary.finished:
        console.print(f"interrupted; {interrupted}")
    if summary.written.table is not None:
        console.print(_shown(summary.written.table))
    for note in summary.written.notes:
        console.print(note)
    for kind, path in summary.written.files:
        console.print(f"{kind:<13}{path}")
    if not summary.finished:
        raise typer.Exit(INTERRUPTED)


def _shown(table: StudyTable) -> Table:
    shown = Table(
        title=table.title or None,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
    )
    for column in table.columns:
        shown.add_column(column)
    for line in table.lines:
        shown.add_row(*line)
    return shown
