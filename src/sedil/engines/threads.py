"""Threads over boxes of patches.

BLAS and OpenMP are held to one thread inside: their own threads wait for each other on products this small,
and are many times slower on a busy machine.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from sedil.arrays import Array, is_on_processor
from sedil.global_state import SharedChange, Undo

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")

_WAITING_PER_THREAD = 4  # tasks submitted ahead, so that memory stays bounded


def thread_count(threads: int | None) -> int:
    """The number asked for, else NUMBA_NUM_THREADS or OMP_NUM_THREADS, else one per core of this process."""
    if threads is not None:
        return threads
    for variable in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS"):
        wanted = os.environ.get(variable, "")
        if wanted.isdigit() and int(wanted) > 0:
            return int(wanted)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threads_beside(array: Array, threads: int | None) -> int:
    """As many for work on an array in the memory of the processor; one for work on another device."""
    return thread_count(threads) if is_on_processor(array) else 1


def parallel_map(function: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Iterator[Result]:
    """Results in the order of `items`, a few of them computed ahead."""
    from threadpoolctl import ThreadpoolController

    items, libraries = iter(items), ThreadpoolController()

    def hold_openmp() -> None:
        libraries.limit(limits=1, user_api="openmp")  # of this thread alone, and it ends with the pool

    with (
        _blas_in_one_thread.held(libraries),
        ThreadPoolExecutor(threads, initializer=hold_openmp) as pool,
    ):
        waiting: list[Future[Result]] = [
            pool.submit(function, item) for item in islice(items, _WAITING_PER_THREAD * threads)
        ]
        while waiting:
            yield waiting.pop(0).result()
            waiting += [pool.submit(function, item) for item in islice(items, 1)]


def _hold_blas(libraries: ThreadpoolController) -> Undo:
    return libraries.limit(limits=1, user_api="blas").restore_original_limits


_blas_in_one_thread = SharedChange(_hold_blas)
"""The threads of BLAS are those of the whole process."""
