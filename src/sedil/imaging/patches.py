"""Patches of images for training: drawn at random positions, made comparable."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from array_api_compat import array_namespace

from sedil import checks
from sedil.arrays import AnyArray


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
        Images, volumes or signals; their sizes may differ.
    patch_shape : lengths of the patch axes
    n_patches : int
    random_state : int, numpy.random.Generator or None

    Returns
    -------
    ndarray of shape (n_patches, *patch_shape)
        A copy, in the common floating type of the images (float32 at least).
    """
    patch_shape = checks.patch_lengths(patch_shape)
    checks.require_count(n_patches, "n_patches", minimum=1)
    if len(images) == 0:
        raise ValueError("There are no images to take patches from.")
    for image in images:
        checks.require_unmasked(image, "An image", "fill what is missing by sedil.inpaint first")
    arrays = [np.asarray(image) for image in images]
    for array in arrays:
        if array.dtype.kind not in "biuf":
            raise TypeError(f"An image must hold real numbers, got dtype {array.dtype}.")
        checks.require_fits(array.shape, patch_shape, "An image", "leave it out or choose smaller patches")
    windows = [np.lib.stride_tricks.sliding_window_view(array, patch_shape) for array in arrays]
    positions = np.array([np.prod(view.shape[: len(patch_shape)]) for view in windows])

    rng = np.random.default_rng(random_state)
    owner = rng.choice(len(arrays), size=n_patches, p=positions / positions.sum())
    patches = np.empty((n_patches, *patch_shape), np.result_type(np.float32, *arrays))
    for index, view in enumerate(windows):
        mine = np.flatnonzero(owner == index)
        corners = tuple(rng.integers(0, side, mine.size) for side in view.shape[: len(patch_shape)])
        patches[mine] = view[corners]
    return patches


def normalize_patches(patches: AnyArray, *, unit_length: bool = True) -> AnyArray:
    """Remove each patch's mean, drop flat patches and scale the rest to unit length. Paper: Sec. 5.

    Parameters
    ----------
    patches : array of shape (n, *patch_shape)
    unit_length : bool, default True
        False keeps the lengths, so that strong patches count more.

    Returns
    -------
    array of shape (m, *patch_shape)
        ``m <= n``: patches whose entries are all equal have no direction and are left out.
    """
    patches = checks.as_real_array(patches, "patches")
    checks.require_patches(patches)
    xp = array_namespace(patches)
    axes = tuple(range(1, patches.ndim))
    centred = patches - xp.mean(patches, axis=axes, keepdims=True)
    length = xp.sqrt(xp.sum(centred * centred, axis=axes, keepdims=True))
    largest = xp.max(xp.abs(patches), axis=axes, keepdims=True)
    # Rounding leaves a flat patch of level v with entries near eps * v instead of zeros.
    rounding = 100 * xp.finfo(patches.dtype).eps * largest
    kept = xp.reshape(length > rounding, (-1,))
    if not bool(xp.any(kept)):
        raise ValueError("Every patch is flat: without its mean nothing is left to learn from.")
    centred, length = centred[kept], length[kept]
    return centred / length if unit_length else centred
