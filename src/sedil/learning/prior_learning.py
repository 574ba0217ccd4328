"""Learning what the codes of a class of signals have in common (`sedil.coding.prior`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sedil import checks
from sedil.coding.prior import GaussianPrior, LaplacePrior
from sedil.coding.sparse_code import quick_codes
from sedil.dictionary import SeparableDictionary
from sedil.engines.contract import Effort
from sedil.engines.threads import parallel_map, thread_count

_ROUNDS = 3  # of coding and measuring scales; they settle quickly
_EFFORT = Effort(1e-3, 100)
_SMALLEST = 1e-3  # of the mean scale: no atom is ruled out because the training signals did without it
_LIFT = 1e-4  # of the mean variance of an entry
_SUMMED = 1024  # signals whose products are summed at a time in float64
_CHUNK = 64  # signals that a thread codes at a time


def learn_laplace_prior(
    dictionary: SeparableDictionary,
    signals: np.ndarray,
    noise: float,
    *,
    n_coded: int = 2000,
    threads: int | None = None,
) -> LaplacePrior:
    """Mean and scales of the codes of training signals.

    Parameters
    ----------
    dictionary : SeparableDictionary
    signals : NumPy array of shape (n, *patch_shape)
        Complete signals of the class.
    noise : float, positive
        Standard deviation of what the codes need not explain, in the units of the signals.
    n_coded : int, default 2000
        The scales are measured on the first so many signals.
    threads : int, optional
        Default: one per core.

    Returns
    -------
    LaplacePrior
    """
    signals, noise = _checked(dictionary, signals, noise)
    n_coded = checks.require_count(n_coded, "n_coded", minimum=1)
    mean = _mean(signals)
    rest = signals[:n_coded] - mean
    scales = np.full(dictionary.n_atoms, np.abs(rest).mean() / 2, rest.dtype)
    for _ in range(_ROUNDS):
        scales = _mean_sizes(dictionary, rest, noise**2 / scales, threads)
    return LaplacePrior(mean, scales, noise)


def _mean_sizes(
    dictionary: SeparableDictionary, rest: np.ndarray, thresholds: np.ndarray, threads: int | None
) -> np.ndarray:
    """Mean absolute coefficients of signals coded with these thresholds."""

    def sizes(start: int) -> np.ndarray:
        codes = quick_codes(dictionary.factors, rest[start : start + _CHUNK], thresholds, _EFFORT)
        return np.abs(codes).sum(axis=0)

    parts = parallel_map(sizes, range(0, len(rest), _CHUNK), thread_count(threads))
    means = np.sum(list(parts), axis=0) / len(rest)
    return np.maximum(means, _SMALLEST * means.mean())


def learn_gaussian_prior(
    dictionary: SeparableDictionary,
    signals: np.ndarray,
    noise: float,
    *,
    n_components: int = 200,
    n_iterations: int = 20,
) -> GaussianPrior:
    r"""Mean, directions of largest variance, and variances of the codes of training signals.

    The directions are principal components; the variances c then maximise the likelihood of the signals under
    the covariance :math:`K = V V^T + D \operatorname{diag}(c) D^T + \sigma^2`, by expectation maximisation,

    .. math:: c_i \leftarrow c_i + c_i^2 \, d_i^T (K^{-1} S K^{-1} - K^{-1}) d_i ,

    where S is the covariance of the signals. K and S are dense matrices here, for signals of some thousand
    entries at most; what is learned is not.

    Parameters
    ----------
    dictionary : SeparableDictionary
    signals : NumPy array of shape (n, *patch_shape)
        Complete signals of the class, n at least 2.
    noise : float, positive
        Standard deviation of what the codes need not explain, in the units of the signals.
    n_components : int, default 200
        At most n - 1 and the number of entries of a signal.
    n_iterations : int, default 20
        Of expectation maximisation.

    Returns
    -------
    GaussianPrior
    """
    signals, noise = _checked(dictionary, signals, noise)
    n_iterations = checks.require_count(n_iterations, "n_iterations")
    limit = min(len(signals) - 1, signals[0].size)
    if checks.require_count(n_components, "n_components") > limit:
        raise ValueError(
            f"{len(signals)} signals of {signals[0].size} entries have at most {limit} components, "
            f"got n_components={n_components}: use fewer, or more signals."
        )
    mean = _mean(signals)
    flat = (signals - mean).reshape(len(signals), -1)
    sample = covariance_of(flat)
    components = principal_components(flat, n_components)
    fixed = components.T @ components + noise**2 * np.eye(len(sample), dtype=flat.dtype)
    root = _root(sample).astype(flat.dtype)
    left = np.trace(sample) - (components**2).sum()
    variances = np.full(dictionary.n_atoms, left / np.prod(dictionary.n_atoms), flat.dtype)
    for _ in range(n_iterations):
        variances = _maximised(dictionary.factors, variances, fixed, root)
    return GaussianPrior(mean, components.reshape(-1, *dictionary.patch_shape), variances, noise)


def covariance_of(centred: np.ndarray) -> np.ndarray:
    """The covariance of rows, in float64.

    Where rows are fewer than their entries, what float32 rounds off can make it indefinite.
    """
    total = np.zeros((centred.shape[1],) * 2)
    for start in range(0, len(centred), _SUMMED):
        part = centred[start : start + _SUMMED].astype(np.float64)
        total += part.T @ part
    return total / len(centred)


def principal_components(centred: np.ndarray, n_components: int) -> np.ndarray:
    """Directions of largest variance of rows, shape (k, entries), each as long as the deviation along it."""
    from sklearn.utils.extmath import randomized_svd

    if not n_components:
        return np.empty((0, centred.shape[1]), centred.dtype)
    _, lengths, directions = randomized_svd(centred, n_components, n_iter=4, random_state=0)
    return ((lengths / np.sqrt(len(centred)))[:, None] * directions).astype(centred.dtype)


def _maximised(
    factors: Sequence[np.ndarray], variances: np.ndarray, fixed: np.ndarray, root: np.ndarray
) -> np.ndarray:
    """One step of expectation maximisation; `root` is the upper Cholesky factor R of ``S = R^T R``.

    Only triangles are computed, which takes half the time of full products.
    """
    from scipy.linalg import get_blas_funcs, get_lapack_funcs

    potrf, potri = get_lapack_funcs(("potrf", "potri"), (fixed,))
    trmm, syrk = get_blas_funcs(("trmm", "syrk"), (fixed,))
    upper, failed = potrf((codes_covariance(factors, variances) + fixed).T, overwrite_a=True)
    if failed:
        raise ValueError("The covariance of the signals is not positive: learn with more noise=...")
    inverse = _mirrored(potri(upper, overwrite_c=True)[0])
    excess = _mirrored(syrk(1, trmm(1, root, inverse), trans=True)) - inverse
    new = variances + variances**2 * _forms(factors, excess)
    return np.maximum(new, np.finfo(new.dtype).eps * new.max())


def _root(sample: np.ndarray) -> np.ndarray:
    """The upper Cholesky factor of a covariance, lifted a little as signals may span a subspace only."""
    lifted = sample.copy()
    lifted[np.diag_indices_from(lifted)] += _LIFT * np.trace(lifted) / len(lifted)
    return np.linalg.cholesky(lifted).T


def _mirrored(upper: np.ndarray) -> np.ndarray:
    """The symmetric matrix with this upper triangle."""
    return np.triu(upper) + np.triu(upper, 1).T


def codes_covariance(factors: Sequence[np.ndarray], variances: np.ndarray) -> np.ndarray:
    """``D diag(c) D^T``: the covariance of signals whose coefficients vary independently."""
    squares = [_outer_squares(factor) for factor in factors]
    product = variances
    for axis, square in enumerate(squares):
        product = np.moveaxis(np.tensordot(square, product, (1, axis)), 0, axis)
    lengths = [factor.shape[0] for factor in factors]
    pairs = product.reshape([length for length in lengths for _ in range(2)])
    n_axes, size = len(factors), int(np.prod(lengths))
    order = [2 * k for k in range(n_axes)] + [2 * k + 1 for k in range(n_axes)]
    return pairs.transpose(order).reshape(size, size)


def _forms(factors: Sequence[np.ndarray], matrix: np.ndarray) -> np.ndarray:
    """``d_i^T matrix d_i`` for every atom, shape n_atoms."""
    lengths = [factor.shape[0] for factor in factors]
    n_axes = len(factors)
    pairs = matrix.reshape(lengths + lengths)
    order = [axis for k in range(n_axes) for axis in (k, n_axes + k)]
    forms = pairs.transpose(order).reshape([length**2 for length in lengths])
    for axis, factor in enumerate(factors):
        forms = np.moveaxis(np.tensordot(_outer_squares(factor).T, forms, (1, axis)), 0, axis)
    return forms


def _outer_squares(factor: np.ndarray) -> np.ndarray:
    """Each column times itself, flat: shape (length^2, atoms)."""
    return (factor[:, None, :] * factor[None, :, :]).reshape(-1, factor.shape[1])


def _mean(signals: np.ndarray) -> np.ndarray:
    return signals.mean(axis=0, dtype=np.float64).astype(signals.dtype)


def _checked(dictionary: SeparableDictionary, signals: np.ndarray, noise: float) -> tuple[np.ndarray, float]:
    signals = dictionary.own_array(signals, "signals")
    checks.require_patches(signals)
    checks.require_patch_shape(signals, dictionary.patch_shape)
    return signals, checks.require_positive(noise, "noise")
