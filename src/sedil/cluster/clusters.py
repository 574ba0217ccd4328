"""The cluster that work is done on: one that runs already, or one of this machine's own processes."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sedil.cluster.dask_arrays import NOT_INSTALLED
from sedil.engines.threads import thread_count

_SECONDS_TO_ANSWER = 10
# A worker that dies takes its task along to the next one: that is no fault of the task.
_PATIENT = {"distributed.scheduler.allowed-failures": 1000}


@contextmanager
def connected(scheduler: str | None, threads: int | None) -> Iterator[Any]:
    """A client of the scheduler at that address; without one, of as many processes as there are cores."""
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError:
        raise ImportError(NOT_INSTALLED) from None
    if scheduler is not None:
        try:
            client = Client(scheduler, timeout=_SECONDS_TO_ANSWER)
        except (OSError, ValueError, TimeoutError) as error:
            raise OSError(
                f"No scheduler answers at {scheduler}: start one with `dask scheduler`, or leave --scheduler "
                f"out to work on this machine."
            ) from error
        with client:
            yield client
        return
    quiet = {"silence_logs": logging.CRITICAL, "dashboard_address": None}
    with (
        dask.config.set(_PATIENT),
        LocalCluster(n_workers=thread_count(threads), threads_per_worker=1, processes=True, **quiet) as local,
        Client(local) as client,
    ):
        yield client
