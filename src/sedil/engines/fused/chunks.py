"""Samples in chunks, one chunk a thread; codes as flat rows, dense or sparse."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from queue import LifoQueue
from typing import Any

import numpy as np

from sedil.engines.threads import parallel_map, thread_count

_CHUNK = 4096  # samples: enough to keep all lanes of a block busy, few enough to share among threads


def as_rows(samples: np.ndarray) -> np.ndarray:
    """``(n, *shape) -> (n, entries)``, float32.

    Numba would compile all kernels a second time for arrays that are read-only or strided.
    """
    return np.require(samples.reshape(len(samples), prod(samples.shape[1:])), np.float32, ["C", "W"])


def zero_codes(factors: Sequence[np.ndarray], n: int) -> np.ndarray:
    """Codes of n samples as rows, all zero."""
    return np.zeros((n, prod(factor.shape[1] for factor in factors)), np.float32)


def for_each_chunk(work: Callable[[slice], None], n: int, threads: int | None) -> None:
    """Call `work` with the slices of n samples."""
    if n <= _CHUNK:  # no threads for what one does
        work(slice(0, n))
        return
    for _ in parallel_map(work, _chunks(n), thread_count(threads)):
        pass


def in_sparse_rows(
    solve: Callable[[slice, np.ndarray], tuple[np.ndarray, ...]],
    factors: Sequence[np.ndarray],
    n: int,
    threads: int | None,
) -> tuple[Any, ...]:
    """Codes of n samples as a sparse matrix, and what else `solve` finds.

    `solve` gets a slice of the samples and a buffer of zeros for their codes, and works in one thread. There
    is one buffer per thread, used again and again: to get fresh memory from the system takes longer than to
    code.
    """
    from scipy.sparse import csr_array

    from sedil.engines.fused.kernels.nonzeros import take_nonzeros

    count = thread_count(threads)
    buffers: LifoQueue[np.ndarray] = LifoQueue()
    for _ in range(count):
        buffers.put(zero_codes(factors, min(n, _CHUNK)))

    def work(part: slice) -> tuple[np.ndarray, ...]:
        buffer = buffers.get()
        try:
            codes, *others = solve(part, buffer[: part.stop - part.start])
            counts = np.empty(len(codes), np.int64)
            values, columns = take_nonzeros(codes, counts)  # which leaves zeros
            return values, columns, counts, *others
        finally:
            buffers.put(buffer)

    pieces = list(zip(*parallel_map(work, _chunks(n) if n else [slice(0, 0)], count), strict=True))
    # One kind after the other, so that its pieces are given back before the next one is put together.
    values, columns, counts, *others = (np.concatenate(pieces.pop(0)) for _ in range(len(pieces)))
    ends = np.concatenate([[0], np.cumsum(counts)])
    if len(values) <= np.iinfo(columns.dtype).max:
        ends = ends.astype(columns.dtype)  # else the columns would become as wide as the ends
    n_atoms = prod(factor.shape[1] for factor in factors)
    return csr_array((values, columns, ends), shape=(n, n_atoms)), *others


def _chunks(n: int) -> Iterator[slice]:
    return (slice(start, min(start + _CHUNK, n)) for start in range(0, n, _CHUNK))
