"""A second pass over a denoised volume: a Wiener filter in small blocks, steered by the first result.

In three axes a small block has enough neighbours to average over, and the first result, from large blocks,
tells which of its frequencies are signal. In two axes it has too few, and nothing is gained.
"""

from __future__ import annotations

from collections.abc import Sequence

from array_api_compat import array_namespace

from sedil.arrays import AnyArray, Array
from sedil.engines import EngineName
from sedil.imaging.cosine_blocks import sums_over_blocks
from sedil.patch_grid import Part, PatchGrid

SIDE = 4  # of a block; 3 and 6 are up to 0.2 dB worse on the training part of the head (docs/volumes.md)
_CAUTION = 1.25  # the estimate still holds some noise, which is not signal


def second_pass(
    noisy: AnyArray,
    estimate: AnyArray,
    sigma: float,
    threads: int | None = None,
    part: Part | None = None,
    engine: EngineName | None = None,
) -> AnyArray:
    """The noisy volume, each frequency of each block weighed by its share of signal in the estimate.

    Parameters
    ----------
    noisy, estimate : arrays of one shape and type
        The volume, and what a first pass made of it.
    sigma : float
        Standard deviation of the noise.
    threads : int, optional
    part : Part, optional
        What is held of the volume, if that is not all.
    engine : str, optional

    Returns
    -------
    array
        A better estimate.
    """
    xp = array_namespace(noisy)
    variance = _CAUTION * sigma**2

    def shares(frequencies: Array) -> AnyArray:
        signal = xp.square(frequencies)
        return signal / (signal + variance)

    grid = second_grid(noisy.shape if part is None else part.image_shape).within(part)
    total, weight = sums_over_blocks(noisy, estimate, grid, shares, threads, engine=engine)
    return total / weight


def second_grid(shape: Sequence[int]) -> PatchGrid:
    """Where the blocks lie in a volume of this shape."""
    return PatchGrid(shape, [min(SIDE, side) for side in shape])
