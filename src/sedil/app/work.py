"""Work for a visitor: in a thread of its own, watched by the page, and ended when nobody watches any more."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from html import escape
from threading import Event, Thread
from typing import Any, Generic, TypeVar

from sedil.app.limits import AT_ONCE
from sedil.errors import EXPECTED
from sedil.progress import Progress, Report
from sedil.terminal import sentence

_SECONDS_BETWEEN_LOOKS = 0.25
_FOLDERS = re.compile(r"(?<![\w.])/(?:[^/\s]+/)+")
Result = TypeVar("Result")


class Stopped(Exception):  # noqa: N818
    """Raised inside work that nobody waits for any more."""


class Work(Generic[Result]):
    """A function that runs in a thread, can be followed, and can be stopped.

    Parameters
    ----------
    function : called with a `sedil.progress.Report`
    keeps_what_is_done : bool
        Whether the function ends by itself when its report returns True, as learning does. Others are left by
        an exception.
    """

    def __init__(self, function: Callable[[Report], Result], keeps_what_is_done: bool = False) -> None:
        self._function, self._keeps = function, keeps_what_is_done
        self._progress: Progress | None = None
        self._stop, self._outcome = Event(), Future[Result]()
        self._began = time.perf_counter()
        Thread(target=self._run, daemon=True).start()  # which ends with the app

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.perf_counter() - self._began

    def stop(self) -> None:
        """Ask it to end soon."""
        self._stop.set()

    def steps(self) -> Iterator[Progress | None]:
        """How far it has come, a few times a second until it is done.

        Who stops asking, as Gradio does when a tab is closed, stops the work.
        """
        try:
            while not self._outcome.done():
                time.sleep(_SECONDS_BETWEEN_LOOKS)
                yield self._progress
        finally:
            self.stop()

    def result(self) -> Result:
        """What the function returned; what it raised is raised here."""
        return self._outcome.result()

    def _run(self) -> None:
        try:
            self._outcome.set_result(self._function(self._report))
        except BaseException as error:
            self._outcome.set_exception(error)

    def _report(self, progress: Progress) -> bool:
        self._progress = progress
        if self._stop.is_set() and not self._keeps:
            raise Stopped
        return self._stop.is_set()


@contextmanager
def errors_on_page() -> Iterator[None]:
    """Turn an expected error into one sentence on the page; anything else is a bug and goes to the terminal.

    Names of files lose their folders, which are ours.
    """
    try:
        yield
    except EXPECTED as error:
        import gradio as gr

        words = escape(_FOLDERS.sub("", sentence(error)), quote=False)
        raise gr.Error(words, print_exception=False, duration=None) from error


def as_bar(words: str, progress: Progress | None, seconds: float) -> str:
    """HTML on how far work has come."""
    if progress is None or not progress.total:
        return (
            f"<progress></progress> {words}: beginning; the first time on a machine compiles for some seconds"
        )
    share = min(progress.done / progress.total, 1)
    return f'<progress value="{share:.3f}"></progress> {words}: {share:.0%}, {seconds:.0f} s'


def on_start(
    triggers: Sequence[Any],
    run: Callable[..., Any],
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    words: Any,
    **how: Any,
) -> Any:
    """Do `run` at any of the triggers, once its turn has come; until then `words` say that it waits.

    Who fails says so by an error, and nothing is left standing in `words`. `how` goes to Gradio.
    """
    import gradio as gr

    hidden = {"show_progress": "hidden"}
    asked = gr.on(triggers, lambda: "waiting for its turn", None, words, queue=False, **hidden)
    running = asked.then(
        run, inputs, outputs, concurrency_id="work", concurrency_limit=AT_ONCE, **hidden, **how
    )
    running.failure(lambda: "&nbsp;", outputs=words, **hidden)
    return running


def on_stop(stop: Any, running: Any, words: Any) -> None:
    """Let a button end what runs, or what waits."""
    stop.click(lambda: "stopped", outputs=words, cancels=[running], queue=False)
