"""Missing pixels from their surroundings alone: the smoothest surface through the known ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_MAX_ITERATIONS = 30
_RELATIVE_RESIDUAL = 0.01  # less changes the PSNR on photographs by less than 0.01 dB


def fill_smoothly(image: np.ndarray, missing: np.ndarray) -> np.ndarray:
    r"""Fill the missing pixels so that the image bends as little as possible.

    It minimises :math:`\|\Delta x\|^2` over the missing pixels, the biharmonic equation, by conjugate
    gradients. They start from the solution at half the size, where a pixel is the mean of the known ones of
    its block, so that wide holes are filled from the outside in and take no more iterations than narrow ones.

    Parameters
    ----------
    image : float array
        Of any number of axes. What it holds at missing pixels is ignored, as long as it is finite.
    missing : boolean array of the same shape, not all True

    Returns
    -------
    ndarray
        The known pixels are those of `image`.
    """
    if not missing.any():
        return image
    blocks, known = _halved(image * ~missing), _halved((~missing).astype(image.dtype))
    coarse = fill_smoothly(blocks / np.maximum(known, 1), known == 0)
    return _least_bending(np.where(missing, _doubled(coarse, image.shape), image), missing)


def _halved(values: np.ndarray) -> np.ndarray:
    """Sums over blocks of two along each axis."""
    even = np.pad(values, [(0, side % 2) for side in values.shape])
    pairs = even.reshape([part for side in even.shape for part in (side // 2, 2)])
    return pairs.sum(axis=tuple(range(1, pairs.ndim, 2)))


def _doubled(values: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """Each pixel as a block of two along each axis, cut to `shape`."""
    for axis in range(values.ndim):
        values = values.repeat(2, axis=axis)
    return values[tuple(slice(side) for side in shape)]


def _least_bending(image: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Conjugate gradients for the missing pixels, from those of `image` and in place."""
    free = missing.astype(image.dtype)
    residual = -free * _laplacian(_laplacian(image))
    direction, squared = residual.copy(), np.vdot(residual, residual)
    goal = _RELATIVE_RESIDUAL**2 * squared
    for _ in range(_MAX_ITERATIONS):
        if squared <= goal:
            break
        bent = _laplacian(direction)
        step = squared / np.vdot(bent, bent)
        image += step * direction
        residual -= step * (free * _laplacian(bent))
        new_squared = np.vdot(residual, residual)
        direction *= new_squared / squared
        direction += residual
        squared = new_squared
    return image


def _laplacian(values: np.ndarray) -> np.ndarray:
    """Sum of second differences, with reflection at the border; it is its own adjoint."""
    result = np.zeros_like(values)
    for axis in range(values.ndim):
        along, into = np.moveaxis(values, axis, 0), np.moveaxis(result, axis, 0)
        difference = along[1:] - along[:-1]
        into[:-1] += difference
        into[1:] -= difference
    return result
