"""What the flat parts of an image tell of its noise: variances of cosines in small blocks.

A block is flat if its coefficients of some frequencies are small; its noise is then read off the *others*. So
the choice of blocks does not bias what is measured, as noise in one says nothing of noise in the other.
docs/noise.md tells the method.
"""

from __future__ import annotations

from math import ceil, prod
from typing import NamedTuple

import numpy as np
from scipy.fft import dctn

_SIDES = {1: 16, 2: 8, 3: 4, 4: 4}  # of a block, by the number of axes
SHORTEST = 4  # axis that can be measured along
_MOST_BLOCKS = 40_000
_BLOCKS_PER_BIN, _MOST_BINS = 400, 12
_FINE = 0.7  # frequencies from here on, by their mean over the axes from 0 to 1, hold the least of the scene
_FINE_OF_JPEG = 0.4
_JPEG_SIDE, _MORE_ZEROS, _LARGE_STEP = 8, 0.15, 15
_CLIPPED = 1e-3  # share of pixels at an end of the range from which on they are taken for clipped
_FLAT, _FEWEST = 0.03, 40  # share of all blocks that is taken for flat, and their least number
_FLAT_IN_BIN = 0.08
_ROUNDING = 1e-9  # of the largest value
_TINY = 1e-200
_SAMPLE = 4000  # blocks that tell what is usual


class Blocks(NamedTuple):
    """Squares and products of coefficients are what is asked of it.

    Attributes
    ----------
    coefficients : (n, frequencies, channels), the mean of a block first
    brightness : (n, channels), mean of each block
    frequency : (frequencies,), mean over the axes, from 0 to 1
    at_next : (frequencies,), correlation of neighbours that each has, mean over the axes
    is_odd : (frequencies,), whether the steps along all axes sum up to an odd number: two sets of one kind
    """

    coefficients: np.ndarray
    brightness: np.ndarray
    frequency: np.ndarray
    at_next: np.ndarray
    is_odd: np.ndarray


class Bin(NamedTuple):
    """Flat blocks of about one brightness.

    Attributes
    ----------
    brightness : (channels,)
    fine : (channels,), variance of noise at fine frequencies
    spectrum : (frequencies, channels, channels), covariance of noise at each
    """

    brightness: np.ndarray
    fine: np.ndarray
    spectrum: np.ndarray


def read_blocks(channels: np.ndarray, counts: bool = False) -> Blocks:
    """Blocks of an image (channels, *shape), but for those without noise to show: saturated or even ones.

    The lowest of `counts` is no end where they were clipped: a pixel without a photon is as good as any.
    """
    shape = channels.shape[1:]
    block = tuple(min(_SIDES[len(shape)], side) for side in shape)
    most = _MOST_BLOCKS * 3 // max(len(channels), 3)  # as much memory for many channels as for three
    step = max(ceil((prod(shape) / most) ** (1 / len(shape))), 1 + (len(shape) < 3))
    every = (slice(None), *(slice(None, None, step),) * len(shape))
    axes = tuple(range(-len(shape), 0))
    windows = np.lib.stride_tricks.sliding_window_view(channels, block, axis=axes)[every]
    usable = np.ones(windows.shape[1 : 1 + len(shape)], bool)
    for low, high, own in zip(*_ends(channels), windows, strict=True):
        usable &= ~np.any((own <= (-np.inf if counts else low)) | (own >= high), axis=axes)
    blocks = np.moveaxis(windows[:, usable], 0, -1)
    coefficients = dctn(blocks, axes=tuple(range(1, blocks.ndim - 1)), norm="ortho")
    coefficients = coefficients.reshape(len(blocks), prod(block), len(channels))
    alive = np.sum(coefficients[:, 1:] ** 2, axis=1) > (_ROUNDING * np.abs(channels).max()) ** 2
    coefficients = coefficients[np.all(alive, axis=1)]
    steps = np.indices(block).reshape(len(block), -1)
    frequency = np.mean(steps / (np.array(block)[:, None] - 1), axis=0)
    brightness = coefficients[:, 0] / np.sqrt(prod(block))
    at_next = np.mean(np.cos(np.pi * steps / np.array(block)[:, None]), axis=0)
    return Blocks(coefficients, brightness, frequency, at_next, steps.sum(axis=0) % 2 == 1)


def _ends(channels: np.ndarray) -> tuple[list[float], list[float]]:
    """The ends of the range of each channel where many pixels are; else what no pixel reaches."""
    lows, highs = [], []
    for channel in channels:
        low, high = float(channel.min()), float(channel.max())
        lows.append(low if np.mean(channel == low) > _CLIPPED else -np.inf)
        highs.append(high if np.mean(channel == high) > _CLIPPED else np.inf)
    return lows, highs


def was_coarse_jpeg(picture: np.ndarray) -> bool:
    """Whether a grey picture of bytes was stored as JPEG that rounds much: at quality 90 or less.

    Fine cosines of its blocks are 0 more often than those of blocks elsewhere, and else large.
    """
    if min(picture.shape) < 2 * _JPEG_SIDE:
        return False
    own, elsewhere = (_fine_cosines(picture[start:, start:]) for start in (0, _JPEG_SIDE // 2))
    if not own.size or not elsewhere.size:
        return False
    others = own[own >= 1]
    steps_are_large = not len(others) or np.quantile(others, 0.3) > _LARGE_STEP
    return bool(np.mean(own < 1) - np.mean(elsewhere < 1) > _MORE_ZEROS and steps_are_large)


def _fine_cosines(picture: np.ndarray) -> np.ndarray:
    """Sizes of those of blocks side by side; below 1 they may be what rounding of pixels made of 0."""
    rows, columns = (length // _JPEG_SIDE for length in picture.shape)
    blocks = picture[: rows * _JPEG_SIDE, : columns * _JPEG_SIDE].astype(np.float64)
    blocks = blocks.reshape(rows, _JPEG_SIDE, columns, _JPEG_SIDE).swapaxes(1, 2)
    blocks = blocks[(blocks.min(axis=(2, 3)) > 0) & (blocks.max(axis=(2, 3)) < 255)]  # others were clipped
    fine = np.indices((_JPEG_SIDE, _JPEG_SIDE)).sum(axis=0) > _JPEG_SIDE
    return np.abs(dctn(blocks, axes=(1, 2), norm="ortho")[:, fine])


def fine_noise(blocks: Blocks, is_jpeg: bool = False) -> tuple[np.ndarray, float]:
    """Variance of the noise of each channel at fine frequencies, and the share by which it may be wrong.

    That is what chance leaves, and what twice as many blocks would add: the scene, if they are not flat. JPEG
    rounds the finest frequencies most: there coarser ones are looked at too.
    """
    fine = blocks.frequency >= (_FINE_OF_JPEG if is_jpeg else _FINE)
    everywhere = np.arange(len(blocks.coefficients))
    detail = _detail(blocks, ~fine)
    flat, more = (_flattest(detail, everywhere, share) for share in (_FLAT, 2 * _FLAT))
    found, beside = (_squares(blocks, each, fine) for each in (flat, more))
    chance = np.sqrt(2 / (len(flat) * np.count_nonzero(fine) * len(found)))
    growth = np.mean(beside) / max(np.mean(found), _TINY) - 1
    return found, float(np.hypot(chance, growth))


def measure_bins(blocks: Blocks) -> list[Bin]:
    """The noise by brightness, from dark to bright."""
    luminance = blocks.brightness.mean(axis=1)
    n_bins = int(np.clip(len(luminance) // _BLOCKS_PER_BIN, 1, _MOST_BINS))
    inner = np.quantile(luminance, np.linspace(0, 1, n_bins + 1)[1:-1])
    numbers = np.searchsorted(inner, luminance, side="right")
    fine = blocks.frequency >= _FINE
    details = [_detail(blocks, judged) for judged in (~fine, ~blocks.is_odd, blocks.is_odd)]
    found = []
    for number in np.unique(numbers):
        among = np.flatnonzero(numbers == number)
        flat, *halves = (_flattest(detail, among, _FLAT_IN_BIN) for detail in details)
        brightness = blocks.brightness[flat].mean(axis=0)
        found.append(Bin(brightness, _squares(blocks, flat, fine), _spectrum(blocks, *halves)))
    return found


def _spectrum(blocks: Blocks, for_odd: np.ndarray, for_even: np.ndarray) -> np.ndarray:
    """Covariance of the channels at each frequency, of flat blocks for either half of the frequencies."""
    n_frequencies, n_channels = blocks.coefficients.shape[1:]
    spectrum = np.zeros((n_frequencies, n_channels, n_channels))
    for flat, measured in ((for_odd, blocks.is_odd), (for_even, ~blocks.is_odd)):
        found = blocks.coefficients[flat][:, measured]
        spectrum[measured] = np.einsum("nka,nkb->kab", found, found) / len(flat)
    lowest = blocks.frequency == np.min(blocks.frequency[1:])
    spectrum[0] = spectrum[lowest].mean(axis=0)  # means of blocks are the scene's
    return spectrum


def _squares(blocks: Blocks, some: np.ndarray, frequencies: np.ndarray) -> np.ndarray:
    """Mean over some blocks and frequencies."""
    mean: np.ndarray = np.mean(blocks.coefficients[some][:, frequencies] ** 2, axis=(0, 1))
    return mean


def _detail(blocks: Blocks, judged: np.ndarray) -> np.ndarray:
    """How much each block holds at some frequencies beside others: all of these count alike."""
    judged = judged & (np.arange(len(judged)) > 0)
    energy = blocks.coefficients[:, judged] ** 2
    usual = np.median(energy[:: max(len(energy) // _SAMPLE, 1)], axis=0)
    usual = np.maximum(usual, np.mean(usual) * _ROUNDING + _TINY)  # JPEG leaves some with nothing
    detail: np.ndarray = np.tensordot(energy, 1 / usual, axes=2)
    return detail


def _flattest(detail: np.ndarray, among: np.ndarray, share: float) -> np.ndarray:
    """Those of some blocks that hold the least detail."""
    count = min(max(int(share * len(among)), _FEWEST), len(among))
    return among[np.argpartition(detail[among], count - 1)[:count]]
