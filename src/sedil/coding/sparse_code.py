"""`sparse_code`: codes of patches over a given dictionary."""

from __future__ import annotations

from sedil import errors
from sedil.coding.fista import fista
from sedil.dictionary import SeparableDictionary
from sedil.engines.portable import Array


def sparse_code(
    dictionary: SeparableDictionary,
    patches: Array,
    penalty: float,
    *,
    tolerance: float = 1e-4,
    max_iterations: int = 1000,
) -> Array:
    r"""Sparse codes of patches over a dictionary. Paper: Eq. (34).

    Solves, for each patch :math:`s` on its own,

    .. math:: \min_x \tfrac12 \|D x - s\|^2 + \text{penalty} \, \|x\|_1 .

    Parameters
    ----------
    dictionary : SeparableDictionary
    patches : array of shape (..., *patch_shape)
        In the same array library and on the same device as the dictionary (`SeparableDictionary.like`).
    penalty : float, positive
        In the units of the patches: contributions of atoms below it are dropped, larger ones shrink
        by about as much. For noise of standard deviation sigma, 2 to 3 sigma.
    tolerance : float, default 1e-4
        Each patch is done when its duality gap is at most this share of ``||s||^2 / 2``.
    max_iterations : int, default 1000

    Returns
    -------
    array of shape (..., *n_atoms)

    Examples
    --------
    >>> import numpy as np, sedil
    >>> dictionary = sedil.odct((8, 8), (16, 16))
    >>> sedil.sparse_code(dictionary, np.ones((5, 8, 8)), penalty=0.1).shape
    (5, 16, 16)
    """
    patches = dictionary.own_array(patches, "patches")
    errors.require_patch_shape(patches, dictionary.patch_shape)
    errors.require_finite(patches, "patches")
    errors.require_positive(penalty, "penalty")
    errors.require_positive(tolerance, "tolerance")
    errors.require_count(max_iterations, "max_iterations", minimum=1)

    def solve(factors: tuple[Array, ...], packed: Array) -> Array:
        return fista(factors, packed, penalty, tolerance, max_iterations).codes

    return dictionary.apply(solve, patches)
