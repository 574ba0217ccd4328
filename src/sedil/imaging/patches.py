"""Patches of images for training: drawn at random positions, made comparable."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from array_api_compat import array_namespace

from sedil import checks
from sedil.arrays import AnyArray, are_workable, largest_sizes, to_numpy


def sample_patches(
    images: Sequence[np.ndarray],
    patch_shape: int | Sequence[int],
    n_patches: int,
    random_state: int | np.random.Generator | None = None,
) -> np.ndarray:
    """Draw patches at random positions, every position of every image equally likely.

    Parameters
    ----------
    images : sequence of arrays with as many axes as `patch_shape`
        Images, volumes or signals, all finite; their sizes may differ.
    patch_shape : lengths of the patch axes
    n_patches : int
    random_state : int, numpy.random.Generator or None

    Returns
    -------
    ndarray of shape (n_patches, *patch_shape)
        A copy, in the common floating type of the images (float32 at least).

    Examples
    --------
    >>> import numpy as np, sedil
    >>> images = [np.zeros((32, 32)), np.ones((20, 40))]
    >>> sedil.sample_patches(images, (8, 8), 100, random_state=0).shape
    (100, 8, 8)
    """
    patch_shape = checks.patch_lengths(patch_shape)
    n_patches = checks.require_count(n_patches, "n_patches", minimum=1)
    rng = checks.as_generator(random_state)
    arrays = [_checked_image(image, patch_shape) for image in _checked_list(images)]
    dtype = np.result_type(np.float32, *arrays)
    checks.require_memory(n_patches * prod(patch_shape) * dtype.itemsize, "The patches", "ask for fewer")
    windows = [np.lib.stride_tricks.sliding_window_view(array, patch_shape) for array in arrays]
    positions = np.array([np.prod(view.shape[: len(patch_shape)]) for view in windows])
    owner = rng.choice(len(arrays), size=n_patches, p=positions / positions.sum())
    patches = np.empty((n_patches, *patch_shape), dtype)
    for index, view in enumerate(windows):
        mine = np.flatnonzero(owner == index)
        corners = tuple(rng.integers(0, side, mine.size) for side in view.shape[: len(patch_shape)])
        patches[mine] = view[corners]
    return patches


def _checked_list(images: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
    if not isinstance(images, Sequence | np.ndarray) or isinstance(images, str | bytes):
        raise TypeError(f"images must be a list of arrays, got {checks.short(images)}.")
    if (isinstance(images, np.ndarray) and images.ndim == 0) or len(images) == 0:
        raise ValueError("There are no images to take patches from.")
    return images


def _checked_image(image: np.ndarray, patch_shape: tuple[int, ...]) -> np.ndarray:
    checks.require_unmasked(image, "An image", "fill what is missing by sedil.inpaint first")
    array = to_numpy(checks.as_plain_array(image, "An image"))
    checks.require_fits(array.shape, patch_shape, "An image", "leave it out or choose smaller patches")
    checks.require_finite(array, "An image")
    return array


def normalize_patches(patches: AnyArray, *, unit_length: bool = True) -> AnyArray:
    """Remove each patch's mean, drop flat patches and scale the rest to unit length. Paper: Sec. 5.

    Parameters
    ----------
    patches : array of shape (n, *patch_shape), in any units
    unit_length : bool, default True
        False keeps the lengths, so that strong patches count more.

    Returns
    -------
    array of shape (m, *patch_shape)
        ``m <= n``: patches whose entries are all equal have no direction and are left out.

    Examples
    --------
    >>> import numpy as np, sedil
    >>> patches = np.array([[[1.0, 2.0], [3.0, 4.0]], [[7.0, 7.0], [7.0, 7.0]]])  # the second is flat
    >>> ready = sedil.normalize_patches(patches)
    >>> ready.shape, round(float(np.linalg.norm(ready)), 6), round(float(ready.mean()), 6)
    ((1, 2, 2), 1.0, 0.0)
    """
    patches = checks.as_real_array(patches, "patches")
    checks.require_patches(patches)
    checks.require_flag(unit_length, "unit_length")
    xp = array_namespace(patches)
    axes = tuple(range(1, patches.ndim))
    sizes = largest_sizes(patches, axes)
    is_workable = are_workable(sizes)
    patches = patches if is_workable else patches / sizes
    centred = patches - xp.mean(patches, axis=axes, keepdims=True)
    length = xp.sqrt(xp.sum(centred * centred, axis=axes, keepdims=True))
    largest = xp.max(xp.abs(patches), axis=axes, keepdims=True)
    # Rounding leaves a flat patch of level v with entries near eps * v instead of zeros.
    rounding = 100 * xp.finfo(patches.dtype).eps * largest
    kept = xp.reshape(length > rounding, (-1,))
    if not bool(xp.any(kept)):
        raise ValueError("Every patch is flat: without its mean nothing is left to learn from.")
    centred, length = centred[kept], length[kept]
    if unit_length:
        return centred / length
    if is_workable:
        return centred
    with np.errstate(over="ignore"):
        centred = centred * sizes[kept]
    if not checks.is_finite(centred):
        raise ValueError(f"patches are too large for {centred.dtype} without their mean: rescale them.")
    return centred
