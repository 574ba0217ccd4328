"""Missing pixels from their surroundings alone: the smoothest surface through the known ones."""

from __future__ import annotations

from collections.abc import Sequence

from array_api_compat import array_namespace
from array_api_compat import device as device_of

from sedil.arrays import AnyArray, Array

_MAX_ITERATIONS = 30
_RELATIVE_RESIDUAL = 0.01  # less changes the PSNR on photographs by less than 0.01 dB


def fill_smoothly(image: AnyArray, missing: Array) -> AnyArray:
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
    array
        The known pixels are those of `image`.
    """
    xp = array_namespace(image)
    if not bool(xp.any(missing)):
        return image
    seen = xp.astype(~missing, image.dtype)
    blocks, known = _halved(image * seen), _halved(seen)
    coarse = fill_smoothly(blocks / xp.clip(known, min=1), known == 0)
    return _least_bending(xp.where(missing, _doubled(coarse, image.shape), image), missing)


def _halved(values: AnyArray) -> AnyArray:
    """Sums over blocks of two along each axis."""
    xp = array_namespace(values)
    for axis, side in enumerate(values.shape):
        if side % 2:
            border = [1 if other == axis else length for other, length in enumerate(values.shape)]
            zeros = xp.zeros(tuple(border), dtype=values.dtype, device=device_of(values))
            values = xp.concat([values, zeros], axis=axis)
    pairs = xp.reshape(values, tuple(part for side in values.shape for part in (side // 2, 2)))
    return xp.sum(pairs, axis=tuple(range(1, pairs.ndim, 2)))


def _doubled(values: AnyArray, shape: Sequence[int]) -> AnyArray:
    """Each pixel as a block of two along each axis, cut to `shape`."""
    xp = array_namespace(values)
    for axis in range(values.ndim):
        values = xp.repeat(values, 2, axis=axis)
    return values[tuple(slice(side) for side in shape)]


def _least_bending(image: AnyArray, missing: Array) -> AnyArray:
    """Conjugate gradients for the missing pixels, from those of `image` and in place."""
    xp = array_namespace(image)
    free = xp.astype(missing, image.dtype)
    residual = -free * _laplacian(_laplacian(image))
    direction, squared = xp.asarray(residual, copy=True), _dot(residual, residual)
    goal = _RELATIVE_RESIDUAL**2 * squared
    for _ in range(_MAX_ITERATIONS):
        if bool(squared <= goal):
            break
        bent = _laplacian(direction)
        step = squared / _dot(bent, bent)
        image += step * direction
        residual -= step * (free * _laplacian(bent))
        new_squared = _dot(residual, residual)
        direction *= new_squared / squared
        direction += residual
        squared = new_squared
    return image


def _dot(left: AnyArray, right: Array) -> AnyArray:
    xp = array_namespace(left)
    return xp.vecdot(xp.reshape(left, (-1,)), xp.reshape(right, (-1,)))


def _laplacian(values: AnyArray) -> AnyArray:
    """Sum of second differences, with reflection at the border; it is its own adjoint."""
    xp = array_namespace(values)
    result = xp.zeros_like(values)
    for axis in range(values.ndim):
        along, into = xp.moveaxis(values, axis, 0), xp.moveaxis(result, axis, 0)
        difference = along[1:, ...] - along[:-1, ...]
        into[:-1, ...] += difference
        into[1:, ...] -= difference
    return result
