"""Restoration in one pass: patches out of the image, codes, cleaned patches into the sums."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sedil.engines.fused.kernels import pursuit
from sedil.engines.fused.kernels.descent import copy_patch, flat_index, forget, solve_one
from sedil.engines.fused.kernels.decorators import ONE, inner, kernel
from sedil.engines.fused.kernels.llvm import WIDTH
from sedil.engines.fused.kernels.pursuit import IDLE
from sedil.engines.fused.kernels.support import refit, write_atom


class Piece(NamedTuple):
    """A contiguous part of an image, its patches, and the sums over them.

    Attributes
    ----------
    pixels, total, weight : (n_pixels,), flat
    corners : (n_patches,), place of the first entry of each patch
    offsets : (entries,), places of the entries of a patch from there
    """

    pixels: np.ndarray
    total: np.ndarray
    weight: np.ndarray
    corners: np.ndarray
    offsets: np.ndarray


@kernel
def denoise_by_l1(operator, descent, limits, support, refits, piece):
    """Code each patch by l1, improve it by so many refit iterations, add it to the sums."""
    for sample in range(len(piece.corners)):
        extract(piece, sample, support.patch)
        copy_patch(support.patch, descent)
        size, _, _ = solve_one(operator, descent, limits, 0 * ONE)
        n_atoms = gather_used(operator, descent, size, support)
        forget(descent, size)
        refit(support, n_atoms, refits)
        add_patch(piece, sample, support.residual, n_atoms)


@inner
def gather_used(operator, descent, size, support):
    """Write out the atoms in use whose coefficients are not zero; returns their number."""
    n_atoms = 0 * ONE
    for place in range(size):
        if descent.coefficients[place] != 0:
            index = flat_index(operator, descent, place)
            support.used[n_atoms] = index
            support.coefficients[n_atoms] = descent.coefficients[place]
            write_atom(operator, index, support.atoms[n_atoms])
            n_atoms += 1
    return n_atoms


@kernel
def denoise_by_pursuit(operator, pursuers, max_energy, piece):
    """Give each patch atoms until its residual is small enough, add it to the sums."""
    waiting, working = 0, 0
    most = pursuers.chosen.shape[1]
    best = np.zeros(WIDTH, np.int64)
    for lane in range(WIDTH):
        pursuers.sample[lane] = IDLE
        if waiting < len(piece.corners):
            _load_pursuer(pursuers, lane, waiting, piece)
            waiting, working = waiting + 1, working + 1
    while working:
        pursuit.best_atoms(operator, pursuers, best)
        for lane in range(WIDTH):
            while pursuers.sample[lane] != IDLE and not pursuit.goes_on(
                operator, pursuers, lane, best[lane], max_energy, most
            ):
                add_patch(piece, pursuers.sample[lane], pursuers.residual[:, lane], pursuers.size[lane])
                pursuers.sample[lane] = IDLE
                working -= 1
                if waiting < len(piece.corners):
                    _load_pursuer(pursuers, lane, waiting, piece)
                    waiting, working = waiting + 1, working + 1
                    if pursuers.energy[lane] > max_energy:
                        break  # its correlations are not known yet


@inner
def _load_pursuer(pursuers, lane, sample, piece):
    extract(piece, sample, pursuers.residual[:, lane])
    pursuit.enter(pursuers, lane, sample)


@inner
def extract(piece, sample, patch):
    """Take a patch out of the image, without its mean."""
    corner = piece.corners[sample]
    mean = np.float32(0)
    for entry in range(len(piece.offsets)):
        value = piece.pixels[corner + piece.offsets[entry]]
        patch[entry] = value
        mean += value
    mean /= len(piece.offsets)
    for entry in range(len(piece.offsets)):
        patch[entry] -= mean


@inner
def add_patch(piece, sample, residual, size):
    """Add the patch without `residual` to the sums; one of few atoms counts more."""
    corner = piece.corners[sample]
    weight = 1 / np.float32(1 + size)
    for entry in range(len(piece.offsets)):
        place = corner + piece.offsets[entry]
        piece.total[place] += weight * (piece.pixels[place] - residual[entry])
        piece.weight[place] += weight
