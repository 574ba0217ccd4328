"""Where mini-batches come from: arrays in memory or on disk, lists of them, iterators.

Every source can start again after any number of batches and then gives what it gave before: that is
what lets an interrupted run go on to the same bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from math import ceil
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from array_api_compat import device as device_of
from array_api_compat import is_array_api_obj

from sedil import checks
from sedil.arrays import AnyArray, Array, namespace
from sedil.cluster.stored_arrays import is_stored, open_stored
from sedil.global_state import without_words_of_libraries
from sedil.learning.batch import Batch
from sedil.learning.chunked_rows import ShelvedRows, is_chunked, row_reader

# Above this many rows an epoch shuffles runs of neighbouring rows: the order stays small, and disks like it.
_MOST_RUNS = 2**20


class BatchSource(Protocol):
    """Batches for a whole run, all epochs."""

    n_batches: int | None

    def after(self, n_done: int) -> Iterator[Batch]:
        """All batches but the first `n_done`."""


def open_batches(
    data: Any, mask: Any, batch_size: int, n_epochs: int, seed: int | Sequence[int] = 0
) -> BatchSource:
    """The source for what a user passes as training data; see `sedil.learn_minibatch`."""
    data, mask = _opened_store(data), _opened_store(mask)
    if is_chunked(data):
        return _shelved_rows(data, mask, batch_size, n_epochs, seed)
    pieces = _pieces(data, "patches")
    if pieces is not None:
        masks = None if mask is None else _matching_masks(pieces, mask)
        return ShuffledRows(pieces, masks, batch_size, n_epochs, seed)
    if mask is not None:
        raise TypeError("mask= goes with arrays: in batches from an iterator, mark missing entries by NaN.")
    if callable(data):
        return RegroupedBatches(data, batch_size, n_epochs)
    if not isinstance(data, Iterable):
        raise TypeError(
            f"patches must be an array, the path of a .npy file, a list of these, or an iterable of batches, "
            f"got {checks.short(data)}."
        )
    if iter(data) is data and n_epochs > 1:
        raise ValueError(
            f"An iterator can be gone through once, but n_epochs is {n_epochs}: pass a function that returns "
            f"a new iterator, or n_epochs=1."
        )
    return RegroupedBatches(lambda: data, batch_size, n_epochs)


def _opened_store(data: Any) -> Any:
    """What is at the path of a Zarr store or an HDF5 file; all else as it is."""
    if isinstance(data, str | Path) and is_stored(data):
        return open_stored(data)
    return data


def _shelved_rows(
    data: Any, mask: Any, batch_size: int, n_epochs: int, seed: int | Sequence[int]
) -> ShelvedRows:
    rows = row_reader(data, "patches")
    if mask is None:
        return ShelvedRows(rows, None, batch_size, n_epochs, seed)
    if not is_chunked(mask) or tuple(mask.shape) != rows.shape or mask.dtype != bool:
        raise ValueError(f"mask must be a boolean array in chunks, of the shape of patches, {rows.shape}.")
    return ShelvedRows(rows, row_reader(mask, "mask"), batch_size, n_epochs, seed)


class ShuffledRows:
    """Rows of one or more arrays in random order, each row once an epoch, in nearly equal batches."""

    def __init__(
        self,
        pieces: Sequence[Array],
        masks: Sequence[Array] | None,
        batch_size: int,
        n_epochs: int,
        seed: int | Sequence[int],
    ) -> None:
        self._pieces, self._masks, self._seed = pieces, masks, seed
        self._ends = np.cumsum([piece.shape[0] for piece in pieces])
        self._per_epoch = ceil(self._ends[-1] / batch_size)
        self._run_length = min(ceil(self._ends[-1] / _MOST_RUNS), batch_size)
        self._n_epochs = n_epochs
        self.n_batches = self._per_epoch * n_epochs

    def after(self, n_done: int) -> Iterator[Batch]:
        """All batches but the first `n_done`, none of which is read."""
        first_epoch, first = divmod(n_done, self._per_epoch)
        for epoch in range(first_epoch, self._n_epochs):
            n_runs = ceil(self._ends[-1] / self._run_length)
            order = np.random.default_rng([epoch, *np.atleast_1d(self._seed)]).permutation(n_runs)
            edges = np.linspace(0, n_runs, self._per_epoch + 1).astype(np.int64)
            for number in range(first, self._per_epoch):
                yield self._batch(np.sort(order[edges[number] : edges[number + 1]]))
            first = 0

    def _batch(self, runs: np.ndarray) -> Batch:
        rows = (self._run_length * runs[:, None] + np.arange(self._run_length)).ravel()
        rows = rows[rows < self._ends[-1]]
        mask = None if self._masks is None else self._take(self._masks, rows)
        return Batch(self._take(self._pieces, rows), mask)

    def _take(self, pieces: Sequence[Array], rows: np.ndarray) -> Array:
        owner = np.searchsorted(self._ends, rows, side="right")
        starts = np.concatenate([[0], self._ends])
        parts = [_rows_of(pieces[k], rows[owner == k] - starts[k]) for k in np.unique(owner)]
        return parts[0] if len(parts) == 1 else namespace(parts[0]).concat(parts, axis=0)


class RegroupedBatches:
    """Patches in the order in which an iterable gives them, regrouped into batches of one size.

    Each epoch iterates anew over what `make` returns.
    """

    def __init__(self, make: Callable[[], Iterable[Array]], batch_size: int, n_epochs: int) -> None:
        self._make, self._batch_size, self._n_epochs = make, batch_size, n_epochs
        made: Any = make()
        if not isinstance(made, Iterable):
            raise TypeError(f"The function for patches must return an iterable, got {checks.short(made)}.")
        n_patches = getattr(made, "n_patches", None)
        self.n_batches = None if n_patches is None else n_epochs * ceil(n_patches / batch_size)

    def after(self, n_done: int) -> Iterator[Batch]:
        """All batches but the first `n_done`, which are read and dropped."""
        epochs = (regrouped(self._make(), self._batch_size) for _ in range(self._n_epochs))
        return islice(map(Batch, chain.from_iterable(epochs)), n_done, None)


def regrouped(items: Iterable[Array], batch_size: int) -> Iterator[Array]:
    """The same patches in arrays of `batch_size`, the last one shorter; items of other shapes are refused."""
    waiting: list[Array] = []
    n_waiting = 0
    for number, item in enumerate(items):
        array = nan_for_masked(item)
        _require_same_shape(array, waiting[0] if waiting else None, number)
        waiting.append(array)
        n_waiting += array.shape[0]
        while n_waiting >= batch_size:
            joined = _joined(waiting)
            yield joined[:batch_size, ...]
            # An empty rest is kept: it remembers the shape.
            waiting, n_waiting = [joined[batch_size:, ...]], n_waiting - batch_size
    if n_waiting:
        yield _joined(waiting)


def _require_same_shape(array: Array, earlier: Array | None, number: int) -> None:
    shape = tuple(array.shape)
    if not 2 <= len(shape) <= checks.MAX_AXES + 1:
        raise ValueError(
            f"Batch {number} of the data has shape {shape}: a batch is a stack of patches "
            f"(n, *patch_shape) with 1 to {checks.MAX_AXES} patch axes."
        )
    if earlier is not None and tuple(earlier.shape[1:]) != shape[1:]:
        raise ValueError(
            f"Batch {number} of the data has patches of shape {shape[1:]}, the ones before had "
            f"{tuple(earlier.shape[1:])}: all patches must have one shape."
        )


def _joined(arrays: Sequence[Array]) -> Array:
    return arrays[0] if len(arrays) == 1 else namespace(arrays[0]).concat(arrays, axis=0)


def _pieces(data: Any, name: str) -> list[Array] | None:
    """The arrays that hold the data, files opened but not read; None for data that comes in batches."""
    if isinstance(data, str | Path) or is_array_api_obj(data):
        return [_piece(data, name)]
    if not isinstance(data, list | tuple):
        return None
    if data and all(isinstance(piece, str | Path) or getattr(piece, "ndim", 0) > 1 for piece in data):
        pieces = [_piece(piece, name) for piece in data]
        for number, piece in enumerate(pieces):
            _require_same_shape(piece, pieces[0], number)
        return pieces
    numbers: Any = data
    return [_as_rows(checks.as_real_array(numbers, name), name)]


def _piece(data: Any, name: str) -> Array:
    if isinstance(data, str | Path):
        return _opened(checks.as_path(data, name))
    return _as_rows(nan_for_masked(data), name)


def _as_rows(array: AnyArray, name: str) -> AnyArray:
    shape = tuple(array.shape)
    if not 2 <= len(shape) <= checks.MAX_AXES + 1 or 0 in shape:
        raise ValueError(
            f"{name} must have shape (n, *patch_shape) with 1 to {checks.MAX_AXES} patch axes and at least "
            f"one patch, got shape {shape}: stack the patches along a first axis."
        )
    return array


def _opened(path: Path) -> np.ndarray:
    """The array of a .npy file, mapped into memory."""
    if path.is_dir():
        raise IsADirectoryError(
            f"{path} is a folder: sedil.stream_patches draws patches from the images of a folder."
        )
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}.")
    try:
        with without_words_of_libraries.held():
            array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise ValueError(f"{path} cannot be read as a .npy file: {error}.") from error
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{path} is an archive of several arrays: save the patches with numpy.save.")
    return _as_rows(array, str(path))


def nan_for_masked(array: AnyArray) -> AnyArray:
    """The same array; a masked array of NumPy as its data, with NaN, that is missing, where masked."""
    if not isinstance(array, np.ma.MaskedArray):
        return checks.as_plain_array(array, "patches")
    checks.as_plain_array(array.data, "patches")
    wide: Any = array.astype(np.result_type(array.dtype, np.float32))  # which can hold NaN
    return wide.filled(np.nan)


def _matching_masks(pieces: Sequence[Array], mask: Any) -> list[Array]:
    masks = _pieces(mask, "mask")
    if masks is None or len(masks) != len(pieces):
        came = "an iterable" if masks is None else f"{len(masks)}"
        raise ValueError(f"mask must have as many arrays as the patches, {len(pieces)}, got {came}.")
    return [checks.require_mask(own, piece) for own, piece in zip(masks, pieces, strict=True)]


def _rows_of(piece: Array, rows: np.ndarray) -> Array:
    """A copy of some rows; of a mapped file only these are read."""
    if isinstance(piece, np.ndarray):
        return np.asarray(piece[rows])
    xp = namespace(piece)
    return xp.take(piece, xp.asarray(rows, device=device_of(piece)), axis=0)
