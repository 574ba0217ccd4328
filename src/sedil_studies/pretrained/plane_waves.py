"""Synthetic texture: plane waves, which photographs hold too few of to teach a dictionary stripes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_HIGHEST = 0.9 * np.pi  # radians per pixel; beyond it sampling shows beats rather than stripes
_LOWEST_SHARE = 0.02


def plane_waves(
    patch_shape: Sequence[int], n_patches: int, random_state: int | np.random.Generator | None = None
) -> np.ndarray:
    """Patches of one plane wave each, of random frequency, direction and phase.

    Wave vectors are uniform in a ball of radius 0.9 pi radians per pixel, its innermost part left out.

    Parameters
    ----------
    patch_shape : lengths of the patch axes
    n_patches : int
    random_state : int, numpy.random.Generator or None

    Returns
    -------
    ndarray of shape (n_patches, *patch_shape), float32, values from -1 to 1
    """
    rng = np.random.default_rng(random_state)
    n_axes = len(patch_shape)
    directions = rng.standard_normal((n_patches, n_axes))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    radius = _HIGHEST * rng.uniform(_LOWEST_SHARE, 1, n_patches) ** (1 / n_axes)
    waves = directions * radius[:, None]
    positions = np.indices(patch_shape).reshape(n_axes, -1)
    phases = rng.uniform(0, 2 * np.pi, (n_patches, 1))
    return np.cos(waves @ positions + phases).astype(np.float32).reshape(n_patches, *patch_shape)
