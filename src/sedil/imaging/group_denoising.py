"""Noise out of groups of alike patches, in passes that feed a part of the removed noise back.

docs/groups.md tells the method in the words of the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from array_api_compat import array_namespace

from sedil.arrays import AnyArray, Array
from sedil.engines.contract import Cleaning
from sedil.imaging.group_guide import Guide, plan_guide
from sedil.imaging.groups import GroupSettings, find_groups, group_settings, mean_over_groups, patch_means
from sedil.imaging.lost_contrast import patches_of_contrast, with_contrast
from sedil.imaging.patch_averages import CleaningOptions, mean_over_patches, noise_scale
from sedil.patch_grid import PatchGrid
from sedil.pretrained import DictionaryLike

# Chosen on photographs that are not among the test images (docs/groups.md).
_FEEDBACK = 0.15  # share of what was removed that the next pass gets back
_FIRST_LEVEL = 1.2  # of the first pass, in standard deviations of the noise
_LEFT = 0.58  # of the noise that is left after a pass: neighbours share it, so that groups average less


class GroupDenoising(NamedTuple):
    """How groups of patches through all channels are cleaned.

    Attributes
    ----------
    image_shape : tuple of int, of a channel
    settings : GroupSettings
    guide : how the first guess is made in which alike patches are sought
    sigma : standard deviation of the noise
    places : that of each place in multiples of `sigma`; None where it is the same everywhere
    luminance : how the first of three channels is cleaned once more, by groups of its own
    contrast : shape of patches by which lost contrast is given back; None where it is left as it is
    """

    image_shape: tuple[int, ...]
    settings: GroupSettings
    guide: Guide
    sigma: float
    places: Array | None = None
    luminance: GroupDenoising | None = None
    contrast: tuple[int, ...] | None = None

    @classmethod
    def plan(
        cls,
        channels: Sequence[Array],
        sigma: float,
        dictionary: DictionaryLike | None,
        stride: int | None,
        time_axis: int | None,
        is_weak: bool,
        places: Array | None = None,
    ) -> GroupDenoising:
        """For these channels; see `sedil.denoise`."""
        shape = tuple(channels[0].shape)
        settings = group_settings(shape, len(channels), stride, time_axis)
        guide = plan_guide(channels[0], sigma, dictionary, is_weak)
        alone = None
        if len(channels) == 3:  # the guess is that of all channels
            alone = cls(shape, group_settings(shape, 1, stride, time_axis), "noisy", sigma, places)
        # Of grey and luminance alone: colours have hardly any texture. Frames of a clip have lost none.
        has_lost = len(channels) in (1, 3) and time_axis is None
        contrast = patches_of_contrast(shape) if has_lost else None
        return cls(shape, settings, guide, sigma, places, alone, contrast)

    def n_patches(self, n_channels: int) -> int:
        """Patches that are worked on, those that groups are sought for among them."""
        grid = PatchGrid(self.image_shape, self.settings.patch_shape, self.settings.strides)
        count = 2 * self.settings.n_passes * grid.n_patches
        if self.guide == "groups":
            count += 2 * grid.n_patches
        elif isinstance(self.guide, Cleaning):
            count += n_channels * self.guide.grid.n_patches
        return count + (self.luminance.n_patches(0) if self.luminance else 0)

    def clean(self, channels: Sequence[AnyArray], options: CleaningOptions) -> list[AnyArray]:
        """The channels without their noise.

        Together they tell what the colours are, and luminance alone is better by groups of its own where
        noise is strong: of the two estimates of it the mean is better than either.
        """
        xp = array_namespace(channels[0])
        noisy = xp.stack(list(channels))
        guess = self.guess(noisy, options)
        estimate = self._clean_in_passes(noisy, guess, options)
        cleaned = [estimate[k, ...] for k in range(len(channels))]
        if self.luminance is not None:
            alone = self.luminance._clean_in_passes(noisy[:1, ...], guess[:1, ...], options)
            cleaned[0] = (cleaned[0] + alone[0, ...]) / 2
        cleaned[0] = self.with_contrast(cleaned[0])
        return cleaned

    def with_contrast(self, clean: AnyArray) -> AnyArray:
        """Grey or luminance with the contrast that it has lost."""
        if self.contrast is None:
            return clean
        noise = self.sigma**2 if self.places is None else (self.sigma * self.places) ** 2
        return with_contrast(clean, noise, self.contrast)

    def _clean_in_passes(self, noisy: AnyArray, estimate: AnyArray, options: CleaningOptions) -> AnyArray:
        """Channels without their noise, all together; `estimate` is a first guess."""
        for number in range(self.settings.n_passes):
            estimate = self.one_pass(number, noisy, estimate, options)
        return estimate

    def one_pass(
        self, number: int, noisy: AnyArray, estimate: AnyArray, options: CleaningOptions
    ) -> AnyArray:
        """The estimate after pass `number`; groups are sought in the one before it."""
        groups = find_groups(estimate, self.settings, options)
        if number == 0:
            shown, noise = noisy, self._noise_at_first(noisy)
        else:
            shown = estimate + _FEEDBACK * (noisy - estimate)
            noise = self._noise_left(noisy, shown)
        estimate = mean_over_groups(shown, groups, noise, self.settings.shrinkage, options)
        if self.places is not None:  # what has no noise is what it is
            estimate = array_namespace(noisy).where(self.places > 0, estimate, noisy)
        return estimate

    def guess(self, noisy: AnyArray, options: CleaningOptions) -> AnyArray:
        """The first guess, in which alike patches are sought."""
        xp = array_namespace(noisy)
        if self.guide == "noisy":
            return noisy
        if self.guide == "groups":
            groups = find_groups(noisy, self.settings, options)
            noise = self._noise_at_first(noisy)
            return mean_over_groups(noisy, groups, noise, self.settings.shrinkage, options)
        scale = noise_scale(self.places)
        even = noisy / scale
        return scale * xp.stack(
            [mean_over_patches(even[k, ...], [self.guide], options) for k in range(noisy.shape[0])]
        )

    def _noise_at_first(self, noisy: AnyArray) -> AnyArray:
        return _FIRST_LEVEL**2 * self._variance(noisy)

    def _noise_left(self, noisy: Array, shown: AnyArray) -> AnyArray:
        """Variance of the noise in each patch of `shown`: what was there, less what was taken away."""
        xp = array_namespace(shown)
        taken = patch_means(xp.mean((noisy - shown) ** 2, axis=0), self.settings.patch_shape)
        return _LEFT**2 * xp.abs(self._variance(shown) - taken)

    def _variance(self, image: AnyArray) -> AnyArray:
        """Of the noise in the patch that begins at each pixel."""
        if self.places is None:
            return array_namespace(image).full_like(image[0, ...], self.sigma**2)
        return self.sigma**2 * patch_means(self.places**2, self.settings.patch_shape)
