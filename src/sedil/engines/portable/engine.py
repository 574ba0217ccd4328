"""The operations of the portable engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from sedil.arrays import AnyArray, Array, pack, unpack
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
from sedil.engines.portable import grouping, products
from sedil.engines.portable.cleaning import clean_box, plan_boxes
from sedil.engines.portable.l1 import CodingResult, LassoProblem, admm, fista, refit
from sedil.engines.portable.omp import pursuit
from sedil.engines.portable.training import PortableTrainingSet
from sedil.match_grid import MatchGrid
from sedil.patch_grid import Box

_SOLVERS: dict[Solver, Callable[..., CodingResult]] = {"fista": fista, "admm": admm}


class PortableEngine:
    """See `sedil.engines.contract.Engine`. Arrays are packed inside: samples last."""

    name = "portable"

    def refusal(self, array: Array, masked: bool) -> str | None:
        """None: it works on all arrays."""
        return None

    def suits(self, array: Array, n_atoms: Sequence[int], masked: bool) -> bool:
        """It suits all."""
        return True

    def synthesize(self, factors: Sequence[Array], codes: AnyArray) -> AnyArray:
        """Packed patches from packed codes."""
        return products.synthesize(factors, codes)

    def analyze(self, factors: Sequence[Array], patches: AnyArray) -> AnyArray:
        """Inner products of packed patches with all atoms."""
        return products.analyze(factors, patches)

    def analyze_rows(self, factors: Sequence[Array], patches: AnyArray) -> AnyArray:
        """One product with the whole dictionary: of so few entries it is fastest."""
        return products.analyze_rows(factors, patches)

    def solvers(self, n_atoms: Sequence[int], masked: bool) -> tuple[Solver, ...]:
        """With a mask D^T M D has no Kronecker structure, which ADMM needs."""
        return ("fista",) if masked else ("fista", "admm")

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
        """Codes of all samples together; the array library has threads of its own."""
        thresholds: Any = problem.thresholds
        lasso = LassoProblem(
            problem.factors,
            pack(problem.patches),
            thresholds if isinstance(thresholds, float) else thresholds[..., None],
            None if problem.known is None else pack(problem.known),
        )
        initial = None if problem.initial is None else pack(problem.initial)
        result = _SOLVERS[solver](lasso, effort, initial)
        codes = unpack(refit(lasso, result.codes, refits) if refits else result.codes)
        return L1Codes(_sparse_rows(codes) if sparse else codes, result.relative_gap, result.n_iterations)

    def pursue(
        self,
        factors: Sequence[Array],
        patches: Array,
        coding: PursuitCoding,
        *,
        sparse: bool = False,
        threads: int | None = None,
    ) -> Any:
        """Codes by orthogonal matching pursuit."""
        codes = unpack(pursuit(factors, pack(patches), coding))
        return _sparse_rows(codes) if sparse else codes

    def plan_boxes(self, cleaning: Cleaning, image: Array, max_memory: float, threads: int | None) -> BoxPlan:
        """NumPy: boxes that stay in the cache. Other libraries: boxes that fill the memory."""
        return plan_boxes(cleaning, image, max_memory, threads)

    def clean_box(self, cleaning: Cleaning, image: Array, box: Box) -> BoxSums:
        """Weighted sums over cleaned patches, by whole arrays of patches and codes."""
        return clean_box(cleaning, image, box)

    def plan_groups(
        self, grid: MatchGrid, image: Array, n_members: int, max_memory: float, threads: int | None
    ) -> BoxPlan:
        """Boxes that the memory holds."""
        return grouping.plan_groups(grid, image, n_members, max_memory, threads)

    def match_box(
        self, grid: MatchGrid, image: Array, n_members: int, box: Box, wanted: Array | None
    ) -> Groups:
        """The nearest candidates of each patch of a box."""
        return grouping.match_box(grid, image, n_members, box, wanted)

    def clean_groups(self, groups: Groups, image: Array, noise: Array, shrinkage: Shrinkage) -> BoxSums:
        """Sums over cleaned groups, by whole arrays of them."""
        return grouping.clean_groups(groups, image, noise, shrinkage)

    def training_set(
        self, patches: Array, n_atoms: Sequence[int], mask: Array | None, threads: int | None
    ) -> TrainingSet:
        """Packed patches to learn from."""
        return PortableTrainingSet(patches, mask)


def _sparse_rows(codes: Any) -> Any:
    from scipy.sparse import csr_array

    return csr_array(codes.reshape(len(codes), prod(codes.shape[1:])))


ENGINE: Engine = PortableEngine()
