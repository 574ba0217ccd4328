"""Learning with the fused engine: codes in blocks, one pass over them per evaluation, one per step.

The codes, their gradient and the direction are three arrays that a step changes in place; the trial points of
the line search are never stored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import prod
from typing import NamedTuple

import numpy as np

from sedil.coding.fused import solve_l1
from sedil.engines.fused.kernels import cost
from sedil.engines.fused.kernels.blocks import Operator
from sedil.engines.fused.kernels.compilation import announced
from sedil.engines.fused.kernels.memory import LANES, WIDTH
from sedil.engines.threads import thread_count
from sedil.learning.conjugate_gradient import State, advance, first_state
from sedil.learning.engines import FIRST_GAP, FIRST_ITERATIONS
from sedil.learning.line import Arrival
from sedil.learning.line_search import LineSearch
from sedil.manifold import Point, ProductManifold, circles
from sedil.objective import Terms, Weights, barrier, coherence_gradient, off_diagonal_gram

# Blocks that a thread takes at a time, at most.
_CHUNK = 64
# Parts that small sets of patches are cut into, so that all threads have work, and coefficients that are
# worth the overhead of a part.
_PARTS, _FEWEST_COEFFICIENTS = 16, 2**17


class Place(NamedTuple):
    """Factors, and what both the cost and the gradient there need of them.

    Attributes
    ----------
    factors : tuple of arrays
    operator : Operator
    grams : list of arrays, see `off_diagonal_gram`; empty if coherence does not count
    """

    factors: tuple[np.ndarray, ...]
    operator: Operator
    grams: list[np.ndarray]


class FusedEvaluation(NamedTuple):
    """The cost at one point."""

    terms: Terms
    place: Place

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
        sizes = zip(patches.shape[1:], self.n_atoms, strict=True)
        blank = Operator.create([np.zeros(size) for size in sizes])
        self._rooms = [cost.CostWorkspace.create(blank) for _ in range(self.threads)]

    def place(self, factors: Sequence[np.ndarray]) -> Place:
        """These factors with what is derived from them."""
        grams = [off_diagonal_gram(factor) for factor in factors] if self.weights.coherence_weight else []
        return Place(tuple(factors), Operator.create(factors), grams)

    def correlations(self, factors: Sequence[np.ndarray]) -> np.ndarray:
        """Inner products of all patches with all atoms."""
        operator = Operator.create(factors)
        codes = np.empty((len(self.patches), int(np.prod(operator.counts)), WIDTH), np.float32)

        def work(part: slice, room: cost.CostWorkspace) -> None:
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
        place = self.place(point.factors)
        sums, euclidean, products = self.gradient_along(place, *arrays, manifold.codes_weight)
        slopes = manifold.gradient_of_factors(point.factors, euclidean)
        squared = manifold.codes_weight * float(products[0]) + manifold.inner_of_factors(slopes, slopes)
        direction = Point(np.negative(codes_gradient, out=still), tuple(-slope for slope in slopes))
        terms = self.terms(place, *sums)
        return first_state(point, Point(codes_gradient, slopes), terms, squared, direction)

    def advance(self, manifold: ProductManifold, state: State, constants: LineSearch) -> State | None:
        """One iteration, or None if there is no progress; it reuses the arrays of `state`."""
        return advance(self, manifold, state, constants, line=FusedLine)

    def value_along(
        self, place: Place, codes: np.ndarray, direction: np.ndarray, size: float
    ) -> FusedEvaluation:
        """The cost with these factors at ``codes + size * direction``."""
        self.n_evaluations += 1
        scale = np.float32(self.weights.sparsity_scale)

        def work(part: slice, room: cost.CostWorkspace) -> tuple[float, float]:
            arrays = self.patches[part], codes[part], direction[part]
            return cost.value_along(place.operator, *arrays, np.float32(size), scale, room)

        parts = self._for_each_chunk(work)
        terms = self.terms(place, sum(part[0] for part in parts), sum(part[1] for part in parts))
        return FusedEvaluation(terms, place)

    def gradient_along(
        self,
        place: Place,
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
        scale, price = np.float32(self.weights.sparsity_scale), np.float32(self.weights.sparsity_weight)
        weights = cost.CodeWeights(scale, price, np.float32(1 / (self.n_samples * codes_weight)))

        def work(part: slice, room: cost.CostWorkspace) -> tuple[float, float, np.ndarray, np.ndarray]:
            room.pairs[:] = 0
            room.products[:] = 0
            arrays = self.patches[part], codes[part], direction[part], np.float32(size), gradient[part]
            sums = cost.gradient_along(place.operator, *arrays, weights, room, with_value)
            return *sums, room.products.copy(), room.pairs.reshape(-1, LANES).sum(axis=1, dtype=np.float64)

        parts = self._for_each_chunk(work)
        slopes = self._factor_gradients(place, sum(part[3] for part in parts) / self.n_samples)
        totals = sum(part[0] for part in parts), sum(part[1] for part in parts)
        return totals, slopes, sum(part[2] for part in parts)

    def _factor_gradients(self, place: Place, slopes: np.ndarray) -> tuple[np.ndarray, ...]:
        """Euclidean gradients of the factors, from those of the data term one after the other."""
        found, start = [], 0
        for k, factor in enumerate(place.factors):
            slope = slopes[start : start + factor.size].reshape(factor.shape)
            start += factor.size
            if place.grams:
                slope = slope + self.weights.coherence_weight * coherence_gradient(factor, place.grams[k])
            found.append(slope.astype(factor.dtype))
        return tuple(found)

    def turn(self, gradient: np.ndarray, direction: np.ndarray, beta: float) -> None:
        """``direction = beta direction - gradient``, in place."""

        def work(part: slice, room: cost.CostWorkspace) -> None:
            cost.turn(gradient[part], direction[part], np.float32(beta))

        self._for_each_chunk(work)

    def terms(self, place: Place, squares: float, logarithms: float) -> Terms:
        """The terms of the cost from the sums over all samples."""
        return Terms(
            data=0.5 * squares / self.n_samples,
            sparsity=self.weights.sparsity_weight * logarithms / self.n_samples,
            coherence=self.weights.coherence_weight * sum(map(barrier, place.grams)),
        )

    def _for_each_chunk(self, work: Callable[[slice, cost.CostWorkspace], object]) -> list:
        """Results of all chunks, in their order."""

        def with_room(start: int) -> object:
            room = self._rooms.pop()  # there is one per thread
            try:
                return work(slice(start, start + self._chunk), room)
            finally:
                self._rooms.append(room)

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
        self._circles = circles(point.factors, direction.factors)

    def evaluate(self, size: float) -> FusedEvaluation:
        """The cost after `size` along the line."""
        place = self._objective.place([each.at(size) for each in self._circles])
        return self._objective.value_along(place, self._point.codes, self._direction.codes, size)

    def arrive(self, size: float, evaluation: FusedEvaluation) -> Arrival:
        """The end of a step whose cost has been evaluated."""
        manifold, place = self._manifold, evaluation.place
        arrays = self._point.codes, self._direction.codes, size, self._gradient.codes
        _, euclidean, products = self._objective.gradient_along(
            place, *arrays, manifold.codes_weight, with_value=False
        )
        gradient = manifold.gradient_of_factors(place.factors, euclidean)
        tangents = zip(self._circles, self._direction.factors, self._gradient.factors, strict=True)
        carried = [each.carry(size, *arrays) for each, *arrays in tangents]
        direction, old_gradient = zip(*carried, strict=True)
        squared, with_old, along = manifold.codes_weight * products
        return Arrival(
            Point(self._point.codes, place.factors),
            Point(self._gradient.codes, gradient),
            Point(self._direction.codes, direction),
            new_squared=float(squared) + manifold.inner_of_factors(gradient, gradient),
            new_dot_old=float(with_old) + manifold.inner_of_factors(gradient, old_gradient),
            direction_dot_new=float(along) + manifold.inner_of_factors(direction, gradient),
        )

    def turn(self, arrival: Arrival, beta: float) -> Point:
        """The next direction. Paper: Eq. (31)."""
        gradient, direction = arrival.gradient, arrival.carried_direction
        self._objective.turn(gradient.codes, direction.codes, beta)
        pairs = zip(direction.factors, gradient.factors, strict=True)
        return Point(direction.codes, tuple(beta * old - new for old, new in pairs))


def _chunk_length(n_blocks: int, n_atoms: int) -> int:
    """Blocks that a thread takes at a time; by sizes alone, so that sums do not depend on the threads."""
    fewest = -(-_FEWEST_COEFFICIENTS // (n_atoms * WIDTH))
    return min(_CHUNK, max(fewest, -(-n_blocks // _PARTS)))


def to_blocks(flat: np.ndarray) -> np.ndarray:
    """``(n, entries) -> (blocks, entries, WIDTH)``, filled up with zeros."""
    n_blocks = -(-len(flat) // WIDTH)
    filled = np.zeros((n_blocks * WIDTH, flat.shape[1]), np.float32)
    filled[: len(flat)] = flat
    return np.ascontiguousarray(filled.reshape(n_blocks, WIDTH, -1).transpose(0, 2, 1))


def from_blocks(blocks: np.ndarray, n_samples: int) -> np.ndarray:
    """Inverse of `to_blocks`."""
    return blocks.transpose(0, 2, 1).reshape(-1, blocks.shape[1])[:n_samples]
