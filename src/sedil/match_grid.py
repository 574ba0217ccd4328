"""Where patches that are alike are sought: around each patch of a grid, a window of candidates."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from sedil.patch_grid import Box, Part, PatchGrid, Reach


class MatchGrid:
    """The patches of a grid, each with the candidates that it is compared with.

    A window has the same number of candidates everywhere: at the border of the image it is moved inwards.

    Parameters
    ----------
    grid : PatchGrid
        The patches that others are sought for.
    window : sequence of int
        Candidates along each axis; fewer where the image has fewer patches.
    part : Part, optional
        What is held of the image. Patches are left out whose candidates do not touch what is wanted of it.
    """

    def __init__(self, grid: PatchGrid, window: Sequence[int], part: Part | None = None) -> None:
        self.grid = grid
        self.window = self._fitting(window)
        if part is not None:
            self.grid = grid.within(part, self.reaches())
            self.window = self._fitting(self.window)

    def _fitting(self, window: Sequence[int]) -> tuple[int, ...]:
        sides = zip(window, self.grid.held, self.grid.patch_shape, strict=True)
        return tuple(min(length, held.stop - held.start - patch + 1) for length, held, patch in sides)

    @property
    def n_candidates(self) -> int:
        """Patches in a window, the one in its middle among them."""
        return prod(self.window)

    def begins(self, box: Box) -> Box:
        """Corners of the first candidates of the patches of a box, along each axis."""
        sides = zip(box, self.window, self.grid.held, self.grid.patch_shape, strict=True)
        return tuple(
            np.clip(corners - length // 2, 0, held.stop - held.start - patch + 1 - length)
            for corners, length, held, patch in sides
        )

    def reaches(self) -> list[Reach]:
        """The pixels of all candidates of each patch, along each axis."""
        sides = zip(self.begins(tuple(self.grid.corners)), self.window, self.grid.patch_shape, strict=True)
        return [(begins, begins + length + patch - 1) for begins, length, patch in sides]

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
