"""Restoration in one pass: patches out of the image, codes, cleaned patches into the sums."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sedil.engines.fused.kernels.compilation import ONE, inner, kernel, pasted
from sedil.engines.fused.kernels.descent import copy_patch, flat_index, forget, solve_one
from sedil.engines.fused.kernels.entrance import takes
from sedil.engines.fused.kernels.lane_pursuit import advance_pursuit, pursuit_goes_on, start_lane
from sedil.engines.fused.kernels.lanes import run_lanes
from sedil.engines.fused.kernels.support import refit, write_atom


class ImageBox(NamedTuple):
    """A box of an image, its patches, and the sums over them.

    Attributes
    ----------
    pixels, total, weight : (n_pixels,), flat
    corners : (n_patches,), index of the pixel where each patch begins
    offsets : (entries,), indices of the pixels of a patch, counted from there
    """

    pixels: np.ndarray
    total: np.ndarray
    weight: np.ndarray
    corners: np.ndarray
    offsets: np.ndarray


@takes(
    descent__patch="float32 entries",
    support__patch="float32 entries",
    support__used="int64 atoms",
    box__pixels="float32 pixels",
    box__total="float32 pixels",
    box__weight="float32 pixels",
    box__corners="int64 n",
    box__offsets="int64 entries",
)
@kernel
def denoise_by_l1(operator, descent, stopping, support, refits, box):
    """Code each patch by l1, improve it by so many refit iterations, add it to the sums."""
    for sample in range(len(box.corners)):
        extract(box, sample, support.patch)
        copy_patch(support.patch, descent)
        size, _, _ = solve_one(operator, descent, stopping, 0 * ONE)
        n_atoms = gather_used(operator, descent, size, support)
        forget(descent, size)
        refit(support, n_atoms, refits)
        add_patch(box, sample, support.residual, n_atoms)


@inner
def gather_used(operator, descent, size, support):
    """Write out the atoms in use whose coefficients are not zero; returns their number."""
    n_atoms = 0 * ONE
    for slot in range(size):
        if descent.coefficients[slot] != 0:
            index = flat_index(operator, descent, slot)
            support.used[n_atoms] = index
            support.coefficients[n_atoms] = descent.coefficients[slot]
            write_atom(operator, index, support.atoms[n_atoms])
            n_atoms += 1
    return n_atoms


@takes(
    lanes__residual="float32 entries width",
    lanes__correlations="float32 atoms width",
    box__pixels="float32 pixels",
    box__total="float32 pixels",
    box__weight="float32 pixels",
    box__corners="int64 n",
    box__offsets="int64 entries",
)
@kernel
def denoise_by_pursuit(operator, lanes, max_energy, box):
    """Give each patch atoms until its residual is small enough, add it to the sums."""
    task = operator, lanes, max_energy, box
    run_lanes(lanes.sample, len(box.corners), task, _load, advance_pursuit, pursuit_goes_on, _finish)


@pasted
def _load(task, lane, sample):
    _, lanes, max_energy, box = task
    extract(box, sample, lanes.residual[:, lane])
    start_lane(lanes, lane)
    return lanes.energy[lane] > max_energy


@pasted
def _finish(task, lane):
    _, lanes, _, box = task
    add_patch(box, lanes.sample[lane], lanes.residual[:, lane], lanes.size[lane])


@inner
def extract(box, sample, patch):
    """Take a patch out of the image, without its mean."""
    corner = box.corners[sample]
    mean = np.float32(0)
    for entry in range(len(box.offsets)):
        value = box.pixels[corner + box.offsets[entry]]
        patch[entry] = value
        mean += value
    mean /= len(box.offsets)
    for entry in range(len(box.offsets)):
        patch[entry] -= mean


@inner
def add_patch(box, sample, residual, size):
    """Add the patch without `residual` to the sums; one of few atoms counts more."""
    corner = box.corners[sample]
    weight = 1 / np.float32(1 + size)
    for entry in range(len(box.offsets)):
        pixel = corner + box.offsets[entry]
        box.total[pixel] += weight * (box.pixels[pixel] - residual[entry])
        box.weight[pixel] += weight
