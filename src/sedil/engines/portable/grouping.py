"""Groups of alike patches by whole arrays: matching, and shrinkage of the directions of a group."""

from __future__ import annotations

from itertools import product
from math import prod, sqrt
from typing import Any

import numpy as np
from array_api_compat import device as device_of

from sedil.arrays import AnyArray, Array, add_at, namespace, to_numpy, window_sums, zeros_of
from sedil.engines.contract import BoxPlan, BoxSums, Groups, Shrinkage
from sedil.engines.threads import threads_beside
from sedil.match_grid import MatchGrid
from sedil.patch_grid import Box, flat_offsets

# Thresholds lower than this, in energies of a group times what is rounded, are lost in inverting its matrix.
PRECISION = 160
_ARRAYS_OF_MATCHING, _ARRAYS_OF_CLEANING = 6, 8  # as large as all candidates, or members, held at a time


def plan_groups(
    grid: MatchGrid, image: Array, n_members: int, max_memory: float, threads: int | None
) -> BoxPlan:
    """Boxes that the memory holds, for each thread one."""
    n_threads = threads_beside(image, threads)
    n_entries = image.shape[0] * prod(grid.grid.patch_shape)
    values = _ARRAYS_OF_MATCHING * grid.n_candidates + _ARRAYS_OF_CLEANING * n_members * n_entries
    bytes_per_patch = namespace(image).finfo(image.dtype).bits // 8 * values
    return BoxPlan(max(int(max_memory / n_threads / bytes_per_patch), 1), n_threads)


def match_box(grid: MatchGrid, image: Array, n_members: int, box: Box, wanted: Array | None) -> Groups:
    """The nearest candidates of each patch of a box."""
    xp, device = namespace(image), device_of(image)
    extent = grid.reach(box)
    corners, begins = grid.flat_indices(box)
    n_patches = len(corners)
    if wanted is not None:
        touched = to_numpy(grid.grid.touching(wanted, box))
        corners, begins = corners[touched], begins[touched]
    pixels = image[(slice(None), *extent)]
    shape = tuple(pixels.shape[1:])
    distances = _distances(grid, pixels, corners, begins)
    candidates = xp.asarray(begins[:, None] + flat_offsets(grid.window, shape), device=device)
    # A patch is nearest to itself, also where others are equal to it.
    itself = candidates == xp.asarray(corners, device=device)[:, None]
    distances = xp.where(itself, xp.asarray(-1.0, dtype=distances.dtype, device=device), distances)
    nearest = xp.argsort(distances, axis=1, stable=True)[:, :n_members]
    distances = xp.take_along_axis(distances, nearest, axis=1)
    return Groups(
        grid.grid.patch_shape,
        extent,
        xp.take_along_axis(candidates, nearest, axis=1),
        n_patches,
        xp.clip(distances, min=0.0),
    )


def _distances(grid: MatchGrid, pixels: Array, corners: np.ndarray, begins: np.ndarray) -> Any:
    """Of all candidates from their patch, (n, n_candidates): summed entry by entry of a patch."""
    xp, device = namespace(pixels), device_of(pixels)
    shape, patch_shape = tuple(pixels.shape[1:]), grid.grid.patch_shape
    around = tuple(length + patch - 1 for length, patch in zip(grid.window, patch_shape, strict=True))
    index = xp.asarray((begins[:, None] + flat_offsets(around, shape)).ravel(), device=device)
    total = xp.zeros((len(corners), *grid.window), dtype=pixels.dtype, device=device)
    for channel in range(pixels.shape[0]):
        flat = xp.reshape(pixels[channel, ...], (-1,))
        windows = xp.reshape(xp.take(flat, index, axis=0), (len(corners), *around))
        for entry in product(*map(range, patch_shape)):
            at = xp.asarray(corners + np.ravel_multi_index(entry, shape), device=device)
            value = xp.reshape(xp.take(flat, at, axis=0), (-1,) + (1,) * len(shape))
            moved = zip(entry, grid.window, strict=True)
            total += (windows[(slice(None), *(slice(i, i + n) for i, n in moved))] - value) ** 2
    return xp.reshape(total, (len(corners), grid.n_candidates))


def clean_groups(groups: Groups, image: Array, noise: Array, shrinkage: Shrinkage) -> BoxSums:
    """Sums over the cleaned members of all groups."""
    xp, device = namespace(image), device_of(image)
    pixels = image[(slice(None), *groups.extent)]
    n, n_members = groups.members.shape
    offsets = flat_offsets((pixels.shape[0], *groups.patch_shape), tuple(pixels.shape))
    index = groups.members[:, :, None] + xp.asarray(offsets, device=device)
    index = xp.reshape(index, (-1,))
    flat = xp.reshape(pixels, (-1,))
    patches = xp.reshape(xp.take(flat, index, axis=0), (n, n_members, pixels.shape[0], -1))
    left = xp.take(xp.reshape(noise[groups.extent], (-1,)), xp.reshape(groups.members, (-1,)), axis=0)
    variance = xp.mean(xp.reshape(left, (n, n_members)), axis=1)
    cleaned = shrink(patches, variance, shrinkage)
    total, count = zeros_of(pixels), zeros_of(pixels[0, ...])
    add_at(total, index, xp.reshape(cleaned, (-1,)))
    members = xp.reshape(groups.members, (-1,))
    add_at(count, members, xp.ones(members.shape[0], dtype=count.dtype, device=device))
    weight = window_sums(count, groups.patch_shape, forwards=True)
    return BoxSums(groups.extent, total, weight, groups.n_patches)


def shrink(groups: AnyArray, variance: Array, shrinkage: Shrinkage) -> AnyArray:
    """Groups (n, members, channels, entries) without what noise of this variance, (n,), explains."""
    xp = namespace(groups)
    mean = xp.mean(groups, axis=1, keepdims=True)
    rows = xp.reshape(groups - mean, (*groups.shape[:2], -1))
    n_members, n_entries = rows.shape[1:]
    if n_entries < n_members:  # the shorter side has the same directions, and smaller matrices
        rows = xp.matrix_transpose(rows)
    gram = rows @ xp.matrix_transpose(rows)
    energies = xp.linalg.trace(gram)
    wanted = shrinkage.strength * (sqrt(n_entries) + sqrt(n_members)) ** 2 * variance
    threshold = xp.maximum(wanted, _least_threshold(energies))
    certain, threshold = (wanted / threshold)[:, None, None], threshold[:, None, None]
    one = xp.eye(gram.shape[-1], dtype=groups.dtype, device=device_of(groups))
    # The share that is taken away, 1 - b, has the same smooth steps as b.
    removed = threshold * xp.linalg.inv(gram + threshold * one)
    for _ in range(shrinkage.smooth_steps):
        removed = removed @ removed @ (3 * one - 2 * removed)
    cleaned = rows - certain * (removed @ rows)
    if n_entries < n_members:
        cleaned = xp.matrix_transpose(cleaned)
    return xp.reshape(cleaned, groups.shape) + _shrink_mean(mean, n_members, variance, shrinkage)


def _shrink_mean(mean: Array, n_members: int, variance: Array, shrinkage: Shrinkage) -> Any:
    """Mean members (n, 1, channels, entries), less of what they hold beside the mean of each channel."""
    xp = namespace(mean)
    level = xp.mean(mean, axis=3, keepdims=True)
    beside = mean - level
    energy = n_members * xp.sum(beside**2, axis=(1, 2, 3))
    threshold = shrinkage.mean_strength * prod(mean.shape[1:]) * variance
    share = energy / xp.clip(energy + threshold, min=xp.finfo(mean.dtype).smallest_normal ** 0.5)
    for _ in range(shrinkage.smooth_steps):
        share = share**2 * (3 - 2 * share)
    return level + share[:, None, None, None] * beside


def _least_threshold(energies: Array) -> Any:
    """What keeps a matrix far enough from singular for its precision, and groups of equal members too.

    A lower one is raised to it, and what is removed is lowered as much.
    """
    xp = namespace(energies)
    limits = xp.finfo(energies.dtype)
    return xp.clip(PRECISION * limits.eps * energies, min=limits.smallest_normal**0.5)
