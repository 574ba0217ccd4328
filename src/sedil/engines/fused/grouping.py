"""Groups of alike patches by kernels: matching, and cleaning, of a box of patches at a time."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt

import numpy as np

from sedil.arrays import window_sums
from sedil.engines.contract import BoxPlan, BoxSums, Groups, Shrinkage
from sedil.engines.fused.kernels.compilation import announced
from sedil.engines.fused.kernels.matching import Windows, distance_rows, find_nearest
from sedil.engines.fused.kernels.shrinking import GroupBox, GroupMemory, clean_each_group
from sedil.engines.fused.kernels.vectors import LANES
from sedil.engines.threads import thread_count
from sedil.match_grid import MatchGrid
from sedil.patch_grid import Box, flat_offsets

# Groups of a box: more of them share its border, fewer keep all threads busy.
_GROUPS_PER_BOX = 1024


def plan_groups(threads: int | None) -> BoxPlan:
    """Boxes that do not depend on the number of threads, so that neither does the result."""
    return BoxPlan(_GROUPS_PER_BOX, thread_count(threads))


def match_box(
    grid: MatchGrid, image: np.ndarray, n_members: int, box: Box, wanted: np.ndarray | None
) -> Groups:
    """The nearest candidates of each patch of a box."""
    extent = grid.reach(box)
    pixels = image[(slice(None), *extent)]
    corners, begins = grid.flat_indices(box)
    n_patches = len(corners)
    if wanted is not None:
        touched = grid.grid.touching(wanted, box)
        corners, begins = corners[touched], begins[touched]
    windows = Windows(
        flat_offsets(grid.window[:-1], pixels.shape[1:]),
        grid.window[-1],
        _entries(grid.grid.patch_shape, pixels.shape),
    )
    members = np.zeros((len(corners), n_members), np.int32)
    found = np.zeros(members.shape, np.float32)
    padded = np.concatenate([pixels.ravel(), np.zeros(LANES, np.float32)])
    with announced("match patches"):
        find_nearest(padded, windows, corners, begins, distance_rows(windows), members, found)
    return Groups(grid.grid.patch_shape, extent, members, n_patches, found)


def clean_groups(groups: Groups, image: np.ndarray, noise: np.ndarray, shrinkage: Shrinkage) -> BoxSums:
    """Sums over the cleaned members of all groups."""
    pixels = image[(slice(None), *groups.extent)]
    entries = _entries(groups.patch_shape, pixels.shape)
    n_members = groups.members.shape[1]
    total, count = np.zeros(pixels.size, np.float32), np.zeros(prod(pixels.shape[1:]), np.float32)
    box = GroupBox(pixels.ravel(), total, count, noise[groups.extent].ravel(), groups.members, entries)
    memory = GroupMemory.create(n_members, len(entries))
    strength = np.float32(shrinkage.strength * (sqrt(len(entries)) + sqrt(n_members)) ** 2)
    mean_strength = np.float32(shrinkage.mean_strength * len(entries))
    with announced("clean groups"):
        clean_each_group(box, memory, len(pixels), strength, mean_strength, shrinkage.smooth_steps)
    weight = window_sums(count.reshape(pixels.shape[1:]), groups.patch_shape, forwards=True)
    return BoxSums(groups.extent, total.reshape(pixels.shape), weight, groups.n_patches)


def _entries(patch_shape: Sequence[int], shape: Sequence[int]) -> np.ndarray:
    """Where the entries of a patch lie in a flat array (channels, *shape)."""
    return flat_offsets((shape[0], *patch_shape), shape)
