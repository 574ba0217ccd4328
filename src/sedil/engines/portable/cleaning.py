"""Cleaning the patches of a box by whole arrays of patches and codes."""

from __future__ import annotations

from math import prod

from sedil.arrays import Array, is_on_processor, namespace, zeros_of
from sedil.engines.contract import BoxPlan, BoxSums, Cleaning, PursuitCoding
from sedil.engines.portable import products
from sedil.engines.portable.l1 import LassoProblem, fista, refit
from sedil.engines.portable.omp import pursuit
from sedil.engines.threads import threads_beside
from sedil.patch_grid import Box

_ARRAYS_PER_CODE = 10  # arrays as large as the codes that a solver holds at a time
_PATCHES_IN_CACHE = 512  # more of them leave the cache of a processor and run up to twice slower


def plan_boxes(cleaning: Cleaning, image: Array, max_memory: float, threads: int | None) -> BoxPlan:
    """On a processor small boxes, one a thread; on other devices boxes that fill the memory."""
    n_threads = threads_beside(image, threads)
    n_atoms = prod(factor.shape[1] for factor in cleaning.factors)
    values_per_patch = _ARRAYS_PER_CODE * n_atoms + 4 * prod(cleaning.grid.patch_shape)
    bytes_per_patch = namespace(image).finfo(image.dtype).bits // 8 * values_per_patch
    affordable = int(max_memory / n_threads / bytes_per_patch)
    return BoxPlan(min(affordable, _PATCHES_IN_CACHE) if is_on_processor(image) else affordable, n_threads)


def clean_box(cleaning: Cleaning, image: Array, box: Box) -> BoxSums:
    """Weighted sums over the cleaned patches of a box."""
    xp = namespace(image)
    grid = cleaning.grid
    extent, local = grid.extent(box), grid.shifted(box)
    pixels = image[extent]
    patches = grid.extract(pixels, local)
    n = patches.shape[0]
    flat = xp.reshape(patches, (n, -1)).T  # packed: one patch a column
    means = xp.mean(flat, axis=0)
    shape = tuple(factor.shape[0] for factor in cleaning.factors)
    codes = _codes(cleaning, xp.reshape(flat - means, (*shape, n)))
    cleaned = xp.reshape(products.synthesize(cleaning.factors, codes), (-1, n)) + means
    used = xp.sum(xp.astype(xp.reshape(codes, (-1, n)) != 0, xp.int64), axis=0)
    weights = 1 / xp.astype(1 + used, image.dtype)
    if cleaning.wanted is not None:
        weights = weights * xp.astype(grid.touching(cleaning.wanted, box), image.dtype)
    weights = weights[:, None]
    total, weight = zeros_of(pixels), zeros_of(pixels)
    grid.add(total, weights * cleaned.T, local)
    grid.add(weight, xp.broadcast_to(weights, (n, prod(grid.patch_shape))), local)
    return BoxSums(extent, total, weight, n)


def _codes(cleaning: Cleaning, patches: Array) -> Array:
    """Packed codes of packed patches."""
    coding = cleaning.coding
    if isinstance(coding, PursuitCoding):
        return pursuit(cleaning.factors, patches, coding)
    problem = LassoProblem(cleaning.factors, patches, coding.penalty)
    codes = fista(problem, coding.effort).codes
    return refit(problem, codes, coding.refits) if coding.refits else codes
