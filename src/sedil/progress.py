"""Progress bars for learning and denoising, in the terminal or a notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sedil.learning.run import Callback, Progress


@contextmanager
def patch_bar(work: str = "denoising") -> Iterator[Callable[[int, int], None]]:
    """A bar with the share of patches done and the time left.

    Yields the callback for `sedil.denoise` or `sedil.inpaint`.
    """
    from rich import progress as rich

    bar = rich.Progress(
        rich.TextColumn(work),
        rich.BarColumn(),
        rich.TaskProgressColumn(),
        rich.TimeElapsedColumn(),
        rich.TextColumn("left"),
        rich.TimeRemainingColumn(),
    )
    with bar:
        task = bar.add_task(work, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def progress_bar(max_iterations: int | None = None) -> Iterator[Callback]:
    """A bar with iteration, cost and time left; yields the callback for `sedil.learn` or `learn_minibatch`.

    Where the run ends need not be known beforehand.

    Examples
    --------
    >>> import numpy as np, sedil
    >>> from sedil.progress import progress_bar
    >>> patches = np.random.default_rng(0).standard_normal((50, 4, 4))
    >>> with progress_bar(5) as show:
    ...     result = sedil.learn(patches, 5, max_iterations=5, callback=show)  # doctest: +SKIP
    """
    from rich import progress as rich

    bar = rich.Progress(
        rich.TextColumn("learning"),
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        rich.TextColumn("cost {task.fields[cost]}"),
        rich.TimeElapsedColumn(),
        rich.TextColumn("left at most"),
        rich.TimeRemainingColumn(),
    )
    with bar:
        task = bar.add_task("learning", total=max_iterations, cost="...")

        def show(progress: Progress) -> None:
            record = progress.record
            total, cost = progress.max_iterations, f"{record.objective:.5g}"
            bar.update(task, completed=record.iteration, total=total, cost=cost)

        yield show
