"""Learning with the fused engine: codes in blocks, one pass over them per evaluation, one per step.

The codes, their gradient and the direction are three arrays that a step changes in place; the trial points of
the line search are never stored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import prod
from queue import LifoQueue
from typing import NamedTuple

import numpy as np

from sedil.coding.fused import solve_l1
from sedil.engines.fused import cost
from sedil.engines.fused.blocks import WIDTH, Operator
from sedil.engines.fused.compilation import announced
from sedil.engines.fused.tile import LANES
from sedil.engines.threads import thread_count
from sedil.learning.conjugate_gradient import State, advance, first_state
from sedil.learning.engines import FIRST_GAP, FIRST_ITERATIONS
from sedil.learning.line import Arrival
from sedil.learning.line_search import LineSearch
from sedil.manifold import Point, ProductManifold, combine, negate
from sedil.objective import Terms, Weights, coherence_gradient, total_coherence

# Blocks that a thread takes at a time, at most.
_CHUNK = 64
# Parts that small sets of patches are cut into, so that all threads have work, and coefficients that are
# worth the overhead of a part.
_PARTS, _FEWEST_COEFFICIENTS = 16, 2**17
_NO_CODES = np.zeros(0, np.float32)


class FusedEvaluation(NamedTuple):
    """The cost at one point."""

    terms: Terms
    factors: tuple[np.ndarray, ...]

    @property
    def value(self) -> float:
        """The cost f."""
        return self.terms.total


class FusedLearning:
    """The cost of Eq. (16) for given patches (n, *patch_shape), and the steps of Algorithm 2 on it.

    Codes have the shape (blocks, atoms, WIDTH). The last block is filled up with zero patches, whose codes
    stay zero and cost nothing.
    """

    name = "fused"

    def __init__(
        self, patches: np.ndarray, n_atoms: Sequence[int], weights: Weights, threads: int | None = None
    ) -> None:
        self.n_samples, self.n_atoms = len(patches), tuple(n_atoms)
        self.flat = np.ascontiguousarray(patches.reshape(self.n_samples, -1), np.float32)
        self.patches = to_blocks(self.flat)
        self._chunk = _chunk_length(len(self.patches), prod(self.n_atoms))
        self.weights = weights
        self.n_evaluations = 0
        self.threads = thread_count(threads)
        self._pool = ThreadPoolExecutor(self.threads)
        self._rooms: LifoQueue[cost.Room] = LifoQueue()

    def correlations(self, factors: Sequence[np.ndarray]) -> np.ndarray:
        """Inner products of all patches with all atoms."""
        operator = self._operator(factors)
        codes = np.empty((len(self.patches), int(np.prod(operator.counts)), WIDTH), np.float32)

        def work(part: slice, room: cost.Room) -> None:
            cost.analyze_blocks(operator, self.patches[part], codes[part], room)

        self._for_each_chunk(work)
        return codes

    def sparse_codes(self, factors: Sequence[np.ndarray], penalty: float) -> np.ndarray:
        """Codes of Eq. (34), roughly."""
        length = WIDTH * max(self._chunk, 2)  # two: lanes are refilled as samples finish
        parts = [self.flat[start : start + length] for start in range(0, self.n_samples, length)]

        def work(part: np.ndarray) -> np.ndarray:
            return solve_l1(factors, part, penalty, FIRST_GAP, FIRST_ITERATIONS, threads=1).codes

        return to_blocks(np.concatenate(list(self._pool.map(work, parts))))

    def unpack(self, codes: np.ndarray) -> np.ndarray:
        """Codes of shape (n, *n_atoms)."""
        return from_blocks(codes, self.n_samples).reshape(self.n_samples, *self.n_atoms)

    def start(self, manifold: ProductManifold, point: Point) -> State:
        """State at the initial point. Paper: Algorithm 2, the block "Set"."""
        self.n_evaluations += 1
        still, codes_gradient = np.zeros_like(point.codes), np.zeros_like(point.codes)
        arrays = point.codes, still, 0.0, codes_gradient
        sums, euclidean, products = self.gradient_along(point.factors, *arrays, manifold.codes_weight)
        terms = self.terms(point.factors, *sums)
        gradient = manifold.riemannian_gradient(_factors_of(point), Point(_NO_CODES, euclidean))
        squared = manifold.codes_weight * float(products[0]) + manifold.inner(gradient, gradient)
        direction = Point(np.negative(codes_gradient, out=still), negate(gradient).factors)
        return first_state(point, Point(codes_gradient, gradient.factors), terms, squared, direction)

    def advance(self, manifold: ProductManifold, state: State, constants: LineSearch) -> State | None:
        """One iteration, or None if there is no progress; it reuses the arrays of `state`."""
        return advance(self, manifold, state, constants, line=FusedLine)

    def value_along(
        self, factors: tuple[np.ndarray, ...], codes: np.ndarray, direction: np.ndarray, size: float
    ) -> FusedEvaluation:
        """The cost with these factors at ``codes + size * direction``."""
        self.n_evaluations += 1
        operator, scale = self._operator(factors), np.float32(self.weights.sparsity_scale)

        def work(part: slice, room: cost.Room) -> tuple[float, float]:
            arrays = self.patches[part], codes[part], direction[part]
            return cost.value_along(operator, *arrays, np.float32(size), scale, room)

        parts = self._for_each_chunk(work)
        terms = self.terms(factors, sum(part[0] for part in parts), sum(part[1] for part in parts))
        return FusedEvaluation(terms, factors)

    def gradient_along(
        self,
        factors: tuple[np.ndarray, ...],
        codes: np.ndarray,
        direction: np.ndarray,
        size: float,
        gradient: np.ndarray,
        codes_weight: float,
        with_value: bool = True,
    ) -> tuple[tuple[float, float], tuple[np.ndarray, ...], np.ndarray]:
        """Move `codes` along `direction`, and replace `gradient` by the Riemannian one there.

        Returns the sums of squared residuals and of logarithms, the Euclidean gradients of the factors, and
        the products of the new codes gradient with itself, the old one and the direction. If not
        `with_value`, the logarithms, a tenth of the work, are left out.
        """
        operator = self._operator(factors)
        scale, price = np.float32(self.weights.sparsity_scale), np.float32(self.weights.sparsity_weight)
        factor = np.float32(1 / (self.n_samples * codes_weight))

        def work(part: slice, room: cost.Room) -> tuple[float, float, np.ndarray, np.ndarray]:
            products = np.zeros(3)
            room.pairs[:] = 0
            arrays = self.patches[part], codes[part], direction[part], np.float32(size), gradient[part]
            sums = cost.gradient_along(operator, *arrays, scale, price, factor, room, products, with_value)
            return *sums, products, room.pairs.reshape(-1, LANES).sum(axis=1, dtype=np.float64)

        parts = self._for_each_chunk(work)
        slopes = sum(part[3] for part in parts) / self.n_samples
        kappa = self.weights.coherence_weight
        ends = np.cumsum([a.size for a in factors])[:-1]
        slope_of = [s.reshape(a.shape) for s, a in zip(np.split(slopes, ends), factors, strict=True)]
        factor_gradients = tuple(
            (slope + (kappa * coherence_gradient(a) if kappa else 0)).astype(a.dtype)
            for slope, a in zip(slope_of, factors, strict=True)
        )
        totals = sum(part[0] for part in parts), sum(part[1] for part in parts)
        return totals, factor_gradients, np.sum([part[2] for part in parts], axis=0)

    def turn(self, gradient: np.ndarray, direction: np.ndarray, beta: float) -> None:
        """``direction = beta direction - gradient``, in place."""

        def work(part: slice, room: cost.Room) -> None:
            cost.turn(gradient[part], direction[part], np.float32(beta))

        self._for_each_chunk(work)

    def _operator(self, factors: Sequence[np.ndarray]) -> Operator:
        operator = Operator.create(factors)
        while self._rooms.qsize() < self.threads:
            self._rooms.put(cost.Room.create(operator))
        return operator

    def terms(self, factors: Sequence[np.ndarray], squares: float, logarithms: float) -> Terms:
        """The terms of the cost from the sums over all samples."""
        kappa = self.weights.coherence_weight
        return Terms(
            data=0.5 * squares / self.n_samples,
            sparsity=self.weights.sparsity_weight * logarithms / self.n_samples,
            coherence=kappa * total_coherence(factors) if kappa else 0.0,
        )

    def _for_each_chunk(self, work: Callable[[slice, cost.Room], object]) -> list:
        """Results of all chunks, in their order."""

        def with_room(start: int) -> object:
            room = self._rooms.get()
            try:
                return work(slice(start, start + self._chunk), room)
            finally:
                self._rooms.put(room)

        starts = range(0, len(self.patches), self._chunk)
        with announced("learning"):
            each = map if len(starts) == 1 else self._pool.map  # no threads for what one does
            return list(each(with_room, starts))


class FusedLine:
    """The geodesic that is searched, as `sedil.learning.line.Line`, with codes in blocks.

    `arrive` changes the codes of the point and of the gradient in place, and `turn` those of the direction.
    """

    def __init__(
        self,
        objective: FusedLearning,
        manifold: ProductManifold,
        point: Point,
        direction: Point,
        gradient: Point,
    ) -> None:
        self._objective, self._manifold = objective, manifold
        self._point, self._direction, self._gradient = point, direction, gradient

    def evaluate(self, size: float) -> FusedEvaluation:
        """The cost after `size` along the line."""
        end = self._manifold.geodesic(_factors_of(self._point), _factors_of(self._direction), size)
        return self._objective.value_along(end.factors, self._point.codes, self._direction.codes, size)

    def arrive(self, size: float, evaluation: FusedEvaluation) -> Arrival:
        """The end of a step whose cost has been evaluated."""
        manifold, factors = self._manifold, evaluation.factors
        arrays = self._point.codes, self._direction.codes, size, self._gradient.codes
        _, euclidean, products = self._objective.gradient_along(
            factors, *arrays, manifold.codes_weight, with_value=False
        )
        start = _factors_of(self._point), _factors_of(self._direction), size
        gradient = manifold.riemannian_gradient(Point(_NO_CODES, factors), Point(_NO_CODES, euclidean))
        direction = manifold.transport(_factors_of(self._direction), *start)
        old_gradient = manifold.transport(_factors_of(self._gradient), *start)
        squared, with_old, along = manifold.codes_weight * products
        return Arrival(
            Point(self._point.codes, factors),
            Point(self._gradient.codes, gradient.factors),
            Point(self._direction.codes, direction.factors),
            new_squared=float(squared) + manifold.inner(gradient, gradient),
            new_dot_old=float(with_old) + manifold.inner(gradient, old_gradient),
            direction_dot_new=float(along) + manifold.inner(direction, gradient),
        )

    def turn(self, arrival: Arrival, beta: float) -> Point:
        """The next direction. Paper: Eq. (31)."""
        self._objective.turn(arrival.gradient.codes, arrival.carried_direction.codes, beta)
        small = combine(negate(_factors_of(arrival.gradient)), beta, _factors_of(arrival.carried_direction))
        return Point(arrival.carried_direction.codes, small.factors)


def _chunk_length(n_blocks: int, n_atoms: int) -> int:
    """Blocks that a thread takes at a time; by sizes alone, so that sums do not depend on the threads."""
    fewest = -(-_FEWEST_COEFFICIENTS // (n_atoms * WIDTH))
    return min(_CHUNK, max(fewest, -(-n_blocks // _PARTS)))


def _factors_of(point: Point) -> Point:
    """The point without its codes, which the kernels take care of."""
    return Point(_NO_CODES, point.factors)


def to_blocks(flat: np.ndarray) -> np.ndarray:
    """``(n, entries) -> (blocks, entries, WIDTH)``, filled up with zeros."""
    n_blocks = -(-len(flat) // WIDTH)
    filled = np.zeros((n_blocks * WIDTH, flat.shape[1]), np.float32)
    filled[: len(flat)] = flat
    return np.ascontiguousarray(filled.reshape(n_blocks, WIDTH, -1).transpose(0, 2, 1))


def from_blocks(blocks: np.ndarray, n_samples: int) -> np.ndarray:
    """Inverse of `to_blocks`."""
    return blocks.transpose(0, 2, 1).reshape(-1, blocks.shape[1])[:n_samples]
