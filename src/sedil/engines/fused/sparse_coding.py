"""Sparse codes by the fused engine: the l1 problem (descent, FISTA or ADMM, then least squares), and pursuit.

Samples go in chunks, one chunk a thread; codes are flat rows, dense or sparse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from queue import LifoQueue
from typing import Any, NamedTuple

import numpy as np

from sedil.engines.contract import Effort, L1Codes, L1Problem, PursuitCoding, Solver
from sedil.engines.fused.kernels import descent, support
from sedil.engines.fused.kernels.blocks import Operator
from sedil.engines.fused.kernels.compilation import announced
from sedil.engines.fused.kernels.lane_l1 import L1Lanes, Splitting, solve_l1_on_lanes
from sedil.engines.fused.kernels.lane_pursuit import PursuitLanes, solve_pursuit_on_lanes
from sedil.engines.fused.kernels.lanes import Stopping
from sedil.engines.fused.kernels.nonzeros import take_nonzeros
from sedil.engines.portable.l1 import ADMM_CHECK, FISTA_CHECK, RELAXATION, STRENGTH, squared_norm
from sedil.engines.threads import parallel_map, thread_count

# Looks of descent at all atoms: few samples take more than ten. Crowded ones are quicker by FISTA.
MAX_LOOKS, CROWDED_LOOKS = 300, 30
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


class Rows(NamedTuple):
    """Results, one row a sample: codes (n, atoms), relative duality gaps (n,), numbers of iterations (n,)."""

    codes: np.ndarray
    relative_gap: np.ndarray
    n_iterations: np.ndarray


class Task(NamedTuple):
    """An l1 problem as the kernels want it, samples as rows.

    Attributes
    ----------
    factors : sequence of float32 arrays
    patches : (n, entries)
    thresholds : float, or (atoms,)
    known : (n, entries), 1 where data is known; or (0, entries) if all is
    initial : (n, atoms) or None
    effort : Effort
    solver : name of a solver
    refits : iterations of least squares at the end
    """

    factors: Sequence[np.ndarray]
    patches: np.ndarray
    thresholds: float | np.ndarray
    known: np.ndarray
    initial: np.ndarray | None
    effort: Effort
    solver: Solver
    refits: int

    def part(self, part: slice | np.ndarray) -> Task:
        """The task for some of the samples."""
        known = self.known[part] if len(self.known) else self.known
        initial = None if self.initial is None else self.initial[part]
        return self._replace(patches=self.patches[part], known=known, initial=initial)


def solve_l1(
    problem: L1Problem, effort: Effort, solver: Solver, refits: int, sparse: bool, threads: int | None
) -> L1Codes:
    """Codes of all samples, see `sedil.engines.contract.Engine.solve_l1`."""
    task = _as_task(problem, effort, solver, refits)
    n = len(task.patches)
    if sparse:
        codes, gaps, n_iterations = in_sparse_rows(
            lambda part, buffer: solve_rows(task.part(part), buffer, threads=1), task.factors, n, threads
        )
    else:
        codes, gaps, n_iterations = solve_rows(task, threads=threads)
        codes = codes.reshape(n, *(factor.shape[1] for factor in task.factors))
    return L1Codes(codes, gaps, int(n_iterations.max(initial=0)))


def _as_task(problem: L1Problem, effort: Effort, solver: Solver, refits: int) -> Task:
    patches = as_rows(problem.patches)
    thresholds = problem.thresholds
    return Task(
        problem.factors,
        patches,
        thresholds if isinstance(thresholds, float) else thresholds.ravel(),
        np.empty((0, patches.shape[1]), np.float32) if problem.known is None else as_rows(problem.known),
        None if problem.initial is None else as_rows(problem.initial),
        effort,
        solver,
        refits,
    )


def rows_task(factors: Sequence[np.ndarray], patches: np.ndarray, penalty: float, effort: Effort) -> Task:
    """The plain problem of patches (n, entries), by FISTA."""
    known = np.empty((0, patches.shape[1]), np.float32)
    return Task(factors, patches, penalty, known, None, effort, "fista", 0)


def solve_rows(task: Task, codes: np.ndarray | None = None, *, threads: int | None) -> Rows:
    """Solve; `codes`, if given, are zeros (n, atoms) to be used for the result."""
    codes = zero_codes(task.factors, len(task.patches)) if codes is None else codes
    if task.initial is not None:
        codes[:] = task.initial
    n = len(task.patches)
    result = Rows(codes, np.zeros(n, np.float32), np.zeros(n, np.int64))
    if task.solver == "descent":
        _descend(task, result, threads)
        if task.effort.max_looks is None:
            _finish_by_fista(task, result, threads)
    else:
        _iterate(task, result, threads)
    if task.refits:
        _refit(task, codes, threads)
    return result


def _finish_by_fista(task: Task, result: Rows, threads: int | None) -> None:
    """What descent has not solved after some looks at all atoms goes on with FISTA."""
    tolerance, max_iterations = task.effort.tolerance, task.effort.max_iterations
    # "not <=" holds for gaps that are not numbers, too
    left = np.flatnonzero(~(result.relative_gap <= tolerance) & (result.n_iterations < max_iterations))
    if len(left):
        rest = Rows(*(values[left] for values in result))
        _iterate(task.part(left)._replace(solver="fista"), rest, threads)
        for values, new in zip(result, rest, strict=True):
            values[left] = new


def _descend(task: Task, result: Rows, threads: int | None) -> None:
    """Improve the codes in `result`, zero unless the task has initial ones, by coordinate descent."""
    warm = task.initial is not None
    operator = Operator.create(task.factors)
    descend = descent.descend_from_codes if warm else descent.descend_from_zero
    tolerance, most, looks = task.effort
    stopping = Stopping.create(tolerance, min(most, looks or MAX_LOOKS))

    def work(part: slice) -> None:
        state = descent.Descent.create(task.factors, task.thresholds, looks or CROWDED_LOOKS)
        with announced("descent from codes" if warm else "descent"):
            descend(operator, state, stopping, task.patches[part], *(values[part] for values in result))

    for_each_chunk(work, len(task.patches), threads)


def _iterate(task: Task, result: Rows, threads: int | None) -> None:
    """Improve the codes in `result` by FISTA or ADMM."""
    factors, patches, eigenvalues, every = task.factors, task.patches, None, FISTA_CHECK
    if task.solver == "admm":
        factors, patches, eigenvalues = _diagonalised(factors, patches)
        every = ADMM_CHECK
    operator, step = Operator.create(factors), 1 / squared_norm(factors)
    stopping = Stopping.create(task.effort.tolerance, task.effort.max_iterations, every)

    def work(part: slice) -> None:
        lanes, splitting = L1Lanes.create(operator, task.thresholds, step), Splitting.none()
        if eigenvalues is not None:
            splitting = Splitting.create(eigenvalues, result.codes.shape[1], STRENGTH, RELAXATION)
        arrays = patches[part], task.part(part).known, *(values[part] for values in result)
        with announced("FISTA and ADMM"):
            solve_l1_on_lanes(operator, lanes, stopping, splitting, *arrays)

    for_each_chunk(work, len(patches), threads)


def _refit(task: Task, codes: np.ndarray, threads: int | None) -> None:
    """Replace the coefficients in use by their least-squares values."""
    operator = Operator.create(task.factors)

    def work(part: slice) -> None:
        state = support.Support.create(operator)
        with announced("refit"):
            support.refit_codes(
                operator, state, task.patches[part], task.part(part).known, codes[part], task.refits
            )

    for_each_chunk(work, len(task.patches), threads)


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


def pursue(
    factors: Sequence[np.ndarray],
    patches: np.ndarray,
    coding: PursuitCoding,
    sparse: bool,
    threads: int | None,
) -> Any:
    """Codes of all samples, see `sedil.engines.contract.Engine.pursue`."""
    rows, n = as_rows(patches), len(patches)
    if sparse:

        def solve(part: slice, buffer: np.ndarray) -> tuple[np.ndarray]:
            _pursue_rows(factors, rows[part], coding, buffer, threads=1)
            return (buffer,)

        return in_sparse_rows(solve, factors, n, threads)[0]
    codes = zero_codes(factors, n)
    _pursue_rows(factors, rows, coding, codes, threads)
    return codes.reshape(n, *(factor.shape[1] for factor in factors))


def _pursue_rows(
    factors: Sequence[np.ndarray],
    patches: np.ndarray,
    coding: PursuitCoding,
    codes: np.ndarray,
    threads: int | None,
) -> None:
    """Codes (n, atoms) of patches (n, entries), in place of zeros."""
    operator = Operator.create(factors)
    max_energy = np.float32(coding.max_error) ** 2

    def work(part: slice) -> None:
        lanes = PursuitLanes.create(operator, coding.max_atoms)
        with announced("pursuit"):
            solve_pursuit_on_lanes(operator, lanes, max_energy, patches[part], codes[part])

    for_each_chunk(work, len(patches), threads)
