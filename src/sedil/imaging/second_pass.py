"""A second pass over a denoised volume: a Wiener filter in small blocks, steered by the first result.

In three axes a small block has enough neighbours to average over, and the first result, from large blocks,
tells which of its frequencies are signal. In two axes it has too few, and nothing is gained.
"""

from __future__ import annotations

from functools import partial, reduce

import numpy as np

from sedil.engines.threads import parallel_map, thread_count
from sedil.imaging.sums import Sums
from sedil.patch_grid import Box, PatchGrid

SIDE = 4  # of a block; 3 and 6 are up to 0.2 dB worse on the training part of the head (docs/volumes.md)
_CAUTION = 1.25  # the estimate still holds some noise, which is not signal
_BLOCKS_AT_A_TIME = 16_384  # their transforms, some 20 MB a thread, stay near the processor


def second_pass(
    noisy: np.ndarray, estimate: np.ndarray, sigma: float, threads: int | None = None
) -> np.ndarray:
    """The noisy volume, each frequency of each block weighed by its share of signal in the estimate.

    Parameters
    ----------
    noisy, estimate : float32 arrays of one shape
        The volume, and what a first pass made of it.
    sigma : float
        Standard deviation of the noise.
    threads : int, optional

    Returns
    -------
    ndarray
        A better estimate.
    """
    grid = PatchGrid(noisy.shape, [min(SIDE, side) for side in noisy.shape])
    total, weight = np.zeros_like(noisy), np.zeros_like(noisy)
    work = partial(
        _filtered, grid, _transform(grid.patch_shape), noisy, estimate, np.float32(_CAUTION * sigma**2)
    )
    for sums in parallel_map(work, grid.boxes(_BLOCKS_AT_A_TIME), thread_count(threads)):
        total[sums.place] += sums.total
        weight[sums.place] += sums.weight
    return total / weight


def _filtered(
    grid: PatchGrid,
    transform: np.ndarray,
    noisy: np.ndarray,
    estimate: np.ndarray,
    variance: np.float32,
    box: Box,
) -> Sums:
    """Filtered blocks of a box, those whose noise was lowered most counting most."""
    place, local = grid.extent(box), grid.shifted(box)
    blocks = grid.extract(noisy[place], local).reshape(-1, len(transform))
    signal = np.square(grid.extract(estimate[place], local).reshape(blocks.shape) @ transform)
    share = signal / (signal + variance)
    cleaned = (share * (blocks @ transform)) @ transform.T
    weights = 1 / np.maximum(np.square(share).sum(axis=1, keepdims=True), np.float32(1e-3))
    total, weight = np.zeros_like(noisy[place]), np.zeros_like(noisy[place])
    grid.add(total, (weights * cleaned).reshape(-1, *grid.patch_shape), local)
    grid.add(weight, np.broadcast_to(weights, cleaned.shape).reshape(-1, *grid.patch_shape), local)
    return Sums(place, total, weight, len(blocks))


def _transform(shape: tuple[int, ...]) -> np.ndarray:
    """Orthonormal cosine transform of blocks as one matrix: for so few entries one product is fastest."""
    from scipy.fft import dct

    return reduce(np.kron, (dct(np.eye(length), norm="ortho") for length in shape)).astype(np.float32)
