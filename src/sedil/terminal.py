"""What all commands share in the terminal: where their words go, and how an error is told."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TextIO, cast
from unicodedata import bidirectional, category

import typer
from rich.console import Console
from rich.text import Text

from sedil import progress
from sedil.errors import EXPECTED

INTERRUPTED = 130  # exit code after Ctrl-C, by custom
_TURNS_OF_DIRECTION = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


class _StandardOutput:
    """Standard output of the moment: a bar puts another in its place, which keeps the lines off the bar."""

    def __getattr__(self, name: str) -> Any:
        if name == "rich_proxied_file":  # by which Rich would find the one behind
            raise AttributeError(name)
        return getattr(sys.stdout, name)


def harmless(text: str) -> str:
    r"""The text with what a terminal would obey, or could not show, written out as in ``\x1b``.

    Names of files and the record of a dictionary are written by others, and could move the cursor, change
    what is on the screen already or turn the direction of writing.
    """
    return "".join(_written_out(sign) if _is_harmful(sign) else sign for sign in text)


def _is_harmful(sign: str) -> bool:
    if sign in "\n\t":
        return False
    return category(sign) in ("Cc", "Cs") or bidirectional(sign) in _TURNS_OF_DIRECTION


def _written_out(sign: str) -> str:
    return sign.encode("unicode_escape", "backslashreplace").decode("ascii")


class _HarmlessConsole(Console):
    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(harmless(text), **options)


# Names and paths are shown as they are: no markup, no emoji, no line breaks.
console = _HarmlessConsole(
    file=cast(TextIO, _StandardOutput()), highlight=False, markup=False, emoji=False, soft_wrap=True
)
complaints = _HarmlessConsole(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)


def bar(words: str) -> AbstractContextManager[progress.Report]:
    """A bar on standard error, as in `sedil.progress`; complaints come above it."""
    return progress.bar(words, complaints)


@contextmanager
def clear_errors() -> Iterator[None]:
    """Turn an expected error into one sentence and exit code 1; anything else is a bug and is shown whole.

    Ctrl-C is told in a word.
    """
    try:
        yield
    except KeyboardInterrupt as error:
        complaints.print("interrupted")
        raise typer.Exit(INTERRUPTED) from error
    except EXPECTED as error:
        complain("error:", error)
        raise typer.Exit(1) from error


def complain(heading: str, error: Exception | None, before: str = "") -> None:
    """Print the sentence of an error on standard error, after a heading in red."""
    words = sentence(error)
    complaints.print(Text.assemble(harmless(before), (heading, "bold red"), f" {harmless(words)}"))


def sentence(error: BaseException | None) -> str:
    """What an error says to a person."""
    if isinstance(error, OSError) and error.filename and error.strerror:  # of the system, with a number
        return f"{error.filename}: {error.strerror}."
    return str(error) or "There is not enough memory."  # Python says nothing when it runs out


def counted(number: int, one: str, many: str | None = None) -> str:
    """``1 image``, ``2,000 images``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
