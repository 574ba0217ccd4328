"""Sparse coding with the fused engine: samples in chunks, one chunk a thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from sedil.coding.admm import CHECK_EVERY as ADMM_CHECK
from sedil.coding.admm import RELAXATION, STRENGTH
from sedil.coding.fista import CHECK_EVERY as FISTA_CHECK
from sedil.coding.problem import squared_norm
from sedil.engines.threads import parallel_map, thread_count

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
) -> FlatResult:
    """Codes of flat patches (n, entries), each improved by so many iterations of least squares.

    `thresholds` is the penalty, or one per atom (flat); `known` is 1 where data is known, which "admm" cannot
    take.
    """
    from sedil.engines.fused import lasso, support
    from sedil.engines.fused.blocks import Operator
    from sedil.engines.fused.compilation import announced

    operator, seen = Operator.create(factors), patches
    every, splits = (ADMM_CHECK, True) if solver == "admm" else (FISTA_CHECK, False)
    eigenvalues = np.ones(patches.shape[1])
    if splits:
        factors, seen, eigenvalues = _diagonalised(factors, patches)
    rotated = Operator.create(factors)
    n = len(patches)
    codes = np.zeros((n, int(np.prod(operator.counts))), np.float32)
    if initial is not None:
        codes[:] = initial
    gaps, iterations = np.zeros(n, np.float32), np.zeros(n, np.int64)
    known = np.empty((0, patches.shape[1]), np.float32) if known is None else known.astype(np.float32)
    rule = lasso.Rule.create(1 / squared_norm(factors), tolerance, max_iterations, every)

    def work(part: slice) -> None:
        lanes = lasso.Lanes.create(operator, thresholds)
        own_known = known[part] if len(known) else known
        splitting = lasso.Splitting.create(eigenvalues, codes.shape[1], STRENGTH, RELAXATION)
        results = codes[part], gaps[part], iterations[part]
        lasso.solve(rotated, lanes, rule, splitting, splits, seen[part], own_known, *results)
        if refits:
            room = support.Support.create(operator)
            support.refit_all(operator, room, patches[part], own_known, codes[part], refits)

    with announced("l1 coding"):
        _for_each_chunk(work, n, threads)
    return FlatResult(codes, gaps, iterations)


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
) -> np.ndarray:
    """Codes (n, atoms) of flat patches (n, entries) by orthogonal matching pursuit."""
    from sedil.engines.fused import pursuit
    from sedil.engines.fused.blocks import Operator
    from sedil.engines.fused.compilation import announced

    operator = Operator.create(factors)
    codes = np.zeros((len(patches), int(np.prod(operator.counts))), np.float32)
    max_energy = np.float32(max_error) ** 2

    def work(part: slice) -> None:
        pursuers = pursuit.Pursuers.create(operator, max_atoms)
        pursuit.solve(operator, pursuers, max_energy, patches[part], codes[part])

    with announced("pursuit"):
        _for_each_chunk(work, len(patches), threads)
    return codes


def _for_each_chunk(work: Callable[[slice], None], n: int, threads: int | None) -> None:
    parts = (slice(start, start + _CHUNK) for start in range(0, n, _CHUNK))
    for _ in parallel_map(work, parts, thread_count(threads)):
        pass
