"""Inpainting of signals that are one patch each: all that is missing comes from the dictionary alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from array_api_compat import array_namespace

from sedil import checks
from sedil.arrays import AnyArray, Array, is_same_kind
from sedil.coding.prior import GaussianPrior, LaplacePrior, conditional_mean
from sedil.coding.sparse_code import quick_codes
from sedil.dictionary import SeparableDictionary
from sedil.engines.contract import Effort
from sedil.engines.threads import parallel_map, thread_count
from sedil.pretrained import DictionaryLike, as_dictionary

_CHUNK = 64  # signals at a time: the codes of 64x64 signals then take some megabytes


def fill_whole(
    dictionary: DictionaryLike,
    signals: AnyArray,
    masks: Array,
    *,
    prior: LaplacePrior | GaussianPrior | None = None,
    penalty: float = 0.01,
    tolerance: float = 1e-3,
    max_iterations: int = 100,
    threads: int | None = None,
) -> AnyArray:
    r"""Fill the missing entries of whole signals, each coded as one patch. Paper: Eq. (35).

    .. math:: \min_x \tfrac12 \|M (D x - s)\|^2 + \text{penalty} \|x\|_1 ,

    where M keeps the known entries; the missing ones become those of :math:`D x`.

    Parameters
    ----------
    dictionary : SeparableDictionary, or the path of a file, or the name of a shipped one
    signals : array of shape (..., *patch_shape)
        Of any array library that follows the array API standard; the dictionary follows it there.
    masks : boolean array of the same shape, or of shape patch_shape for all
        True where data is missing; whatever `signals` holds there is ignored.
    prior : LaplacePrior or GaussianPrior, optional
        What is known of the codes beforehand (`sedil.learning.prior_learning`), in place of the l1 norm.
        Default: every signal varies about the mean of its known entries, all atoms alike.
    penalty : float, default 0.01
        Without a prior: as a share of the standard deviation of each signal's known entries, so that units
        do not matter.
    tolerance : float, default 1e-3
        A signal is done when its duality gap is at most this share of the cost of the zero code; with a
        Gaussian prior, when the residual of its linear system has shrunk to this share.
    max_iterations : int, default 100
        A signal that is not done by then is filled with what there is.
    threads : int, optional
        Default: one per core.

    Returns
    -------
    array of the shape and precision of `signals`
        Known entries are untouched.

    Examples
    --------
    >>> import numpy as np, sedil
    >>> from sedil.imaging.whole_inpainting import fill_whole
    >>> ramps = np.add.outer(np.arange(5.0), np.zeros((8, 8)) + np.arange(8))
    >>> hole = np.zeros((8, 8), bool)
    >>> hole[3:5, 3:5] = True
    >>> filled = fill_whole(sedil.odct((8, 8), (16, 16)), ramps, hole)
    >>> bool(np.max(np.abs(filled - ramps)) < 0.5)
    True
    """
    signals = checks.as_real_array(signals, "signals")
    dictionary = as_dictionary(dictionary)
    if not is_same_kind(dictionary.factors[0], signals):
        dictionary = dictionary.like(signals)
    checks.require_patch_shape(signals, dictionary.patch_shape)
    masks = checks.require_mask(masks, signals, dictionary.patch_shape, name="masks")
    _require_some_known(masks, dictionary)
    penalty = checks.require_positive(penalty, "penalty")
    effort = Effort(
        checks.require_positive(tolerance, "tolerance"),
        checks.require_count(max_iterations, "max_iterations", minimum=1),
    )
    threads = checks.require_threads(threads)
    if prior is not None and tuple(prior.mean.shape) != dictionary.patch_shape:
        raise ValueError(
            f"The prior is one of signals of shape {tuple(prior.mean.shape)}, the dictionary of patches of "
            f"shape {dictionary.patch_shape}: learn the prior with this dictionary."
        )
    xp = array_namespace(signals)
    blank = xp.where(masks, xp.zeros_like(signals), signals)
    checks.require_finite(blank, "signals")
    stack = xp.reshape(dictionary.own_array(blank, "signals"), (-1, *dictionary.patch_shape))
    known = xp.reshape(xp.astype(~masks, stack.dtype), (-1, *dictionary.patch_shape))
    if prior is None:
        estimate: Callable[..., Any] = partial(_by_sparsity, dictionary, penalty, effort)
    else:
        estimate = partial(_by_prior, dictionary, prior, effort)

    def work(start: int) -> Array:
        part = slice(start, start + _CHUNK)
        return estimate(stack[part, ...], known if known.shape[0] == 1 else known[part, ...])

    parts = parallel_map(work, range(0, stack.shape[0], _CHUNK), thread_count(threads))
    filled = xp.reshape(xp.concat(list(parts), axis=0), signals.shape)
    return xp.where(masks, xp.astype(filled, signals.dtype), signals)


def _by_sparsity(
    dictionary: SeparableDictionary, penalty: float, effort: Effort, signals: AnyArray, known: Array
) -> AnyArray:
    """Whole signals, each coded about the mean of its known entries and in units of their deviation."""
    xp = array_namespace(signals)
    axes = tuple(range(1, signals.ndim))
    count = xp.sum(known, axis=axes, keepdims=True)
    mean = xp.sum(signals, axis=axes, keepdims=True) / count
    rest = (signals - mean) * known
    deviation = xp.sqrt(xp.sum(rest**2, axis=axes, keepdims=True) / count)
    unit = xp.where(deviation > 0, deviation, xp.ones_like(deviation))
    everywhere = xp.broadcast_to(known, rest.shape)
    codes = quick_codes(dictionary.factors, rest / unit, penalty, effort, everywhere)
    return mean + unit * dictionary.synthesize(codes)


def _by_prior(
    dictionary: SeparableDictionary,
    prior: LaplacePrior | GaussianPrior,
    effort: Effort,
    signals: AnyArray,
    known: Array,
) -> AnyArray:
    """Whole signals of the most likely codes."""
    rest = (signals - prior.mean) * known
    if isinstance(prior, GaussianPrior):
        return prior.mean + conditional_mean(dictionary.factors, prior, rest, known, effort)
    everywhere = array_namespace(rest).broadcast_to(known, rest.shape)
    codes = quick_codes(dictionary.factors, rest, prior.thresholds, effort, everywhere)
    return prior.mean + dictionary.synthesize(codes)


def _require_some_known(masks: Array, dictionary: SeparableDictionary) -> None:
    """Masks leave something known of each signal."""
    xp = array_namespace(masks)
    axes = tuple(range(masks.ndim - len(dictionary.patch_shape), masks.ndim))
    n_blank = int(xp.sum(xp.astype(xp.all(masks, axis=axes), xp.int64)))
    if n_blank:
        raise ValueError(
            f"Nothing is known of {n_blank} of the signals: leave out those with masks that are all True."
        )
