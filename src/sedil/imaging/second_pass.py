"""A second pass over a denoised volume: a Wiener filter in small blocks, steered by the first result.

In three axes a small block has enough neighbours to average over, and the first result, from large blocks,
tells which of its frequencies are signal. In two axes it has too few, and nothing is gained.
"""

from __future__ import annotations

from functools import partial, reduce

import numpy as np
from array_api_compat import array_namespace
from array_api_compat import device as device_of

from sedil.arrays import AnyArray, Array, zeros_of
from sedil.engines.contract import BoxSums
from sedil.engines.threads import parallel_map, threads_beside
from sedil.patch_grid import Box, PatchGrid

SIDE = 4  # of a block; 3 and 6 are up to 0.2 dB worse on the training part of the head (docs/volumes.md)
_CAUTION = 1.25  # the estimate still holds some noise, which is not signal
_BLOCKS_AT_A_TIME = 16_384  # their transforms, some 20 MB a thread, stay near the processor


def second_pass(noisy: AnyArray, estimate: Array, sigma: float, threads: int | None = None) -> AnyArray:
    """The noisy volume, each frequency of each block weighed by its share of signal in the estimate.

    Parameters
    ----------
    noisy, estimate : arrays of one shape and type
        The volume, and what a first pass made of it.
    sigma : float
        Standard deviation of the noise.
    threads : int, optional

    Returns
    -------
    array
        A better estimate.
    """
    xp = array_namespace(noisy)
    grid = PatchGrid(noisy.shape, [min(SIDE, side) for side in noisy.shape])
    total, weight = xp.zeros_like(noisy), xp.zeros_like(noisy)
    transform = xp.asarray(_transform(grid.patch_shape), dtype=noisy.dtype, device=device_of(noisy))
    work = partial(_filtered, grid, transform, noisy, estimate, _CAUTION * sigma**2)
    n_threads = threads_beside(noisy, threads)
    for sums in parallel_map(work, grid.boxes(_BLOCKS_AT_A_TIME), n_threads):
        total[sums.extent] += sums.total
        weight[sums.extent] += sums.weight
    return total / weight


def _filtered(
    grid: PatchGrid, transform: Array, noisy: Array, estimate: Array, variance: float, box: Box
) -> BoxSums:
    """Filtered blocks of a box, those whose noise was lowered most counting most."""
    xp = array_namespace(noisy)
    extent, local = grid.extent(box), grid.shifted(box)
    pixels = noisy[extent]
    blocks = xp.reshape(grid.extract(pixels, local), (-1, transform.shape[0]))
    signal = xp.square(xp.reshape(grid.extract(estimate[extent], local), blocks.shape) @ transform)
    share = signal / (signal + variance)
    cleaned = (share * (blocks @ transform)) @ transform.T
    weights = 1 / xp.clip(xp.sum(xp.square(share), axis=1, keepdims=True), min=1e-3)
    total, weight = zeros_of(pixels), zeros_of(pixels)
    grid.add(total, weights * cleaned, local)
    grid.add(weight, xp.broadcast_to(weights, cleaned.shape), local)
    return BoxSums(extent, total, weight, blocks.shape[0])


def _transform(shape: tuple[int, ...]) -> np.ndarray:
    """Orthonormal cosine transform of blocks as one matrix: for so few entries one product is fastest."""
    from scipy.fft import dct

    return reduce(np.kron, (dct(np.eye(length), norm="ortho") for length in shape))
