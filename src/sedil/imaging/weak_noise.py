"""What the quick method does where noise is weak: two passes of cosines in place of sparse codes.

The weaker the noise, the more atoms a patch needs to be told from it: at sigma 1 most patches of a photograph
take more than a third as many as they have entries, and finding them takes ten to twenty times as long as at
sigma 20. They also have less and less to give. Orthonormal cosines take the same time at any sigma: first
those that are larger than the noise are kept, then each is weighed by how much larger it is in that first
result. From sigma 5 of 255 grey levels down that is 0.03 to 0.1 dB better than sparse codes on photographs
(of 95 cases one is 0.05 dB worse, the others at most 0.01), 0.1 to 6 dB on text and flat shapes, and takes
about a third of the time of sigma 20. From sigma 10 to 7 both are alike on photographs (mean 0.00 to 0.03 dB
in favour of cosines, at worst 0.07 against), and a drawing of flat shapes loses 0.1 to 0.4 dB; but sparse
codes take up to 3.6 times as long as at sigma 20 (results/weak-noise.csv, by benchmarks/weak_noise.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any

from array_api_compat import array_namespace

from sedil.arrays import AnyArray, Array, largest_size
from sedil.imaging.cosine_blocks import Shares, sums_over_blocks
from sedil.imaging.patch_averages import CleaningOptions
from sedil.patch_grid import PatchGrid

WEAKEST = 2.0**-50  # noise, of pixels that reach 2**-30 at least: its square is nothing to float32
# Range of the noisy image in units of sigma, from which on noise begins to be weak, and is weak. The range is
# six to ten sigma wider than that of the clean image: 255 grey levels with noise of ten have 31 to 34.
# Between the two, both results are mixed: what comes out never jumps as sigma changes. The three axes of a
# volume need fewer atoms, and sparse codes are better there for longer.
_LIMITS_OF_PICTURES, _LIMITS = (30.0, 31.5), (36.0, 38.0)
_WEAK_FOR_GROUPS = 38.0
# What the first pass keeps, in sigma, and what the second takes for noise in its result, in sigma squared.
# Faces lose 0.1 dB at sigma 3 with 2.45 and 1.25, fingerprints 0.05 at sigma 7 with 2.25 and 1.4.
_THRESHOLD, _CAUTION = 2.25, 1.6

_Sizes = dict[int, tuple[tuple[int, int], ...]]
# Sides of blocks of both passes, and how many strides they are apart, for two axes and for three. Large
# blocks tell waves and smooth regions from noise, small ones keep edges apart from what lies beside them.
_FIRST: _Sizes = {2: ((8, 1), (12, 2)), 3: ((4, 1), (8, 3))}
_SECOND: _Sizes = {2: ((4, 1), (10, 1)), 3: ((4, 1),)}


def weakness(spread: float, sigma: float, n_axes: int) -> float:
    """0 where noise is as strong as sparse codes are made for, 1 where it is weak, and between.

    `spread` is the range of the noisy image, and `n_axes` counts axes without channels.
    """
    ordinary, weak = _LIMITS_OF_PICTURES if n_axes == 2 else _LIMITS
    if spread >= weak * sigma:
        return 1.0
    return max((spread / sigma - ordinary) / (weak - ordinary), 0.0)


def is_weak_for_groups(spread: float, sigma: float) -> bool:
    """Whether the noisy image itself shows which patches are alike."""
    return spread >= _WEAK_FOR_GROUPS * sigma


def count_blocks(shape: tuple[int, ...], stride: int) -> int:
    """Number of blocks that `clean_by_cosines` works on."""
    return sum(grid.n_patches for sizes in (_FIRST, _SECOND) for grid in _grids(sizes, shape, stride))


def clean_by_cosines(noisy: AnyArray, sigma: float, stride: int, options: CleaningOptions) -> AnyArray:
    """An image or volume without its noise, which is weak against its range."""
    sigma = least_noise(sigma, largest_size(noisy), noisy)
    guide = first_cosines(noisy, sigma, stride, options)
    return second_cosines(noisy, guide, sigma, stride, options)


def least_noise(sigma: float, largest: float, like: Array) -> float:
    """Noise that can be told from the precision of such numbers, of which `largest` is the largest size."""
    return max(sigma, largest * float(array_namespace(like).finfo(like.dtype).eps))


def first_cosines(noisy: AnyArray, sigma: float, stride: int, options: CleaningOptions) -> AnyArray:
    """The first of the two passes: what is larger than the noise."""
    grids = first_grids(options.whole(noisy.shape), stride)
    return _mean_over_blocks(noisy, noisy, grids, partial(_large, _THRESHOLD * sigma), options)


def second_cosines(
    noisy: AnyArray, guide: AnyArray, sigma: float, stride: int, options: CleaningOptions
) -> AnyArray:
    """The second, steered by the first."""
    grids = second_grids(options.whole(noisy.shape), stride)
    return _mean_over_blocks(noisy, guide, grids, partial(_certain, sigma), options)


def first_grids(shape: tuple[int, ...], stride: int) -> list[PatchGrid]:
    """Where the blocks of the first pass lie."""
    return _grids(_FIRST, shape, stride)


def second_grids(shape: tuple[int, ...], stride: int) -> list[PatchGrid]:
    """Where those of the second lie."""
    return _grids(_SECOND, shape, stride)


def _grids(sizes: _Sizes, shape: tuple[int, ...], stride: int) -> list[PatchGrid]:
    """Where the blocks of one pass lie."""
    grids = []
    for side, strides in sizes[len(shape)]:
        block = [min(side, length) for length in shape]
        grids.append(PatchGrid(shape, block, min(strides * stride, *block)))
    return grids


def _mean_over_blocks(
    noisy: AnyArray, guide: AnyArray, grids: Sequence[PatchGrid], shares: Shares, options: CleaningOptions
) -> AnyArray:
    """Weighted mean of filtered blocks of all sizes."""
    xp = array_namespace(noisy)
    total, weight = xp.zeros_like(noisy), xp.zeros_like(noisy)
    for grid in (each.within(options.part) for each in grids):
        sums = sums_over_blocks(
            noisy, guide, grid, shares, options.threads, options.counter.add, options.engine
        )
        density = prod(grid.strides)  # each stands for neighbours left out
        total += density * sums[0]
        weight += density * sums[1]
    return total / weight


def _large(threshold: float, frequencies: Array) -> Any:
    """All of what is larger than the threshold, nothing of the rest."""
    xp = array_namespace(frequencies)
    return _with_mean(xp.astype(xp.abs(frequencies) > threshold, frequencies.dtype))


def _certain(sigma: float, frequencies: Array) -> Any:
    """The share of signal: a Wiener filter, in units of sigma, as the square of a small sigma is zero."""
    xp = array_namespace(frequencies)
    signal = xp.square(frequencies / sigma)
    return _with_mean(signal / (signal + _CAUTION))


def _with_mean(shares: Any) -> Any:
    """The mean of a block is kept, whatever it is: an image may lie at any level."""
    shares[:, 0] = 1
    return shares
