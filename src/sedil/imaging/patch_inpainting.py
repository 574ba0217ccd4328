"""Missing pixels from all overlapping patches: fill, clean, put the known pixels back, again and again."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from math import sqrt
from typing import NamedTuple

import numpy as np
from array_api_compat import array_namespace

from sedil.arrays import AnyArray, Array, variance
from sedil.dictionary import SeparableDictionary
from sedil.engines.contract import Cleaning
from sedil.imaging.image_dictionaries import image_coding, image_patch_shape
from sedil.imaging.patch_averages import CleaningOptions, sums_over_patches
from sedil.imaging.smooth_filling import fill_smoothly
from sedil.patch_grid import PatchGrid, require_no_gaps

# All constants were chosen on photographs that are not among the test images.
# Noise levels of the first and the last pass, in standard deviations of the known pixels. From a lower first
# one fine stripes are filled worse the more of them is known, as there are fewer passes then.
_LEVELS = 0.9, 0.06
_FEWEST, _MOST = 18, 40  # passes
_RISE = 0.03  # of the first level with each pass, where a caller wants fewer: a high one needs many to fall
# From the lower to the higher share of missing neighbours of missing pixels the passes grow in number. If
# pixels are missing at random, it is the share of missing pixels.
_CROWDED = 0.5, 0.75
# Distance of patches in sides of a patch. Many passes with few patches are better than few with many, but the
# last eighth of them must not show the borders of patches.
_COARSE, _FINE, _FINE_PART = 0.75, 0.5, 8
_STRESS = 1.5  # how much more than a missing pixel a known one counts


class Pass(NamedTuple):
    """One pass over the image: with which dictionary, where its patches lie, the level of noise it removes.

    The level is in standard deviations of the known pixels.
    """

    dictionary: SeparableDictionary
    grid: PatchGrid
    level: float


def plan_passes(
    missing: Array,
    dictionaries: Sequence[SeparableDictionary],
    n_passes: int | None = None,
    stride: int | None = None,
) -> list[Pass]:
    """Passes over an image with these missing pixels, none if there are none; the dictionaries take turns.

    Parameters
    ----------
    missing : boolean array
    dictionaries : sequence of SeparableDictionary
    n_passes : int, optional
        Default: 18, and up to 40 the more neighbours of missing pixels are missing too.
    stride : int, optional
        Distance of the patches of a pass. Default: three quarters of a patch, and half a patch in the last
        passes. The grid is shifted from pass to pass, so that all passes together see many patches.
    """
    if not bool(array_namespace(missing).any(missing)):
        return []
    count = passes_needed(missing) if n_passes is None else n_passes
    first, last = _LEVELS
    levels = np.geomspace(first if count >= _FEWEST else last + _RISE * count, last, count)
    n_fine = -(-count // _FINE_PART)
    distances = [_COARSE] * (count - n_fine) + [_FINE] * n_fine
    rng = np.random.default_rng(0)
    return [
        Pass(dictionary, _shifted_grid(missing.shape, dictionary, stride or distance, rng), float(level))
        for dictionary, level, distance in zip(cycle(dictionaries), levels, distances, strict=False)
    ]


def fill_by_patches(
    channel: AnyArray,
    missing: Array,
    passes: Sequence[Pass],
    sigma: float,
    options: CleaningOptions,
    contrast: float | None = None,
) -> AnyArray:
    r"""Fill the missing pixels of one grey image with what is sparse in all patches. Paper: Eq. (35).

    The paper fills one patch; here they overlap. A step :math:`x + M (s - x)`, then cleaning all patches of
    it, is one of iterated thresholding for the problem of all patches at once, with a threshold that falls
    from step to step. Longer steps, in which known pixels are stressed, need fewer of them.

    Parameters
    ----------
    channel : array of floats
        Finite, also at missing pixels.
    missing : boolean array of the same shape
    passes : sequence of Pass
    sigma : float
        Noise of the known pixels: no pass removes less.
    options : CleaningOptions
    contrast : float, optional
        Standard deviation of the known pixels; of the whole image, if `channel` is a part of one.

    Returns
    -------
    array
        The known pixels are those of `channel`.
    """
    xp = array_namespace(channel)
    filled = shown = fill_smoothly(channel, missing)
    if contrast is None:
        contrast = sqrt(variance(channel[~missing]))
    if contrast == 0:
        return filled
    for step in passes:
        cleaning = Cleaning(
            step.dictionary.like(channel).factors,
            step.grid,
            image_coding(step.dictionary, "refit", max(step.level * contrast, sigma)),
            wanted=missing,
        )
        total, weight = sums_over_patches(shown, cleaning, options)
        covered = weight > 0
        estimate = xp.where(covered, total / xp.where(covered, weight, xp.ones_like(weight)), channel)
        filled = xp.where(missing, estimate, channel)
        shown = estimate + _STRESS * (filled - estimate)
    return filled


def passes_needed(missing: Array) -> int:
    """From the share of missing neighbours of missing pixels: what is known spreads slowly there."""
    counts = [missing_neighbours(missing, axis) for axis in range(missing.ndim)]
    return passes_for(sum(shared for shared, _ in counts), sum(every for _, every in counts))


def missing_neighbours(missing: Array, axis: int) -> tuple[int, int]:
    """How many neighbours of missing pixels along an axis are missing too, and how many there are."""
    xp = array_namespace(missing)
    along = xp.moveaxis(xp.astype(missing, xp.int64), axis, 0)
    n_shared = 2 * int(xp.sum(along[1:, ...] * along[:-1, ...]))
    return n_shared, int(xp.sum(along[1:, ...])) + int(xp.sum(along[:-1, ...]))


def passes_for(n_shared: int, n_neighbours: int) -> int:
    """Passes for so many missing neighbours of missing pixels, among all their neighbours."""
    share = n_shared / max(n_neighbours, 1)
    low, high = _CROWDED
    return _FEWEST + round((_MOST - _FEWEST) * min(max((share - low) / (high - low), 0), 1))


def _shifted_grid(
    shape: tuple[int, ...], dictionary: SeparableDictionary, distance: float, rng: np.random.Generator
) -> PatchGrid:
    """Patches so many pixels apart, or so many patches if that is less than 1."""
    patch_shape = image_patch_shape(dictionary, tuple(shape))
    stride = max(int(distance * (min(patch_shape) if distance < 1 else 1)), 1)
    require_no_gaps(stride, patch_shape)
    return PatchGrid(shape, patch_shape, stride, rng.integers(stride, size=len(shape)).tolist())
