"""The cluster that work is done on: one that runs already, or one of this machine's own processes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from contextvars import copy_context
from typing import Any

from sedil import checks
from sedil.cluster.dask_arrays import NOT_INSTALLED
from sedil.engines.threads import thread_count
from sedil.errors import MissingPackageError

_SECONDS_TO_ANSWER = 10
_SETTINGS = {
    # A worker that dies takes its task along to the next one: that is no fault of the task.
    "distributed.scheduler.allowed-failures": 1000,
    # Nobody looks at the statistics for which workers would be interrupted a hundred times a second.
    "distributed.worker.profile.enabled": False,
}
_GIVES_BACK = "MALLOC_TRIM_THRESHOLD_"


@contextmanager
def connected(scheduler: str | None, threads: int | None) -> Iterator[Any]:
    """A client of the scheduler at that address; without one, of as many processes as there are cores."""
    _load()
    import dask
    from distributed import Client, LocalCluster

    if scheduler is not None:
        try:
            client = Client(scheduler, timeout=_SECONDS_TO_ANSWER)
        except (OSError, ValueError, TimeoutError) as error:
            raise OSError(
                f"No scheduler answers at {checks.short(scheduler)}: start one with `dask scheduler`, or "
                f"leave --scheduler out to work on this machine."
            ) from error
        with client:
            yield client
        return
    settings = dask.config.set(_SETTINGS | _environment(dask.config))
    with settings, _own_workers(LocalCluster, threads) as local, Client(local) as client:
        yield client


def _load() -> None:
    try:
        import dask.array  # noqa: F401
        import distributed  # noqa: F401
    except ImportError:
        raise MissingPackageError(NOT_INSTALLED) from None


@contextmanager
def connecting(scheduler: str | None, threads: int | None) -> Iterator[Callable[[], Any]]:
    """As `connected`, while other work goes on; gives what waits for the client and returns it."""
    _load()  # lest two threads load Dask at a time: one of them may find it half loaded
    with aside(connected(scheduler, threads)) as client:
        yield client


@contextmanager
def aside(context: AbstractContextManager[Any]) -> Iterator[Callable[[], Any]]:
    """Enter a context while other work goes on; gives what waits for it and returns what it gives."""
    variables = copy_context()  # of a thread: a client sets one that it resets at its end
    with ThreadPoolExecutor(1) as thread:
        entering = thread.submit(variables.run, context.__enter__)
        try:
            yield entering.result
        finally:
            if entering.exception() is None:
                variables.run(context.__exit__, None, None, None)


def _environment(config: Any) -> dict[str, Any]:
    """The variables that workers start with, without the malloc that gives all memory back at once.

    After every box of patches it would have to be asked for again: the quick method took 1.4 times as long on
    a volume of 128x160x128 voxels.
    """
    key = "distributed.nanny.pre-spawn-environ"
    return {key: {name: value for name, value in config.get(key).items() if name != _GIVES_BACK}}


def _own_workers(local_cluster: Any, threads: int | None) -> Any:
    """Processes of this machine, one for each thread that is wanted."""
    quiet = {"silence_logs": logging.CRITICAL, "dashboard_address": ":0"}
    n_workers = thread_count(threads)
    try:
        return local_cluster(n_workers=n_workers, threads_per_worker=1, processes=True, **quiet)
    except RuntimeError as error:
        raise OSError(f"{n_workers} processes to work in could not be started: {error}") from error
