"""Cleaning the patches of a box in one pass, in which no array of patches or codes ever exists."""

from __future__ import annotations

import numpy as np

from sedil.engines.contract import BoxPlan, BoxSums, Cleaning, L1Coding, PursuitCoding
from sedil.engines.fused.kernels.blocks import Operator
from sedil.engines.fused.kernels.compilation import announced
from sedil.engines.fused.kernels.denoising import ImageBox, denoise_by_l1, denoise_by_pursuit
from sedil.engines.fused.kernels.descent import Descent
from sedil.engines.fused.kernels.lane_pursuit import PursuitLanes
from sedil.engines.fused.kernels.lanes import Stopping
from sedil.engines.fused.kernels.support import Support
from sedil.engines.fused.sparse_coding import MAX_LOOKS
from sedil.engines.threads import thread_count
from sedil.patch_grid import Box

# Patches in a box: enough to keep all lanes busy. Few patches are still split for the threads, but not so far
# that lanes wait for the last of a box.
_LARGEST_BOX, _SMALLEST_BOX, _LEAST_BOXES = 8192, 256, 16


def plan_boxes(cleaning: Cleaning, threads: int | None) -> BoxPlan:
    """Boxes by the number of patches alone."""
    share = -(-cleaning.grid.n_patches // _LEAST_BOXES)
    return BoxPlan(min(max(share, _SMALLEST_BOX), _LARGEST_BOX), thread_count(threads))


def clean_box(cleaning: Cleaning, image: np.ndarray, box: Box) -> BoxSums:
    """Weighted sums over the cleaned patches of a box."""
    grid = cleaning.grid
    extent = grid.extent(box)
    pixels = np.ascontiguousarray(image[extent])
    corners, offsets = grid.flat_indices(pixels.shape, grid.shifted(box))
    n_patches = len(corners)
    if cleaning.wanted is not None:
        corners = corners[grid.touching(cleaning.wanted, box)]
    total, weight = np.zeros(pixels.size, np.float32), np.zeros(pixels.size, np.float32)
    image_box = ImageBox(pixels.ravel(), total, weight, corners, offsets)
    operator = Operator.create(cleaning.factors)
    if isinstance(cleaning.coding, PursuitCoding):
        _pursue(operator, cleaning.coding, image_box)
    else:
        _solve_l1(operator, cleaning, cleaning.coding, image_box)
    return BoxSums(extent, total.reshape(pixels.shape), weight.reshape(pixels.shape), n_patches)


def _pursue(operator: Operator, coding: PursuitCoding, image_box: ImageBox) -> None:
    lanes = PursuitLanes.create(operator, coding.max_atoms)
    with announced("denoise by pursuit"):
        denoise_by_pursuit(operator, lanes, np.float32(coding.max_error**2), image_box)


def _solve_l1(operator: Operator, cleaning: Cleaning, coding: L1Coding, image_box: ImageBox) -> None:
    """By descent alone: a patch that is not solved after the last look is taken as it is."""
    descent, support = Descent.create(cleaning.factors, coding.penalty), Support.create(operator)
    stopping = Stopping.create(coding.effort.tolerance, coding.effort.max_looks or MAX_LOOKS)
    with announced("denoise by l1"):
        denoise_by_l1(operator, descent, stopping, support, coding.refits, image_box)
