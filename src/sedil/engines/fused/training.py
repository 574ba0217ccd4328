"""Learning with the fused engine: codes in blocks, one pass over them per evaluation, one per step.

The codes, their gradient and the direction are three arrays that a step changes in place; the trial points of
the line search are never stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import prod
from typing import Any, NamedTuple

import numpy as np

from sedil.engines.contract import CodesGradient, Effort, LogPenalty, Trial
from sedil.engines.fused.kernels import cost
from sedil.engines.fused.kernels.blocks import Operator
from sedil.engines.fused.kernels.compilation import announced
from sedil.engines.fused.kernels.vectors import LANES, WIDTH
from sedil.engines.fused.rows import from_blocks, to_blocks
from sedil.engines.fused.sparse_coding import rows_task, solve_rows
from sedil.engines.threads import thread_count

# Blocks that a thread takes at a time, at most.
_CHUNK = 64
# Parts that small sets of patches are cut into, so that all threads have work, and coefficients that are
# worth the overhead of a part.
_PARTS, _FEWEST_COEFFICIENTS = 16, 2**17


class FusedTrainingSet:
    """Patches (n, *patch_shape) to learn from, as `sedil.engines.contract.TrainingSet`.

    Codes have the shape (blocks, atoms, WIDTH). The last block is filled up with zero patches, whose codes
    stay zero and cost nothing.
    """

    def __init__(self, patches: np.ndarray, n_atoms: Sequence[int], threads: int | None = None) -> None:
        self.n_samples, self._n_atoms = len(patches), tuple(n_atoms)
        self._flat = np.ascontiguousarray(patches.reshape(self.n_samples, -1), np.float32)
        self._patches = to_blocks(self._flat)
        self._chunk = _chunk_length(len(self._patches), prod(self._n_atoms))
        n_threads = thread_count(threads)
        self._pool = ThreadPoolExecutor(n_threads)
        self._sizes = list(zip(patches.shape[1:], self._n_atoms, strict=True))
        blank = self._operator([np.zeros(size) for size in self._sizes])
        self._workspaces = [cost.CostWorkspace.create(blank) for _ in range(n_threads)]

    def _operator(self, factors: Sequence[np.ndarray]) -> Operator:
        """The dictionary as the kernels see it, of the sizes that the workspaces are made for."""
        sizes = [factor.shape for factor in factors]
        if sizes != self._sizes:
            raise RuntimeError(
                f"This training set is for factors of the shapes {self._sizes}, and got {sizes}: this is a "
                f"mistake in sedil, please report it."
            )
        return Operator.create(factors)

    def codes_shape(self, n_atoms: Sequence[int]) -> tuple[int, ...]:
        """In blocks."""
        return len(self._patches), prod(n_atoms), WIDTH

    def correlations(self, factors: Sequence[np.ndarray]) -> np.ndarray:
        """Codes ``A^T S B``."""
        operator = self._operator(factors)
        codes = np.empty((len(self._patches), prod(self._n_atoms), WIDTH), np.float32)

        def work(part: slice, workspace: cost.CostWorkspace) -> None:
            cost.analyze_blocks(operator, self._patches[part], codes[part], workspace)

        self._for_each_chunk(work)
        return codes

    def sparse_codes(self, factors: Sequence[np.ndarray], penalty: float, effort: Effort) -> np.ndarray:
        """Codes of Eq. (34), by FISTA."""
        length = WIDTH * max(self._chunk, 2)  # two: lanes are refilled as samples finish
        parts = [self._flat[start : start + length] for start in range(0, self.n_samples, length)]

        def work(part: np.ndarray) -> np.ndarray:
            return solve_rows(rows_task(factors, part, penalty, effort), threads=1).codes

        return to_blocks(np.concatenate(list(self._pool.map(work, parts))))

    def export_codes(self, codes: np.ndarray) -> np.ndarray:
        """Codes of shape (n, *n_atoms)."""
        return from_blocks(codes, self.n_samples).reshape(self.n_samples, *self._n_atoms)

    def cost_along(
        self,
        factors: Sequence[np.ndarray],
        codes: np.ndarray,
        direction: np.ndarray,
        step: float,
        penalty: LogPenalty,
    ) -> Trial:
        """The cost at ``codes + step * direction``. Paper: Eq. (16), coherence left out."""
        operator, scale = self._operator(factors), np.float32(penalty.scale)

        def work(part: slice, workspace: cost.CostWorkspace) -> tuple[float, float]:
            arrays = self._patches[part], codes[part], direction[part]
            return cost.value_along(operator, *arrays, np.float32(step), scale, workspace)

        sums = self._for_each_chunk(work)
        memory = _Memory(operator, codes, direction, step)
        return self._trial(sum(part[0] for part in sums), sum(part[1] for part in sums), penalty, memory)

    def gradient_after(
        self, trial: Trial, gradient: np.ndarray, penalty: LogPenalty, codes_weight: float
    ) -> CodesGradient:
        """The gradient where `trial` was made; codes and gradient are changed in place."""
        return self._go(trial.memory, gradient, penalty, codes_weight, with_value=False)[1]

    def cost_and_gradient(
        self,
        factors: Sequence[np.ndarray],
        codes: np.ndarray,
        penalty: LogPenalty,
        codes_weight: float,
        spare: np.ndarray | None = None,
    ) -> tuple[Trial, CodesGradient]:
        """Both at the point where a run begins."""
        memory = _Memory(self._operator(factors), codes, codes, 0.0)  # a step of length zero, along anything
        gradient = np.empty_like(codes) if spare is None else spare
        sums, found = self._go(memory, gradient, penalty, codes_weight, with_value=True)
        return self._trial(*sums, penalty, memory), found._replace(new_dot_old=0.0, direction_dot_new=0.0)

    def turn(self, gradient: np.ndarray, direction: np.ndarray, beta: float) -> np.ndarray:
        """``beta * direction - gradient``, in place of the direction. Paper: Eq. (31)."""

        def work(part: slice, workspace: cost.CostWorkspace) -> None:
            cost.turn(gradient[part], direction[part], np.float32(beta))

        self._for_each_chunk(work)
        return direction

    def _go(
        self,
        memory: _Memory,
        gradient: np.ndarray,
        penalty: LogPenalty,
        codes_weight: float,
        with_value: bool,
    ) -> tuple[tuple[float, float], CodesGradient]:
        """Move the codes along their direction, and replace `gradient` by the Riemannian one there.

        Returns the sums of squared residuals and of logarithms too; if not `with_value`, the logarithms, a
        tenth of the work, are left out.
        """
        operator, codes, direction, step = memory
        factor = np.float32(1 / (self.n_samples * codes_weight))
        weights = cost.CodeWeights(np.float32(penalty.scale), np.float32(penalty.weight), factor)

        def work(part: slice, workspace: cost.CostWorkspace) -> tuple[float, float, np.ndarray, np.ndarray]:
            workspace.products[:] = 0
            workspace.pairs[:] = 0
            arrays = self._patches[part], codes[part], direction[part], np.float32(step), gradient[part]
            sums = cost.gradient_along(operator, *arrays, weights, workspace, with_value)
            return (
                *sums,
                workspace.products.copy(),
                workspace.pairs.reshape(-1, LANES).sum(axis=1, dtype=np.float64),
            )

        parts: list[Any] = self._for_each_chunk(work)
        squares, logarithms, products, slopes = (sum(values) for values in zip(*parts, strict=True))
        factor_gradients = tuple(_split(slopes / self.n_samples, operator))
        found = CodesGradient(codes, gradient, factor_gradients, *products.tolist())
        return (squares, logarithms), found

    def _trial(self, squares: float, logarithms: float, penalty: LogPenalty, memory: _Memory) -> Trial:
        """The terms of the cost from the sums over all samples."""
        return Trial(0.5 * squares / self.n_samples, penalty.weight * logarithms / self.n_samples, memory)

    def _for_each_chunk(self, work: Callable[[slice, cost.CostWorkspace], object]) -> list[Any]:
        """Results of all chunks, in their order."""

        def with_workspace(start: int) -> object:
            workspace = self._workspaces.pop()  # there is one per thread
            try:
                return work(slice(start, start + self._chunk), workspace)
            finally:
                self._workspaces.append(workspace)

        starts = range(0, len(self._patches), self._chunk)
        with announced("learning"):
            each = map if len(starts) == 1 else self._pool.map  # no threads for what one does
            return list(each(with_workspace, starts))


class _Memory(NamedTuple):
    """Where a trial was made: ``codes + step * direction``, and the factors as the kernels see them."""

    operator: Operator
    codes: np.ndarray
    direction: np.ndarray
    step: float


def _split(slopes: np.ndarray, operator: Operator) -> Iterator[np.ndarray]:
    """The gradient of each factor, from all of them one after the other."""
    start = 0
    for length, count in zip(operator.lengths, operator.counts, strict=True):
        yield slopes[start : start + length * count].reshape(length, count)
        start += length * count


def _chunk_length(n_blocks: int, n_atoms: int) -> int:
    """Blocks that a thread takes at a time; by sizes alone, so that sums do not depend on the threads."""
    fewest = -(-_FEWEST_COEFFICIENTS // (n_atoms * WIDTH))
    return min(_CHUNK, max(fewest, -(-n_blocks // _PARTS)))
