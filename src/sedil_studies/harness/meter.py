"""How far a long run is: a bar on standard error, so that redirected results hold none of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich import progress as rich

from sedil.progress import Progress, Report
from sedil.terminal import complaints

Show = Callable[[float, float, str], None]  # work done, work in all, a few words


def is_seen() -> bool:
    """Whether somebody looks at standard error while it is written."""
    return complaints.is_interactive and complaints.file.isatty()


def silent(done: float, total: float, words: str) -> None:
    """Show nothing."""


@contextmanager
def meter() -> Iterator[Show]:
    """A bar with the share of the work done, the time left and what is being done; none if nothing is.

    Where standard error is not a terminal, nothing is written.
    """
    if not is_seen():
        yield silent
        return
    shown = rich.Progress(
        rich.BarColumn(),
        rich.TaskProgressColumn(),
        rich.TimeElapsedColumn(),
        rich.TimeRemainingColumn(),
        rich.TextColumn("left"),
        rich.TextColumn("{task.description}", markup=False),
        console=complaints,
        speed_estimate_period=3600,  # methods differ in speed, so that a short memory would jump
    )
    task = shown.add_task("", total=None)

    def show(done: float, total: float, words: str) -> None:
        shown.start()
        shown.update(task, completed=done, total=total, description=words)

    try:
        yield show
    finally:
        if shown.live.is_started:
            shown.stop()


def learning_shown(show: Show, words: str) -> Report:
    """What `sedil.learn` and `sedil.learn_minibatch` are to call, so that their iterations are shown."""

    def tell(progress: Progress) -> None:
        show(progress.done, progress.total or 0, words)

    return tell
