"""Sparse coding with the fused engine: samples in chunks, one chunk a thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from queue import LifoQueue
from typing import Any, NamedTuple

import numpy as np

from sedil.engines.portable.admm import CHECK_EVERY as ADMM_CHECK
from sedil.engines.portable.admm import RELAXATION, STRENGTH
from sedil.engines.portable.fista import CHECK_EVERY as FISTA_CHECK
from sedil.engines.portable.lasso import squared_norm
from sedil.engines.threads import parallel_map, thread_count

# Looks of descent at all atoms: few samples take more than ten. Crowded ones are quicker by FISTA.
MAX_LOOKS, CROWDED_LOOKS = 300, 30
_CHUNK = 4096  # samples: enough to keep all lanes of a block busy, few enough to share among threads


class FlatResult(NamedTuple):
    """Codes of shape (n, atoms), their relative duality gaps and their numbers of iterations."""

    codes: np.ndarray
    relative_gap: np.ndarray
    n_iterations: np.ndarray


def solve_l1(
    factors: Sequence[np.ndarray],
    patches: np.ndarray,
    thresholds: float | np.ndarray,
    tolerance: float,
    max_iterations: int,
    *,
    known: np.ndarray | None = None,
    initial: np.ndarray | None = None,
    refits: int = 0,
    solver: str = "fista",
    threads: int | None = None,
    room: np.ndarray | None = None,
) -> FlatResult:
    """Codes of flat patches (n, entries), each improved by so many iterations of least squares.

    `thresholds` is the penalty, or one per atom (flat); `known` is 1 where data is known, which "fista" alone
    can take. What "descent" has not solved after some looks at all atoms goes on with "fista". `room`, all
    zeros, is for the codes.
    """
    codes = _zero_codes(factors, len(patches)) if room is None else room
    if initial is not None:
        codes[:] = initial
    result = FlatResult(codes, np.zeros(len(patches), np.float32), np.zeros(len(patches), np.int64))
    seen = np.empty((0, patches.shape[1]), np.float32) if known is None else known.astype(np.float32)
    task = _Task(factors, patches, seen, thresholds, tolerance, max_iterations, threads)
    if solver == "descent":
        _descend(task, initial is not None, result)
        # "not <=" holds for gaps that are not numbers, too
        left = np.flatnonzero(~(result.relative_gap <= tolerance) & (result.n_iterations < max_iterations))
        if len(left):
            rest = FlatResult(*(values[left] for values in result))
            _iterate(task._replace(patches=patches[left]), "fista", rest)
            for values, new in zip(result, rest, strict=True):
                values[left] = new
    else:
        _iterate(task, solver, result)
    if refits:
        _refit(task, codes, refits)
    return result


class _Task(NamedTuple):
    """What is asked for; `known` is empty if all entries are."""

    factors: Sequence[np.ndarray]
    patches: np.ndarray
    known: np.ndarray
    thresholds: float | np.ndarray
    tolerance: float
    max_iterations: int
    threads: int | None

    def known_of(self, part: slice) -> np.ndarray:
        """`known` of some patches."""
        return self.known[part] if len(self.known) else self.known


def _descend(task: _Task, warm: bool, result: FlatResult) -> None:
    """Improve the codes in `result`, which are zero unless `warm`, by coordinate descent."""
    from sedil.engines.fused.kernels import descent
    from sedil.engines.fused.kernels.blocks import Operator
    from sedil.engines.fused.kernels.compilation import announced
    from sedil.engines.fused.kernels.stopping import Stopping

    operator = Operator.create(task.factors)
    descend = descent.descend_from_codes if warm else descent.descend_from_zero
    stopping = Stopping.create(task.tolerance, min(task.max_iterations, MAX_LOOKS))

    def work(part: slice) -> None:
        state = descent.Descent.create(task.factors, task.thresholds, CROWDED_LOOKS)
        with announced("descent from codes" if warm else "descent"):
            descend(operator, state, stopping, task.patches[part], *(values[part] for values in result))

    _for_each_chunk(work, len(task.patches), task.threads)


def _iterate(task: _Task, solver: str, result: FlatResult) -> None:
    """Improve the codes in `result` by FISTA or ADMM."""
    from sedil.engines.fused.kernels.blocks import Operator
    from sedil.engines.fused.kernels.compilation import announced
    from sedil.engines.fused.kernels.lane_admm import Splitting
    from sedil.engines.fused.kernels.lane_l1 import L1Lanes, solve_l1_on_lanes
    from sedil.engines.fused.kernels.stopping import Stopping

    factors, patches, eigenvalues, every = task.factors, task.patches, None, FISTA_CHECK
    if solver == "admm":
        every = ADMM_CHECK
        factors, patches, eigenvalues = _diagonalised(factors, patches)
    operator, step = Operator.create(factors), 1 / squared_norm(factors)
    stopping = Stopping.create(task.tolerance, task.max_iterations, every)

    def work(part: slice) -> None:
        lanes, splitting = L1Lanes.create(operator, task.thresholds, step), Splitting.none()
        if eigenvalues is not None:
            splitting = Splitting.create(eigenvalues, result.codes.shape[1], STRENGTH, RELAXATION)
        results = (values[part] for values in result)
        arrays = patches[part], task.known_of(part), *results
        with announced("FISTA and ADMM"):
            solve_l1_on_lanes(operator, lanes, stopping, splitting, *arrays)

    _for_each_chunk(work, len(patches), task.threads)


def _refit(task: _Task, codes: np.ndarray, n_iterations: int) -> None:
    """Replace the coefficients in use by their least-squares values."""
    from sedil.engines.fused.kernels import support
    from sedil.engines.fused.kernels.blocks import Operator
    from sedil.engines.fused.kernels.compilation import announced

    operator = Operator.create(task.factors)

    def work(part: slice) -> None:
        state = support.Support.create(operator)
        arrays = task.patches[part], task.known_of(part), codes[part]
        with announced("refit"):
            support.refit_codes(operator, state, *arrays, n_iterations)

    _for_each_chunk(work, len(task.patches), task.threads)


def _diagonalised(
    factors: Sequence[np.ndarray], patches: np.ndarray
) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """The same problem in coordinates where D D^T is diagonal: factors, patches, and that diagonal.

    Rotating the patches along each axis changes neither lengths nor codes.
    """
    values, turned = np.ones(1), []
    blocks = patches.reshape(len(patches), *(factor.shape[0] for factor in factors))
    for axis, factor in enumerate(factors):
        matrix = factor.astype(np.float64)
        value, rotation = np.linalg.eigh(matrix @ matrix.T)
        values = np.multiply.outer(values, np.maximum(value, 0)).ravel()
        turned.append((rotation.T @ matrix).astype(np.float32))
        blocks = np.moveaxis(np.moveaxis(blocks, axis + 1, -1) @ rotation.astype(np.float32), -1, axis + 1)
    return turned, np.ascontiguousarray(blocks.reshape(patches.shape)), values


def solve_pursuit(
    factors: Sequence[np.ndarray],
    patches: np.ndarray,
    max_error: float,
    max_atoms: int,
    threads: int | None = None,
    room: np.ndarray | None = None,
) -> np.ndarray:
    """Codes (n, atoms) of flat patches (n, entries) by orthogonal matching pursuit; `room` as above."""
    from sedil.engines.fused.kernels.blocks import Operator
    from sedil.engines.fused.kernels.compilation import announced
    from sedil.engines.fused.kernels.lane_pursuit import PursuitLanes, solve_pursuit_on_lanes

    operator = Operator.create(factors)
    codes = _zero_codes(factors, len(patches)) if room is None else room
    max_energy = np.float32(max_error) ** 2

    def work(part: slice) -> None:
        lanes = PursuitLanes.create(operator, max_atoms)
        with announced("pursuit"):
            solve_pursuit_on_lanes(operator, lanes, max_energy, patches[part], codes[part])

    _for_each_chunk(work, len(patches), threads)
    return codes


def in_sparse_rows(
    solve: Callable[[slice, int, np.ndarray], tuple[np.ndarray, ...]],
    factors: Sequence[np.ndarray],
    n: int,
    threads: int | None,
) -> tuple[Any, ...]:
    """Codes of n samples as a sparse matrix, and what else `solve` finds.

    `solve` gets a part of the samples, one thread, and room for their codes. There is one such room per
    thread, used again and again: to get fresh memory from the system takes longer than to code.
    """
    from scipy.sparse import csr_array

    from sedil.engines.fused.kernels.nonzeros import take_nonzeros

    count = thread_count(threads)
    rooms: LifoQueue[np.ndarray] = LifoQueue()
    for _ in range(count):
        rooms.put(_zero_codes(factors, min(n, _CHUNK)))

    def work(part: slice) -> tuple[np.ndarray, ...]:
        room = rooms.get()
        try:
            codes, *others = solve(part, 1, room[: part.stop - part.start])
            counts = np.empty(len(codes), np.int64)
            values, columns = take_nonzeros(codes, counts)  # which leaves zeros
            return values, columns, counts, *others
        finally:
            rooms.put(room)

    pieces = list(zip(*parallel_map(work, _chunks(n) if n else [slice(0, 0)], count), strict=True))
    # One kind after the other, so that its pieces are given back before the next one is put together.
    values, columns, counts, *others = (np.concatenate(pieces.pop(0)) for _ in range(len(pieces)))
    ends = np.concatenate([[0], np.cumsum(counts)])
    if len(values) <= np.iinfo(columns.dtype).max:
        ends = ends.astype(columns.dtype)  # else the columns would become as wide as the ends
    n_atoms = prod(factor.shape[1] for factor in factors)
    return csr_array((values, columns, ends), shape=(n, n_atoms)), *others


def _zero_codes(factors: Sequence[np.ndarray], n: int) -> np.ndarray:
    return np.zeros((n, prod(factor.shape[1] for factor in factors)), np.float32)


def _chunks(n: int) -> Iterator[slice]:
    return (slice(start, min(start + _CHUNK, n)) for start in range(0, n, _CHUNK))


def _for_each_chunk(work: Callable[[slice], None], n: int, threads: int | None) -> None:
    if n <= _CHUNK:  # no threads for what one does
        work(slice(0, n))
        return
    for _ in parallel_map(work, _chunks(n), thread_count(threads)):
        pass
