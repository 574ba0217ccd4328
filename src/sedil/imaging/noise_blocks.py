"""What the flat parts of an image tell of its noise: variances of cosines in small blocks.

A block is flat if its coefficients of some frequencies are small; its noise is then read off the *others*. So
the choice of blocks does not bias what is measured, as noise in one says nothing of noise in the other.
docs/noise.md tells the method.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, prod
from typing import NamedTuple

import numpy as np
from scipy.fft import dctn

_SIDES = {1: 16, 2: 8, 3: 4, 4: 4}  # of a block, by the number of axes
SHORTEST = 4  # axis that can be measured along
_MOST_BLOCKS = 40_000
_BLOCKS_PER_BIN, _MOST_BINS = 400, 12
# Frequencies from here on, by their mean over the axes from 0 to 1, hold the least of the scene: the finer,
# the less of it, and the fewer there are to measure.
_FINE = 0.7
_BANDS = (_FINE, 0.8, 0.87)
_FINE_OF_JPEG = 0.4
# Share of pixels at an end of the range, and their number, from which on they are taken for clipped.
_CLIPPED, _FEWEST_CLIPPED = 1e-3, 4
# Shares of all blocks, and of those of a bin, that may be taken for flat, and their least number.
_SHARES, _FEWEST = (0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32), 100
_SHARES_IN_BIN, _FEWEST_IN_BIN = _SHARES[2:], 40
_FLAT_OF_JPEG, _FLAT_IN_BIN = 0.03, 0.08
# How much a variance counts for more than it is, in multiples of what chance leaves: so much that few
# coefficients are not taken because chance made them small. Chosen on training pictures.
_CAUTION = 3.0
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
    side, step : of a block along an axis, by mean, and from one to the next
    n_axes : of the image, without channels
    """

    coefficients: np.ndarray
    brightness: np.ndarray
    frequency: np.ndarray
    at_next: np.ndarray
    is_odd: np.ndarray
    side: float
    step: int
    n_axes: int

    def apart(self, numbers: np.ndarray) -> np.ndarray:
        """How many blocks side by side cover as much as so many that overlap, if all lie in one place."""
        widths = numbers ** (1 / self.n_axes) * self.step + (self.side - self.step)
        return np.minimum((widths / self.side) ** self.n_axes, numbers)


class Bin(NamedTuple):
    """Flat blocks of about one brightness.

    Attributes
    ----------
    brightness : (channels,)
    fine : (channels,), variance of noise at fine frequencies
    chance : (channels,), share by which chance may make that wrong
    spectrum : (frequencies, channels, channels), covariance of noise at each
    """

    brightness: np.ndarray
    fine: np.ndarray
    chance: np.ndarray
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
    is_odd = steps.sum(axis=0) % 2 == 1
    side = prod(block) ** (1 / len(block))
    return Blocks(coefficients, brightness, frequency, at_next, is_odd, side, step, len(block))


def _ends(channels: np.ndarray) -> tuple[list[float], list[float]]:
    """The ends of the range of each channel where many pixels are; else what no pixel reaches."""
    lows, highs = [], []
    for channel in channels:
        low, high = float(channel.min()), float(channel.max())
        many = max(_CLIPPED * channel.size, _FEWEST_CLIPPED)
        lows.append(low if np.count_nonzero(channel == low) > many else -np.inf)
        highs.append(high if np.count_nonzero(channel == high) > many else np.inf)
    return lows, highs


def detail_of_scene(blocks: Blocks) -> np.ndarray:
    """(n,), how much each block holds below the fine frequencies: the less, the flatter."""
    return _detail(blocks, blocks.frequency < _FINE)


def fine_noise(blocks: Blocks, detail: np.ndarray) -> tuple[np.ndarray, float]:
    """Variance of the noise of each channel at fine frequencies, and the share by which it may be wrong.

    That is what chance leaves, and what twice as many blocks would add: the scene, if they are not flat.
    """
    table = _Table.of(blocks, np.argsort(detail), _BANDS, _numbers(_SHARES, _FEWEST, len(detail)))
    chosen = table.least()
    return table.variances[*chosen, _every(chosen)], table.doubt(chosen)


def fine_noise_of_jpeg(blocks: Blocks) -> tuple[np.ndarray, float]:
    """The same of JPEG, which rounds the finest frequencies most: so coarser ones are looked at too.

    Blocks with the least detail are those that it has emptied, and are not looked for.
    """
    detail = _detail(blocks, blocks.frequency < _FINE_OF_JPEG)
    shares = (_FLAT_OF_JPEG, 2 * _FLAT_OF_JPEG)
    numbers = _numbers(shares, _FEWEST_IN_BIN, len(detail))
    table = _Table.of(blocks, np.argsort(detail), (_FINE_OF_JPEG,), numbers)
    return table.variances[0, 0], table.doubt(np.zeros((2, table.variances.shape[-1]), int))


def measure_bins(blocks: Blocks, detail: np.ndarray, is_jpeg: bool = False) -> list[Bin]:
    """The noise by brightness, from dark to bright."""
    bands, shares = ((_FINE,), (_FLAT_IN_BIN,)) if is_jpeg else (_BANDS, _SHARES_IN_BIN)
    luminance = blocks.brightness.mean(axis=1)
    n_bins = int(np.clip(len(luminance) // _BLOCKS_PER_BIN, 1, _MOST_BINS))
    inner = np.quantile(luminance, np.linspace(0, 1, n_bins + 1)[1:-1])
    numbers = np.searchsorted(inner, luminance, side="right")
    details_of_halves = [_detail(blocks, judged) for judged in (~blocks.is_odd, blocks.is_odd)]
    found = []
    for number in np.unique(numbers):
        among = np.flatnonzero(numbers == number)
        order = among[np.argsort(detail[among])]
        table = _Table.of(blocks, order, bands, _numbers(shares, _FEWEST_IN_BIN, len(among)))
        chosen = table.least()
        halves = (_flattest(each, among, _FLAT_IN_BIN) for each in details_of_halves)
        found.append(
            Bin(
                table.brightness[chosen[1], _every(chosen)],
                table.variances[*chosen, _every(chosen)],
                table.chances[*chosen],
                _spectrum(blocks, *halves),
            )
        )
    return found


class _Table(NamedTuple):
    """What blocks tell of their noise, by the finest frequencies that are looked at and the number of blocks.

    A scene only adds to noise: less where blocks are flatter and frequencies finer. But the fewer there are
    of them, the more is left to chance.

    Attributes
    ----------
    variances : (bands, numbers, channels)
    chances : (bands, numbers), share by which chance may make a variance wrong
    brightness : (numbers, channels), mean of the blocks
    """

    variances: np.ndarray
    chances: np.ndarray
    brightness: np.ndarray

    @classmethod
    def of(cls, blocks: Blocks, order: np.ndarray, bands: Sequence[float], numbers: np.ndarray) -> _Table:
        """Of the first of some blocks, the flattest first."""
        order = order[: numbers[-1]]
        fine = blocks.frequency >= min(bands)
        squares = blocks.coefficients[order][:, fine] ** 2
        variances, counts = [], []
        for band in bands:
            measured = blocks.frequency[fine] >= band
            variances.append(_means_of_first(np.mean(squares[:, measured], axis=1), numbers))
            counts.append(blocks.apart(numbers) * np.count_nonzero(measured))
        chances = np.sqrt(2 / np.array(counts))
        return cls(np.array(variances), chances, _means_of_first(blocks.brightness[order], numbers))

    def least(self) -> np.ndarray:
        """(2, channels), band and number with the least variance, if chance is reckoned with."""
        most = self.variances * (1 + _CAUTION * self.chances)[..., None]
        least = np.argmin(most.reshape(-1, most.shape[-1]), axis=0)
        return np.array(np.unravel_index(least, self.chances.shape))

    def doubt(self, chosen: np.ndarray) -> float:
        """Share by which chosen variances may be wrong: by chance, or by what more blocks would add."""
        bands, numbers = chosen
        following = np.minimum(numbers + 1, self.variances.shape[1] - 1)
        found, beside = (
            np.mean(self.variances[bands, each, _every(chosen)]) for each in (numbers, following)
        )
        chance = np.mean(self.chances[*chosen]) / np.sqrt(len(bands))
        return float(np.hypot(chance, beside / max(found, _TINY) - 1))


def _every(chosen: np.ndarray) -> np.ndarray:
    """The numbers of all channels."""
    return np.arange(chosen.shape[1])


def _numbers(shares: Sequence[float], fewest: int, n_blocks: int) -> np.ndarray:
    """How many of some blocks shares of them are, from few to many."""
    return np.unique([min(max(int(share * n_blocks), fewest), n_blocks) for share in shares])


def _means_of_first(values: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Of the first so many of (n, channels)."""
    means: np.ndarray = np.cumsum(values, axis=0)[numbers - 1] / numbers[:, None]
    return means


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
    (count,) = _numbers((share,), _FEWEST_IN_BIN, len(among))
    return among[np.argpartition(detail[among], count - 1)[:count]]
