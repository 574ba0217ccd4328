"""Where patches that are alike are sought: around each patch of a grid, a window of candidates."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from sedil.patch_grid import Box, PatchGrid


class MatchGrid:
    """The patches of a grid, each with the candidates that it is compared with.

    A window has the same number of candidates everywhere: at the border of the image it is moved inwards.

    Parameters
    ----------
    grid : PatchGrid
        The patches that others are sought for.
    window : sequence of int
        Candidates along each axis; fewer where the image has fewer patches.
    """

    def __init__(self, grid: PatchGrid, window: Sequence[int]) -> None:
        self.grid = grid
        sides = zip(window, grid.image_shape, grid.patch_shape, strict=True)
        self.window = tuple(min(length, side - patch + 1) for length, side, patch in sides)

    @property
    def n_candidates(self) -> int:
        """Patches in a window, the one in its middle among them."""
        return prod(self.window)

    def begins(self, box: Box) -> Box:
        """Corners of the first candidates of the patches of a box, along each axis."""
        sides = zip(box, self.window, self.grid.image_shape, self.grid.patch_shape, strict=True)
        return tuple(
            np.clip(corners - length // 2, 0, side - patch + 1 - length)
            for corners, length, side, patch in sides
        )

    def reach(self, box: Box) -> tuple[slice, ...]:
        """The part of the image that the candidates of a box cover."""
        sides = zip(self.begins(box), self.window, self.grid.patch_shape, strict=True)
        return tuple(
            slice(int(begins[0]), int(begins[-1]) + length + patch - 1) for begins, length, patch in sides
        )

    def flat_indices(self, box: Box) -> tuple[np.ndarray, np.ndarray]:
        """Where each patch of a box, and its first candidate, begin in the flat `reach` of the box, (n,)."""
        reach = self.reach(box)
        shape = [part.stop - part.start for part in reach]
        patches, candidates = (
            np.ravel_multi_index(
                np.ix_(*(at - part.start for at, part in zip(corners, reach, strict=True))), shape
            ).ravel()
            for corners in (box, self.begins(box))
        )
        return patches, candidates
