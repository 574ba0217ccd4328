"""Weighted sums over the cleaned patches of one box of an image, by either engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod, sqrt
from typing import NamedTuple

import numpy as np

from sedil.engines.portable import products
from sedil.engines.portable.fista import fista
from sedil.engines.portable.lasso import LassoProblem
from sedil.engines.portable.pursuit import pursuit
from sedil.engines.portable.refit import refit
from sedil.imaging.patch_grid import Box, PatchGrid


class Limits(NamedTuple):
    """When the l1 problem of a patch is solved well enough."""

    tolerance: float
    max_iterations: int  # of FISTA, in the portable engine
    max_looks: int  # of coordinate descent, in the fused one


# On photographs a smaller gap or more looks change the PSNR by less than 0.01 dB. Where noise is so weak that
# most atoms are in use, the looks are what keeps a patch from taking milliseconds.
SUPPORT_LIMITS = Limits(tolerance=1e-3, max_iterations=100, max_looks=8)
REFIT_ITERATIONS = 12
L1_LIMITS = Limits(tolerance=1e-3, max_iterations=200, max_looks=30)


class Sums(NamedTuple):
    """Sums of a box: where in the image they belong, the weighted patches, the weights, how many patches."""

    place: tuple[slice, ...]
    total: np.ndarray
    weight: np.ndarray
    n_patches: int


@dataclass(frozen=True)
class Cleaning:
    """How the patches of an image are cleaned.

    Attributes
    ----------
    factors : float32 factors
    grid : PatchGrid
    method : name in `CODERS`
    sigma, threshold : noise level, and its multiple that the method wants
    wanted : boolean image; patches that hold none of its pixels are left out. None for all patches
    """

    factors: Sequence[np.ndarray]
    grid: PatchGrid
    method: str
    sigma: float
    threshold: float
    wanted: np.ndarray | None = None

    @property
    def penalty(self) -> float:
        """Penalty of the l1 problem."""
        return self.threshold * self.sigma

    @property
    def max_error(self) -> float:
        """Length of the residual at which pursuit stops."""
        return self.penalty * sqrt(prod(self.grid.patch_shape))

    @property
    def max_atoms(self) -> int:
        """Atoms per patch that pursuit may use."""
        return max(prod(self.grid.patch_shape) // 2, 1)


def portable_sums(cleaning: Cleaning, image: np.ndarray, box: Box) -> Sums:
    """With the portable engine: whole arrays of patches and codes."""
    grid = cleaning.grid
    place = grid.extent(box)
    patches = grid.extract(image, box)
    flat = patches.reshape(len(patches), -1).T  # packed: one patch a column
    means = flat.mean(axis=0)
    shape = tuple(factor.shape[0] for factor in cleaning.factors)
    codes = CODERS[cleaning.method](cleaning, (flat - means).reshape(*shape, -1))
    cleaned = products.synthesize(cleaning.factors, codes).reshape(flat.shape) + means
    weights = 1 / (1 + np.count_nonzero(codes.reshape(-1, len(patches)), axis=0)).astype(np.float32)
    if cleaning.wanted is not None:
        weights *= grid.touching(cleaning.wanted, box)
    weights = weights.reshape(-1, *(1,) * image.ndim)
    total, weight = np.zeros_like(image[place]), np.zeros_like(image[place])
    local = grid.shifted(box)
    grid.add(total, weights * cleaned.T.reshape(patches.shape), local)
    grid.add(weight, np.broadcast_to(weights, patches.shape), local)
    return Sums(place, total, weight, len(patches))


def code_by_refit(cleaning: Cleaning, patches: np.ndarray) -> np.ndarray:
    """Support by l1, coefficients by least squares."""
    problem = LassoProblem.create(cleaning.factors, patches, cleaning.penalty)
    codes = fista(problem, SUPPORT_LIMITS.tolerance, SUPPORT_LIMITS.max_iterations).codes
    return refit(problem, codes, REFIT_ITERATIONS)


def code_by_l1(cleaning: Cleaning, patches: np.ndarray) -> np.ndarray:
    """Codes of Eq. (34)."""
    problem = LassoProblem.create(cleaning.factors, patches, cleaning.penalty)
    return fista(problem, L1_LIMITS.tolerance, L1_LIMITS.max_iterations).codes


def code_by_pursuit(cleaning: Cleaning, patches: np.ndarray) -> np.ndarray:
    """Atoms until the residual is as large as the noise."""
    return pursuit(cleaning.factors, patches, cleaning.max_error, cleaning.max_atoms)


CODERS: dict[str, Callable[[Cleaning, np.ndarray], np.ndarray]] = {
    "refit": code_by_refit,
    "l1": code_by_l1,
    "pursuit": code_by_pursuit,
}


def fused_sums(cleaning: Cleaning, image: np.ndarray, box: Box) -> Sums:
    """With the fused engine: one pass, in which no array of codes ever exists."""
    from sedil.engines.fused.kernels.blocks import Operator
    from sedil.engines.fused.kernels.compilation import announced
    from sedil.engines.fused.kernels.denoising import ImageBox, denoise_by_l1, denoise_by_pursuit
    from sedil.engines.fused.kernels.descent import Descent
    from sedil.engines.fused.kernels.lane_pursuit import PursuitLanes
    from sedil.engines.fused.kernels.stopping import Stopping
    from sedil.engines.fused.kernels.support import Support

    grid = cleaning.grid
    place = grid.extent(box)
    pixels = np.ascontiguousarray(image[place])
    shape = pixels.shape
    corners = np.ravel_multi_index(np.ix_(*grid.shifted(box)), shape).ravel()
    n_patches = len(corners)
    if cleaning.wanted is not None:
        corners = corners[grid.touching(cleaning.wanted, box)]
    offsets = np.ravel_multi_index(np.ix_(*map(np.arange, grid.patch_shape)), shape).ravel()
    total, weight = np.zeros(pixels.size, np.float32), np.zeros(pixels.size, np.float32)
    image_box = ImageBox(pixels.ravel(), total, weight, corners, offsets)
    operator = Operator.create(cleaning.factors)
    if cleaning.method == "pursuit":
        lanes = PursuitLanes.create(operator, cleaning.max_atoms)
        with announced("denoise by pursuit"):
            denoise_by_pursuit(operator, lanes, np.float32(cleaning.max_error**2), image_box)
    else:
        limits, refits = SUPPORT_LIMITS, REFIT_ITERATIONS
        if cleaning.method == "l1":
            limits, refits = L1_LIMITS, 0
        descent, support = Descent.create(cleaning.factors, cleaning.penalty), Support.create(operator)
        stopping = Stopping.create(limits.tolerance, limits.max_looks)
        with announced("denoise by l1"):
            denoise_by_l1(operator, descent, stopping, support, refits, image_box)
    return Sums(place, total.reshape(shape), weight.reshape(shape), n_patches)


SUMS = {"fused": fused_sums, "portable": portable_sums}
