"""`sparse_code`: codes of patches over a given dictionary."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any
from warnings import warn

from array_api_compat import array_namespace

from sedil import errors
from sedil.coding.admm import admm
from sedil.coding.fista import fista
from sedil.coding.problem import CodingResult, LassoProblem
from sedil.coding.pursuit import pursuit
from sedil.coding.refit import refit
from sedil.dictionary import SeparableDictionary
from sedil.engines import portable
from sedil.engines.portable import Array

METHODS = ("refit", "l1", "pursuit")
SOLVERS: dict[str, Callable[..., CodingResult]] = {"fista": fista, "admm": admm}


def sparse_code(
    dictionary: SeparableDictionary,
    patches: Array,
    penalty: float | None = None,
    *,
    method: str = "l1",
    solver: str = "fista",
    weights: Array | None = None,
    mask: Array | None = None,
    initial: Array | None = None,
    max_error: float | None = None,
    max_atoms: int | None = None,
    tolerance: float = 1e-4,
    max_iterations: int = 1000,
) -> Array:
    r"""Sparse codes of patches over a dictionary, each patch on its own.

    With ``method="l1"``, the default, it solves the problem of Eq. (34),

    .. math:: \min_x \tfrac12 \|D x - s\|^2 + \text{penalty} \sum_i w_i |x_i| ,

    to a duality gap; ``"refit"`` then replaces the non-zero coefficients by their least-squares values,
    which undoes the shrinkage; ``"pursuit"`` adds one atom after the other until
    :math:`\|D x - s\| \le \text{max\_error}`.

    Parameters
    ----------
    dictionary : SeparableDictionary
    patches : array of shape (..., *patch_shape)
        In the same array library and on the same device as the dictionary (`SeparableDictionary.like`).
    penalty : float, positive
        For "l1" and "refit", in the units of the patches: contributions of atoms below it are dropped.
        For noise of standard deviation sigma, 2 (l1) to 3 sigma (refit).
    method : {"l1", "refit", "pursuit"}, default "l1"
    solver : {"fista", "admm"}, default "fista"
        For "l1" and "refit". ADMM needs fewer iterations, but cannot take a mask.
    weights : array of shape n_atoms, optional
        Positive factors of the penalty, one per coefficient. Default: all 1.
    mask : boolean array of the shape of `patches`, optional
        True where data is missing; whatever `patches` holds there is ignored. Not for "pursuit".
    initial : array of shape (..., *n_atoms), optional
        Codes to start from, for "l1" and "refit". Default: zero.
    max_error : float, positive
        For "pursuit": length of the residual at which a patch is done; for noise of standard deviation
        sigma, 1.1 sigma times the square root of the number of entries.
    max_atoms : int, optional
        For "pursuit": atoms per patch at most. Default: half the number of entries of a patch.
    tolerance : float, default 1e-4
        For "l1" and "refit": each patch is done when its duality gap is at most this share of
        ``||s||^2 / 2``.
    max_iterations : int, default 1000
        A patch that is not done by then is returned as it is, with a `ConvergenceWarning`.

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
    if not isinstance(dictionary, SeparableDictionary):
        raise TypeError(f"dictionary must be a SeparableDictionary, got a {type(dictionary).__name__}.")
    patches = dictionary.own_array(patches, "patches")
    errors.require_patch_shape(patches, dictionary.patch_shape)
    errors.require_choice(method, "method", METHODS)
    if mask is not None:
        patches = _without_missing(patches, mask)
    errors.require_finite(patches, "patches")
    if method == "pursuit":
        return _pursue(dictionary, patches, max_error, max_atoms, mask)
    if penalty is None:
        raise ValueError(f'method="{method}" needs penalty=..., in the units of the patches.')
    errors.require_positive(penalty, "penalty")
    errors.require_positive(tolerance, "tolerance")
    errors.require_count(max_iterations, "max_iterations", minimum=1)
    solve = SOLVERS[errors.require_choice(solver, "solver", tuple(SOLVERS))]
    problem = LassoProblem.create(
        dictionary.factors,
        _packed(patches, len(dictionary.factors)),
        penalty,
        _checked_weights(dictionary, weights),
        None if mask is None else _packed(mask, len(dictionary.factors)),
    )
    result = solve(problem, tolerance, max_iterations, _checked_initial(dictionary, initial, patches))
    _warn_if_unfinished(result, tolerance)
    codes = result.codes
    if method == "refit":
        codes = refit(problem, codes)
    return _unpacked(codes, patches, dictionary)


def _warn_if_unfinished(result: CodingResult, tolerance: float) -> None:
    xp = array_namespace(result.relative_gap)
    n_unfinished = int(xp.sum(xp.astype(result.relative_gap > tolerance, xp.int64)))
    if n_unfinished:
        from sklearn.exceptions import ConvergenceWarning

        worst = float(xp.max(result.relative_gap))
        warn(
            f"{n_unfinished} of {len(result.relative_gap)} patches have a duality gap above {tolerance:g}, "
            f"the largest {worst:.2g}, after {result.n_iterations} iterations: "
            "allow more max_iterations, a larger tolerance or a larger penalty.",
            ConvergenceWarning,
            stacklevel=3,
        )


def _pursue(
    dictionary: SeparableDictionary,
    patches: Array,
    max_error: float | None,
    max_atoms: int | None,
    mask: Array | None,
) -> Array:
    if mask is not None:
        raise ValueError('method="pursuit" cannot take a mask: use "l1" or "refit".')
    if max_error is None:
        raise ValueError('method="pursuit" needs max_error=..., in the units of the patches.')
    errors.require_positive(max_error, "max_error", zero_allowed=True)
    n_entries = prod(dictionary.patch_shape)
    limit = max(n_entries // 2, 1) if max_atoms is None else errors.require_count(max_atoms, "max_atoms", 1)
    packed = _packed(patches, len(dictionary.factors))
    codes = pursuit(dictionary.factors, packed, max_error, min(limit, n_entries, prod(dictionary.n_atoms)))
    return _unpacked(codes, patches, dictionary)


def _without_missing(patches: Array, mask: Any) -> Array:
    xp = array_namespace(patches)
    if tuple(mask.shape) != tuple(patches.shape) or mask.dtype != xp.bool:
        raise ValueError(
            f"mask must be boolean and have the shape of the patches, {tuple(patches.shape)}, "
            f"got {mask.dtype} of shape {tuple(mask.shape)}."
        )
    return xp.where(mask, xp.zeros_like(patches), patches)


def _checked_weights(dictionary: SeparableDictionary, weights: Any) -> Array | None:
    if weights is None:
        return None
    weights = dictionary.own_array(weights, "weights")
    xp = array_namespace(weights)
    if tuple(weights.shape) != dictionary.n_atoms or not bool(xp.all(weights > 0)):
        raise ValueError(
            f"weights must be positive and of shape {dictionary.n_atoms}, got shape {tuple(weights.shape)}."
        )
    return weights


def _checked_initial(dictionary: SeparableDictionary, initial: Any, patches: Array) -> Array | None:
    if initial is None:
        return None
    initial = dictionary.own_array(initial, "initial")
    expected = (*patches.shape[: patches.ndim - len(dictionary.factors)], *dictionary.n_atoms)
    if tuple(initial.shape) != expected:
        raise ValueError(f"initial must be codes of shape {expected}, got shape {tuple(initial.shape)}.")
    return _packed(initial, len(dictionary.factors))


def _packed(samples: Array, n_axes: int) -> Array:
    """All leading axes as one, last."""
    xp = array_namespace(samples)
    leading = samples.shape[: samples.ndim - n_axes]
    return portable.pack(xp.reshape(samples, (prod(leading), *samples.shape[len(leading) :])))


def _unpacked(codes: Array, patches: Array, dictionary: SeparableDictionary) -> Array:
    xp = array_namespace(codes)
    leading = patches.shape[: patches.ndim - len(dictionary.factors)]
    return xp.reshape(portable.unpack(codes), (*leading, *dictionary.n_atoms))
