"""The l1 problem by the fused engine: descent, FISTA or ADMM, then least squares on the support."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sedil.engines.contract import Effort, L1Codes, L1Problem, Solver
from sedil.engines.fused.chunks import as_rows, for_each_chunk, in_sparse_rows, zero_codes
from sedil.engines.portable.admm import CHECK_EVERY as ADMM_CHECK
from sedil.engines.portable.admm import RELAXATION, STRENGTH
from sedil.engines.portable.fista import CHECK_EVERY as FISTA_CHECK
from sedil.engines.portable.lasso import squared_norm

# Looks of descent at all atoms: few samples take more than ten. Crowded ones are quicker by FISTA.
MAX_LOOKS, CROWDED_LOOKS = 300, 30


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
    from sedil.engines.fused.kernels import descent
    from sedil.engines.fused.kernels.blocks import Operator
    from sedil.engines.fused.kernels.compilation import announced
    from sedil.engines.fused.kernels.stopping import Stopping

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
    from sedil.engines.fused.kernels.blocks import Operator
    from sedil.engines.fused.kernels.compilation import announced
    from sedil.engines.fused.kernels.lane_admm import Splitting
    from sedil.engines.fused.kernels.lane_l1 import L1Lanes, solve_l1_on_lanes
    from sedil.engines.fused.kernels.stopping import Stopping

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
    from sedil.engines.fused.kernels import support
    from sedil.engines.fused.kernels.blocks import Operator
    from sedil.engines.fused.kernels.compilation import announced

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
