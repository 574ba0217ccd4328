"""Noise out of patches, each cleaned on its own over a dictionary: the quick way."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

from sedil.arrays import AnyArray, Array, variance
from sedil.choices import CodingMethod
from sedil.engines.contract import Cleaning
from sedil.imaging.image_dictionaries import default_votes, given_votes, plan_cleaning
from sedil.imaging.patch_averages import CleaningOptions, mean_over_patches, noise_scale
from sedil.imaging.second_pass import second_pass
from sedil.imaging.weak_noise import clean_by_cosines, count_blocks
from sedil.pretrained import DictionaryLike

# Photographs hold fine grain that no dictionary tells from noise, about this share of their contrast. A part
# of the noisy image brings it back: 0.03 dB at sigma 5, nothing from sigma 20 on (benchmarks/together.py).
_GRAIN = 0.025
_MOST_GRAIN = 0.3


class PatchDenoising(NamedTuple):
    """How the patches of channels are cleaned.

    Attributes
    ----------
    cleanings : by which dictionaries; their patches are averaged
    coding : how patches are coded
    sigma : standard deviation of the noise
    stride : distance between neighbouring patches
    cosines : share of the result that cosines make instead, from 0 to 1
    places : noise of each place in multiples of `sigma`; None where it is the same everywhere
    """

    cleanings: Sequence[Cleaning]
    coding: CodingMethod
    sigma: float
    stride: int
    cosines: float
    places: Array | None = None

    @classmethod
    def plan(
        cls,
        channel: Array,
        sigma: float,
        dictionary: DictionaryLike | None,
        coding: CodingMethod,
        threshold: float | None,
        stride: int | None,
        weakness: float,
        places: Array | None = None,
    ) -> PatchDenoising:
        """For channels like this one; see `sedil.denoise` and `sedil.imaging.weak_noise.weakness`."""
        votes = given_votes(dictionary) or default_votes(tuple(channel.shape))
        stride = stride or 1
        cleanings = [plan_cleaning(vote, channel, coding, sigma, threshold, stride) for vote in votes]
        is_default = dictionary is None and threshold is None
        return cls(cleanings, coding, sigma, stride, weakness if is_default else 0.0, places)

    def n_patches(self, n_channels: int) -> int:
        """Patches that are worked on."""
        count = 0
        if self.cosines < 1:
            count += sum(cleaning.grid.n_patches for cleaning in self.cleanings)
        if self.cosines > 0:
            count += count_blocks(self.cleanings[0].grid.image_shape, self.stride)
        return n_channels * count

    def clean(self, channels: Sequence[AnyArray], options: CleaningOptions) -> list[AnyArray]:
        """The channels without their noise, one by one."""
        return [self._clean_one(channel, options) for channel in channels]

    def _clean_one(self, channel: AnyArray, options: CleaningOptions) -> AnyArray:
        scale = noise_scale(self.places)
        even = channel / scale
        estimate = channel
        if self.cosines < 1:
            estimate = mean_over_patches(even, self.cleanings, options)
            estimate = scale * self.improved(even, estimate, variance(even), options)
        if self.cosines > 0:
            by_cosines = scale * clean_by_cosines(even, self.sigma, self.stride, options)
            estimate = self.mixed(estimate, by_cosines)
        return estimate

    def improved(
        self, channel: AnyArray, estimate: AnyArray, energy: float, options: CleaningOptions
    ) -> AnyArray:
        """What is made of the mean over cleaned patches; `energy` is the variance of the whole channel."""
        if self.coding == "l1":
            return estimate
        if channel.ndim > 2:
            estimate = second_pass(
                channel, estimate, self.sigma, options.threads, options.part, options.engine
            )
        return _with_grain(estimate, channel, energy, self.sigma)

    def mixed(self, estimate: AnyArray, by_cosines: Array) -> AnyArray:
        """With the share of what cosines have made that is wanted."""
        return estimate + self.cosines * (by_cosines - estimate)


def _with_grain(estimate: AnyArray, noisy: Array, energy: float, sigma: float) -> AnyArray:
    """Mix in as much of the noisy image, of variance `energy`, as its fine grain is worth, by variance."""
    contrast = sqrt(max(energy - sigma**2, 0.0))
    share = min((_GRAIN * contrast / sigma) ** 2, _MOST_GRAIN)
    return estimate + share * (noisy - estimate)
