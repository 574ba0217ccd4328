"""The operations of the fused engine. Kernels, and Numba with them, are loaded when they are first used."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from sedil.arrays import Array
from sedil.engines.contract import (
    BoxPlan,
    BoxSums,
    Cleaning,
    Effort,
    Engine,
    Groups,
    L1Codes,
    L1Problem,
    PursuitCoding,
    Shrinkage,
    Solver,
    TrainingSet,
)
from sedil.engines.portable import products
from sedil.match_grid import MatchGrid
from sedil.patch_grid import Box

# Beyond this a block no longer stays in the second-level cache, and BLAS is about as fast (case "switch" of
# `sedil bench`).
LARGEST_CODE = 16384
_LARGEST_GRAM = 4096  # atoms of an axis up to which descent is best: its Gram matrix is as wide


class FusedEngine:
    """See `sedil.engines.contract.Engine`. Float32 NumPy arrays, on the CPU."""

    name = "fused"

    def refusal(self, array: Array, masked: bool) -> str | None:
        """It works on float32 NumPy arrays, and does not learn from missing entries."""
        if not isinstance(array, np.ndarray):
            kind = f"{type(array).__module__}.{type(array).__name__}"
            return f'engine="fused" works on NumPy arrays, got {kind}: leave engine out or use "portable".'
        if array.dtype != np.float32:
            return f'engine="fused" computes in float32, not in {array.dtype}: leave engine or dtype out.'
        if masked:
            return 'engine="fused" cannot learn from missing entries: leave engine out.'
        return None

    def suits(self, array: Array, n_atoms: Sequence[int], masked: bool) -> bool:
        """Dictionaries of moderate size."""
        return self.refusal(array, masked) is None and prod(n_atoms) <= LARGEST_CODE

    def synthesize(self, factors: Sequence[np.ndarray], codes: np.ndarray) -> np.ndarray:
        """As the portable engine: one product alone is bound by memory, where BLAS is as good."""
        return products.synthesize(factors, codes)

    def analyze(self, factors: Sequence[np.ndarray], patches: np.ndarray) -> np.ndarray:
        """As the portable engine."""
        return products.analyze(factors, patches)

    def analyze_rows(self, factors: Sequence[np.ndarray], patches: np.ndarray) -> np.ndarray:
        """Each row to the same bits whatever rows come with it: BLAS goes other ways for other numbers."""
        from sedil.engines.fused.rows import analyze_rows

        return analyze_rows(factors, patches)

    def solvers(self, n_atoms: Sequence[int], masked: bool) -> tuple[Solver, ...]:
        """Masks couple the axes, so that descent and ADMM do without them."""
        if masked:
            return ("fista",)
        return ("descent", "fista", "admm") if max(n_atoms) <= _LARGEST_GRAM else ("fista", "descent", "admm")

    def solve_l1(
        self,
        problem: L1Problem,
        effort: Effort,
        solver: Solver = "fista",
        *,
        refits: int = 0,
        sparse: bool = False,
        threads: int | None = None,
    ) -> L1Codes:
        """Codes of all samples, a chunk of them a thread."""
        from sedil.engines.fused.sparse_coding import solve_l1

        return solve_l1(problem, effort, solver, refits, sparse, threads)

    def pursue(
        self,
        factors: Sequence[np.ndarray],
        patches: np.ndarray,
        coding: PursuitCoding,
        *,
        sparse: bool = False,
        threads: int | None = None,
    ) -> Any:
        """Codes by orthogonal matching pursuit, a chunk of them a thread."""
        from sedil.engines.fused.sparse_coding import pursue

        return pursue(factors, patches, coding, sparse, threads)

    def plan_boxes(
        self, cleaning: Cleaning, image: np.ndarray, max_memory: float, threads: int | None
    ) -> BoxPlan:
        """Boxes that do not depend on the number of threads, so that neither does the result."""
        from sedil.engines.fused.patch_cleaning import plan_boxes

        return plan_boxes(cleaning, threads)

    def clean_box(self, cleaning: Cleaning, image: np.ndarray, box: Box) -> BoxSums:
        """Weighted sums over cleaned patches in one pass."""
        from sedil.engines.fused.patch_cleaning import clean_box

        return clean_box(cleaning, image, box)

    def plan_groups(
        self, grid: MatchGrid, image: np.ndarray, n_members: int, max_memory: float, threads: int | None
    ) -> BoxPlan:
        """Boxes of as many groups, whatever the number of threads."""
        from sedil.engines.fused.grouping import plan_groups

        return plan_groups(threads)

    def match_box(
        self, grid: MatchGrid, image: np.ndarray, n_members: int, box: Box, wanted: np.ndarray | None
    ) -> Groups:
        """The nearest candidates of each patch of a box."""
        from sedil.engines.fused.grouping import match_box

        return match_box(grid, image, n_members, box, wanted)

    def clean_groups(
        self, groups: Groups, image: np.ndarray, noise: np.ndarray, shrinkage: Shrinkage
    ) -> BoxSums:
        """Sums over cleaned groups, one after the other in memory that stays in the cache."""
        from sedil.engines.fused.grouping import clean_groups

        return clean_groups(groups, image, noise, shrinkage)

    def training_set(
        self, patches: np.ndarray, n_atoms: Sequence[int], mask: np.ndarray | None, threads: int | None
    ) -> TrainingSet:
        """Patches in blocks to learn from."""
        from sedil.engines.fused.training import FusedTrainingSet

        return FusedTrainingSet(patches, n_atoms, threads)


ENGINE: Engine = FusedEngine()
