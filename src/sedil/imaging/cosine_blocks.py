"""Overlapping blocks of an image, each frequency of each weighed by the share of it that is signal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from array_api_compat import device as device_of

from sedil.arrays import AnyArray, Array, zeros_of
from sedil.engines import EngineName, choose_engine
from sedil.engines.contract import BoxSums, Engine
from sedil.engines.threads import parallel_map, threads_beside
from sedil.patch_grid import Box, PatchGrid

# From frequencies (blocks, entries), the mean first, to the shares of them that are signal.
Shares = Callable[[Any], Any]

# Their transforms, some 20 MB a thread, stay near the processor.
_BLOCKS_AT_A_TIME, _ENTRIES_AT_A_TIME = 16_384, 2**20


def sums_over_blocks(
    noisy: AnyArray,
    guide: AnyArray,
    grid: PatchGrid,
    shares: Shares,
    threads: int | None,
    count: Callable[[int], None] = lambda n_blocks: None,
    engine: EngineName | None = None,
) -> tuple[AnyArray, AnyArray]:
    """Weighted blocks, and weights: those whose noise was lowered most count most.

    Parameters
    ----------
    noisy, guide : arrays of one shape and type
        The image, and the one whose frequencies tell what is signal.
    grid : PatchGrid
        Where the blocks lie.
    shares : function
        From the frequencies of blocks of the guide to the shares of signal.
    threads : int, optional
    count : function, optional
        Is told how many more blocks are done.
    engine : str, optional

    Returns
    -------
    total, weight : arrays like `noisy`
    """
    xp = array_namespace(noisy)
    total, weight = xp.zeros_like(noisy), xp.zeros_like(noisy)
    factors = [
        xp.asarray(factor, dtype=noisy.dtype, device=device_of(noisy))
        for factor in cosine_factors(grid.patch_shape)
    ]
    by = choose_engine(engine, noisy, grid.patch_shape)
    work = partial(_filtered, grid, by, factors, noisy, guide, shares)
    n_threads = threads_beside(noisy, threads)
    at_a_time = min(_BLOCKS_AT_A_TIME, _ENTRIES_AT_A_TIME // prod(grid.patch_shape))
    for sums in parallel_map(work, grid.boxes(at_a_time), n_threads):
        total[sums.extent] += sums.total
        weight[sums.extent] += sums.weight
        count(sums.n_patches)
    return total, weight


def _filtered(
    grid: PatchGrid,
    engine: Engine,
    factors: Sequence[Array],
    noisy: Array,
    guide: Array,
    shares: Shares,
    box: Box,
) -> BoxSums:
    """Filtered blocks of a box."""
    xp = array_namespace(noisy)
    extent, local = grid.extent(box), grid.shifted(box)
    pixels = noisy[extent]
    blocks = xp.reshape(grid.extract(pixels, local), (-1, prod(grid.patch_shape)))
    steering = xp.reshape(grid.extract(guide[extent], local), blocks.shape)
    share = shares(engine.analyze_rows(factors, steering))
    frequencies = share * engine.analyze_rows(factors, blocks)
    cleaned = engine.analyze_rows([factor.T for factor in factors], frequencies)  # they are orthogonal
    weights = 1 / xp.clip(xp.sum(xp.square(share), axis=1, keepdims=True), min=1e-3)
    total, weight = zeros_of(pixels), zeros_of(pixels)
    grid.add(total, weights * cleaned, local)
    grid.add(weight, xp.broadcast_to(weights, cleaned.shape), local)
    return BoxSums(extent, total, weight, blocks.shape[0])


def cosine_factors(shape: tuple[int, ...]) -> list[np.ndarray]:
    """Orthonormal cosine transforms along each axis of a block."""
    from scipy.fft import dct

    return [dct(np.eye(length), norm="ortho") for length in shape]
