"""Mini-batches from arrays in chunks, Dask arrays and Zarr: each chunk is read once an epoch.

Rows at random from everywhere would read all chunks for every batch. So chunks are put on shelves in random
order, as many as a shelf holds, and batches are cut from the rows of a shelf in random order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import ceil, prod
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import is_dask_array

from sedil import checks
from sedil.cluster.dask_arrays import require_known_chunks, without_empty_chunks
from sedil.learning.batch import Batch

_BYTES_OF_SHELF = 2**28  # of rows that are held at a time
_BATCHES_PER_SHELF = 16  # as many as make the rows of a batch come from many chunks


class RowReader(NamedTuple):
    """An array in chunks of rows, any part of which can be read.

    Attributes
    ----------
    shape : of the array, (n, *patch_shape)
    ends : where each chunk ends
    bytes_per_row : int
    read : from a first and a last row to the rows between, as an array of NumPy
    """

    shape: tuple[int, ...]
    ends: np.ndarray
    bytes_per_row: int
    read: Callable[[int, int], np.ndarray]


def is_chunked(data: Any) -> bool:
    """Whether it is a Dask array, or an array of Zarr or the like, which reads a part when asked for it."""
    if is_dask_array(data):
        return True
    is_plain = isinstance(data, np.ndarray | list | tuple | str)
    return not is_plain and all(hasattr(data, name) for name in ("shape", "dtype", "chunks", "__getitem__"))


def row_reader(data: Any, name: str) -> RowReader:
    """The reader of an array (n, *patch_shape) in chunks."""
    if is_dask_array(data):
        require_known_chunks(data, name)
    shape = tuple(map(int, data.shape))
    if not 2 <= len(shape) <= checks.MAX_AXES + 1 or 0 in shape:
        raise ValueError(
            f"{name} must have shape (n, *patch_shape) with 1 to {checks.MAX_AXES} patch axes and at least "
            f"one patch, got shape {shape}: stack the patches along a first axis."
        )
    if data.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers, got dtype {data.dtype}.")
    n_bytes = data.dtype.itemsize * prod(shape[1:])
    if is_dask_array(data):
        own = without_empty_chunks(data)
        return RowReader(
            shape, np.cumsum(own.chunks[0]), n_bytes, lambda a, b: np.asarray(own[a:b].compute())
        )
    length = (data.chunks or (shape[0],))[0]
    length = (getattr(data, "shards", None) or (length,))[0]
    ends = np.minimum(np.arange(length, shape[0] + length, length), shape[0])
    return RowReader(shape, ends, n_bytes, lambda a, b: np.asarray(data[a:b]))


class ShelvedRows:
    """Rows of an array in chunks in random order, each row once an epoch, in nearly equal batches."""

    def __init__(
        self,
        rows: RowReader,
        mask: RowReader | None,
        batch_size: int,
        n_epochs: int,
        seed: int | Sequence[int],
    ) -> None:
        self._readers = [rows] if mask is None else [rows, mask]
        self._ends, self._n_epochs, self._seed = rows.ends, n_epochs, seed
        self._begins = np.concatenate([[0], rows.ends[:-1]])
        self._per_epoch = ceil(rows.shape[0] / batch_size)
        affordable = max(_BYTES_OF_SHELF // rows.bytes_per_row, batch_size)
        self._rows_per_shelf = min(affordable, _BATCHES_PER_SHELF * batch_size)
        self.n_batches: int | None = self._per_epoch * n_epochs

    def after(self, n_done: int) -> Iterator[Batch]:
        """All batches but the first `n_done`; what only these need is not read."""
        first_epoch, first = divmod(n_done, self._per_epoch)
        for epoch in range(first_epoch, self._n_epochs):
            yield from self._epoch(epoch, first)
            first = 0

    def _epoch(self, epoch: int, first: int) -> Iterator[Batch]:
        seed = [epoch, *np.atleast_1d(self._seed)]
        shelves = self._shelves(np.random.default_rng(seed))
        edges = np.linspace(0, self._ends[-1], self._per_epoch + 1).astype(np.int64)
        ends = np.cumsum([sum(end - begin for begin, end in shelf) for shelf in shelves])
        held: tuple[int, list[np.ndarray]] = -1, []
        for number in range(first, self._per_epoch):
            parts = []
            begin, end = int(edges[number]), int(edges[number + 1])
            while begin < end:
                shelf = int(np.searchsorted(ends, begin, "right"))
                if held[0] != shelf:
                    held = shelf, self._read(shelves[shelf])
                start = int(ends[shelf - 1]) if shelf else 0
                n_rows = int(ends[shelf]) - start
                # The order of the rows of a shelf, known without those before it.
                order = np.random.default_rng([shelf, *seed]).permutation(n_rows)
                some = order[begin - start : end - start]
                parts.append([array[some] for array in held[1]])
                begin += len(some)
            yield Batch(*(np.concatenate(own) for own in zip(*parts, strict=True)))

    def _shelves(self, rng: np.random.Generator) -> list[list[tuple[int, int]]]:
        """Chunks in random order, or parts of those that are larger than a shelf: first and last row."""
        pieces = []
        for begin, end in zip(self._begins.tolist(), self._ends.tolist(), strict=True):
            cuts = np.linspace(begin, end, ceil((end - begin) / self._rows_per_shelf) + 1).astype(int)
            pieces += list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))
        shelves: list[list[tuple[int, int]]] = [[]]
        n_rows = 0
        for index in rng.permutation(len(pieces)).tolist():
            begin, end = pieces[index]
            if shelves[-1] and n_rows + end - begin > self._rows_per_shelf:
                shelves.append([])
                n_rows = 0
            shelves[-1].append((begin, end))
            n_rows += end - begin
        return shelves

    def _read(self, shelf: Sequence[tuple[int, int]]) -> list[np.ndarray]:
        return [np.concatenate([reader.read(*rows) for rows in shelf]) for reader in self._readers]
