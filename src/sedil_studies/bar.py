"""The progress bar of long experiments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich import progress as rich

from sedil.terminal import console

Progress = Callable[[int, int, str], None]  # work done, work in all, a few words


@contextmanager
def bar() -> Iterator[Progress]:
    """A bar with the share of the work done, the time left and what is being done."""
    shown = rich.Progress(
        rich.BarColumn(),
        rich.TaskProgressColumn(),
        rich.TimeElapsedColumn(),
        rich.TextColumn("left"),
        rich.TimeRemainingColumn(),
        rich.TextColumn("{task.description}", markup=False),
        console=console,
        speed_estimate_period=3600,  # methods differ in speed, so that a short memory would jump
    )
    with shown:
        task = shown.add_task("", total=None)
        yield lambda done, total, words: shown.update(task, completed=done, total=total, description=words)
