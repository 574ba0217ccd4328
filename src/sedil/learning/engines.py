"""What a run of Algorithm 2 asks of an engine: first codes, first state, steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from array_api_compat import array_namespace

from sedil.arrays import Array, pack, unpack
from sedil.engines.contract import Effort
from sedil.engines.portable import products
from sedil.engines.portable.fista import fista
from sedil.engines.portable.lasso import LassoProblem
from sedil.learning.conjugate_gradient import State, advance, start
from sedil.learning.line_search import LineSearch
from sedil.manifold import Point, ProductManifold
from sedil.objective import Objective, Weights

FIRST_GAP, FIRST_ITERATIONS = 1e-2, 50  # codes to start from need not be exact


class LearningEngine(Protocol):
    """One set of patches, ready for learning.

    The shape of codes is the engine's own; `unpack` gives them as (n, *n_atoms).
    """

    name: str
    weights: Weights
    n_evaluations: int

    def correlations(self, factors: Sequence[Array]) -> Array:
        """Codes A^T S B."""

    def sparse_codes(self, factors: Sequence[Array], penalty: float) -> Array:
        """Codes of Eq. (34), roughly."""

    def unpack(self, codes: Array) -> Array:
        """Codes of shape (n, *n_atoms)."""

    def start(self, manifold: ProductManifold, point: Point) -> State:
        """State at the initial point."""

    def advance(self, manifold: ProductManifold, state: State, constants: LineSearch) -> State | None:
        """One iteration, or None if there is no progress; `state` must not be used afterwards."""


def learning_engine(
    name: str,
    patches: Array,
    n_atoms: Sequence[int],
    weights: Weights,
    threads: int | None = None,
    mask: Array | None = None,
) -> LearningEngine:
    """The engine of that name for these patches; missing entries, True in `mask`, must hold zero."""
    if name == "portable":
        return PortableLearning(patches, weights, mask)
    if mask is not None:
        raise ValueError('engine="fused" cannot learn from missing entries: leave engine out.')
    from sedil.learning.fused import FusedLearning

    return FusedLearning(patches, n_atoms, weights, threads)


def descend(engine: LearningEngine, manifold: ProductManifold, point: Point, iterations: int) -> State:
    """So many iterations of Algorithm 2 from `point`, fewer if there is no progress any more."""
    state = engine.start(manifold, point)
    for _ in range(iterations):
        following = engine.advance(manifold, state, LineSearch())
        if following is None:
            break
        state = following
    return state


class PortableLearning:
    """On arrays of any library, through `sedil.objective`.

    `mask` is True where an entry of the patches is missing; there they must hold zero.
    """

    name = "portable"

    def __init__(self, patches: Array, weights: Weights, mask: Array | None = None) -> None:
        known = None if mask is None else pack(array_namespace(patches).astype(~mask, patches.dtype))
        self.objective = Objective(pack(patches), weights, known)

    @property
    def weights(self) -> Weights:
        """Parameters of the cost."""
        return self.objective.weights

    @weights.setter
    def weights(self, weights: Weights) -> None:
        self.objective.weights = weights

    @property
    def n_evaluations(self) -> int:
        """How often the cost has been evaluated."""
        return self.objective.n_evaluations

    @n_evaluations.setter
    def n_evaluations(self, count: int) -> None:
        self.objective.n_evaluations = count

    def correlations(self, factors: Sequence[Array]) -> Array:
        """Codes A^T S B."""
        return products.analyze(factors, self.objective.patches)

    def sparse_codes(self, factors: Sequence[Array], penalty: float) -> Array:
        """Codes of Eq. (34), roughly."""
        problem = LassoProblem(factors, self.objective.patches, penalty, self.objective.known)
        return fista(problem, Effort(FIRST_GAP, FIRST_ITERATIONS)).codes

    def unpack(self, codes: Array) -> Array:
        """Codes of shape (n, *n_atoms)."""
        return unpack(codes)

    def start(self, manifold: ProductManifold, point: Point) -> State:
        """State at the initial point."""
        return start(self.objective, manifold, point)

    def advance(self, manifold: ProductManifold, state: State, constants: LineSearch) -> State | None:
        """One iteration, or None if there is no progress."""
        return advance(self.objective, manifold, state, constants)
