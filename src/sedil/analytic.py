"""The overcomplete discrete cosine transform: the analytic dictionary that learned ones must beat."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sedil import spheres
from sedil.checks import atom_counts, patch_lengths, require_affordable
from sedil.dictionary import SeparableDictionary

_THRESHOLD = 3.05  # of `sedil.denoise`, in multiples of sigma; chosen on photographs, as for learned atoms


def odct_factor(length: int, n_atoms: int) -> np.ndarray:
    """Cosines of `n_atoms` frequencies at `length` points, shape (length, n_atoms).

    All but the constant atom have zero mean; every atom has unit length.
    """
    if length == 1:
        raise ValueError("An ODCT factor needs at least two points: an axis of length 1 has one atom only.")
    positions, frequencies = np.arange(length), np.arange(n_atoms)
    factor = np.cos(np.pi * np.outer(positions, frequencies) / n_atoms)
    factor[:, 1:] -= factor[:, 1:].mean(axis=0)
    return spheres.normalize(factor)


def odct(patch_shape: int | Sequence[int], n_atoms: int | Sequence[int]) -> SeparableDictionary:
    """Overcomplete DCT dictionary.

    Parameters
    ----------
    patch_shape : lengths of the patch axes, one to four of them.
    n_atoms : atoms per axis, or one number for all axes.

    Returns
    -------
    SeparableDictionary

    Examples
    --------
    >>> import sedil
    >>> sedil.odct((8, 8), (16, 16)).n_atoms
    (16, 16)
    """
    patch_shape = patch_lengths(patch_shape)
    counts = atom_counts(n_atoms, patch_shape)
    require_affordable(patch_shape, counts)
    factors = [odct_factor(length, count) for length, count in zip(patch_shape, counts, strict=True)]
    return SeparableDictionary(factors, threshold=_THRESHOLD, info={"method": "overcomplete DCT"})
