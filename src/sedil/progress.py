"""How far work has come: told to a function of the caller, or shown as a bar in a terminal or a notebook."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

from sedil.errors import kind_of

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as RichProgress

    from sedil.learning.result import Record

_SECONDS_BETWEEN_DRAWINGS = 0.2  # in a notebook


class Progress(NamedTuple):
    """How far work has come.

    Attributes
    ----------
    done : int
        What is done, in units.
    total : int or None
        Units in all, or at most in learning, which may stop earlier; None if that is not known.
    unit : str
        What is counted: "patches", "iterations", "batches", ...
    record : sedil.learning.result.Record or None
        In learning, the record of the iteration just done.
    factors : tuple of arrays or None
        In learning, the factors at present.
    """

    done: int
    total: int | None
    unit: str
    record: Record | None = None
    factors: tuple[Any, ...] | None = None


Report = Callable[[Progress], bool | None]
"""Called now and then; in learning, returning True stops the run."""

ProgressOption = bool | Report
"""What ``progress=`` takes: False for nothing, True for a bar, or a function."""


@contextmanager
def reporting(progress: ProgressOption, words: str) -> Iterator[Report]:
    """The function to tell how far work has come, whatever the caller has asked for.

    Parameters
    ----------
    progress : bool or callable
        False for nothing, True for a bar on standard error, or a function that is called with a `Progress`.
    words : str
        What stands before the bar, for example "learning".

    Examples
    --------
    >>> from sedil.progress import Progress, reporting
    >>> with reporting(print, "counting") as report:
    ...     report(Progress(3, 10, "sheep"))
    Progress(done=3, total=10, unit='sheep', record=None, factors=None)
    """
    if isinstance(progress, bool):
        with bar(words) if progress else nullcontext(_say_nothing) as report:
            yield report
    elif callable(progress):
        yield progress
    else:
        raise TypeError(
            f"progress must be True, False or a function that takes a sedil.progress.Progress, got "
            f"{kind_of(progress)}."
        )


@contextmanager
def bar(words: str, console: Console | None = None) -> Iterator[Report]:
    """A bar with the share done, the time left and, in learning, the cost; full when the work is done.

    It is drawn on standard error, or by `console`. Where that is neither a terminal nor a notebook, nothing
    is written.
    """
    console = console or _standard_error()
    if console.is_jupyter:
        drawing = _in_notebook
    elif console.is_interactive and console.file.isatty():
        drawing = _in_terminal
    else:
        yield _say_nothing
        return
    shown = _columns(words, console)
    task = shown.add_task("", total=None, facts="")
    with drawing(shown) as draw:

        def show(progress: Progress) -> None:
            shown.update(task, completed=progress.done, total=progress.total, facts=_facts(progress))
            draw(False)

        yield show
        done = shown.tasks[0].completed or 1  # learning may stop early, and then it is done all the same
        shown.update(task, completed=done, total=done)
        draw(True)


def _say_nothing(progress: Progress) -> None:
    """Progress that nobody wants to know of."""


def _standard_error() -> Console:
    from rich.console import Console

    return Console(stderr=True)


def _columns(words: str, console: Console) -> RichProgress:
    from rich import progress as rich

    return rich.Progress(
        rich.TextColumn(words, markup=False),
        rich.BarColumn(),
        rich.TaskProgressColumn(),
        rich.TextColumn("{task.fields[facts]}", markup=False),
        rich.TimeElapsedColumn(),
        rich.TimeRemainingColumn(),
        rich.TextColumn("left"),
        console=console,
        redirect_stdout=_stands_on_the_same_screen(),
    )


def _stands_on_the_same_screen() -> bool:
    """Whether what is printed meanwhile must be kept off the bar; in a redirected output it stays there."""
    return sys.stdout is not None and sys.stdout.isatty()


def _facts(progress: Progress) -> str:
    cost = "" if progress.record is None else f", cost {progress.record.objective:.5g}"
    return f"{progress.done:,} {progress.unit}{cost}"


Draw = Callable[[bool], None]  # whether it must be drawn now


@contextmanager
def _in_terminal(shown: RichProgress) -> Iterator[Draw]:
    """Rich draws by itself, ten times a second."""
    with shown:
        yield lambda now: None


@contextmanager
def _in_notebook(shown: RichProgress) -> Iterator[Draw]:
    """Drawn by IPython's own means: Rich would need ipywidgets for it."""
    from IPython.display import display

    handle = display(shown.make_tasks_table(shown.tasks), display_id=True)
    last = time.monotonic()

    def draw(now: bool) -> None:
        nonlocal last
        if now or time.monotonic() > last + _SECONDS_BETWEEN_DRAWINGS:
            handle.update(shown.make_tasks_table(shown.tasks))
            last = time.monotonic()

    yield draw
