"""What all commands share in the terminal: where their words go, and how an error is told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.text import Text

from sedil.errors import EXPECTED

# Names and paths are shown as they are: no markup, no emoji, no line breaks.
console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
complaints = Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)


@contextmanager
def clear_errors() -> Iterator[None]:
    """Turn an expected error into one sentence and exit code 1; anything else is a bug and is shown whole."""
    try:
        yield
    except EXPECTED as error:
        complain("error:", error)
        raise typer.Exit(1) from error


def complain(heading: str, error: Exception | None, before: str = "") -> None:
    """Print the sentence of an error on standard error, after a heading in red."""
    sentence = str(error) or "There is not enough memory."  # Python says nothing when it runs out
    complaints.print(Text.assemble(before, (heading, "bold red"), f" {sentence}"))


def counted(number: int, one: str, many: str | None = None) -> str:
    """``1 image``, ``2,000 images``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
