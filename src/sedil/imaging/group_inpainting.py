"""Missing pixels from groups of alike patches: clean, put the known pixels back, again and again.

The level of noise that is taken away falls from pass to pass, as if what is filled in were less and less
noisy. docs/groups.md tells the method in the words of the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
from array_api_compat import array_namespace

from sedil.arrays import AnyArray, Array, variance
from sedil.imaging.groups import GroupSettings, find_groups, mean_over_groups, patch_means
from sedil.imaging.patch_averages import CleaningOptions
from sedil.patch_grid import PatchGrid

# Chosen on photographs that are not among the test images (docs/groups.md).
LEVELS = 0.3, 0.035  # of noise in the first and the last pass, in standard deviations of the known pixels
_MATCH_EVERY = 8  # passes with the same groups
# Many passes with few groups are better than few with many: patches lie side by side until the last passes.
_FINE_PASSES = 4


class GroupFilling(NamedTuple):
    """How groups of patches through all channels are filled.

    Attributes
    ----------
    image_shape : tuple of int, of a channel
    settings : GroupSettings, those of the last passes
    first_strides : distance of patches in the passes before
    """

    image_shape: tuple[int, ...]
    settings: GroupSettings
    first_strides: tuple[int, ...]

    @classmethod
    def plan(
        cls, image_shape: Sequence[int], settings: GroupSettings, n_passes: int, stride: int | None
    ) -> GroupFilling:
        """In so many passes; `stride` is what the caller wants for all of them."""
        first_strides = settings.patch_shape if stride is None else settings.strides
        return cls(tuple(image_shape), settings._replace(n_passes=n_passes), first_strides)

    @property
    def n_patches(self) -> int:
        """Patches that are worked on, those that groups are sought for among them."""
        count = 0
        for number in range(self.settings.n_passes):
            grid = PatchGrid(self.image_shape, self.settings.patch_shape, self._strides(number))
            count += (1 + self._matches_anew(number)) * grid.n_patches
        return count

    def _strides(self, number: int) -> tuple[int, ...]:
        """The distance of patches in pass `number`."""
        return self.settings.strides if number >= self._first_fine else self.first_strides

    def _matches_anew(self, number: int) -> bool:
        """Whether pass `number` seeks groups of its own."""
        return number % _MATCH_EVERY == 0 or number == self._first_fine

    @property
    def _first_fine(self) -> int:
        return self.settings.n_passes - _FINE_PASSES

    def fill(
        self,
        channels: Sequence[AnyArray],
        masks: Sequence[Array],
        guess: Sequence[AnyArray],
        sigma: float,
        options: CleaningOptions,
        places: Array | None = None,
        contrast: float | None = None,
    ) -> list[AnyArray]:
        """Fill the missing pixels of channels with what their groups have in common. Paper: Eq. (35).

        Parameters
        ----------
        channels : sequence of arrays
            Finite, also at missing pixels.
        masks : sequence of boolean arrays, True where pixels are missing
        guess : sequence of arrays, a first filling
        sigma : float
            Noise of the known pixels: no pass removes less.
        options : CleaningOptions
        places : array, optional
            The noise of each place in multiples of `sigma`.
        contrast : float, optional
            Standard deviation of the known pixels; of the whole image, if `channels` are parts of one.

        Returns
        -------
        list of arrays
            The known pixels are those of `channels`.
        """
        xp = array_namespace(channels[0])
        known, missing, filled = map(xp.stack, (list(channels), list(masks), list(guess)))
        if contrast is None:
            contrast = sqrt(variance(known[~missing]))
        wanted = xp.any(missing, axis=0)
        own = sigma**2 * xp.ones_like(known[0, ...])
        if places is not None:
            own = patch_means(own * places**2, self.settings.patch_shape)
        for number, level in enumerate(np.geomspace(*LEVELS, self.settings.n_passes).tolist()):
            if self._matches_anew(number):
                settings = self.settings._replace(strides=self._strides(number))
                groups = find_groups(filled, settings, options, wanted)
            noise = xp.clip(own, min=(level * contrast) ** 2)
            estimate = mean_over_groups(filled, groups, noise, self.settings.shrinkage, options)
            filled = xp.where(missing, estimate, known)
        return [filled[k, ...] for k in range(filled.shape[0])]
