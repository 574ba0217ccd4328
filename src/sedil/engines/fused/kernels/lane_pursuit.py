"""Orthogonal matching pursuit on lanes: every step adds one atom to each sample of a block.

The atoms in use are kept orthonormal (modified Gram-Schmidt), so that least squares on all of them is one
projection more per step, and the residual is always at hand.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sedil.engines.fused.kernels.blocks import Operator, analyze, block_workspace
from sedil.engines.fused.kernels.compilation import allocating, inner, kernel, pasted
from sedil.engines.fused.kernels.entrance import takes
from sedil.engines.fused.kernels.lanes import IDLE, run_lanes
from sedil.engines.fused.kernels.support import write_atom
from sedil.engines.fused.kernels.vectors import WIDTH

_DEPENDENT = np.float32(1e-3)  # length left of an atom that the others span as far as float32 can tell


class PursuitLanes(NamedTuple):
    """The state of a block.

    Attributes
    ----------
    residual, correlations : (entries, WIDTH), (atoms, WIDTH)
    sample, size : per lane: which sample it is, and how many atoms it uses
    energy : per lane: squared length of the residual
    chosen, projections : (WIDTH, most): the atoms in use and the coefficients of their orthonormal versions
    basis : (WIDTH, most, entries): those versions
    mixing : (WIDTH, most, most): inner products of the atoms with them, upper triangular
    best : per lane: the atom that correlates most with its residual
    workspace : what lies between two products
    """

    residual: np.ndarray
    correlations: np.ndarray
    sample: np.ndarray
    size: np.ndarray
    energy: np.ndarray
    chosen: np.ndarray
    projections: np.ndarray
    basis: np.ndarray
    mixing: np.ndarray
    best: np.ndarray
    workspace: np.ndarray

    @classmethod
    def create(cls, operator: Operator, most: int) -> PursuitLanes:
        """For at most so many atoms a sample, all lanes idle."""
        length, count = int(np.prod(operator.lengths)), int(np.prod(operator.counts))
        return cls(
            np.zeros((length, WIDTH), np.float32),
            np.zeros((count, WIDTH), np.float32),
            np.full(WIDTH, IDLE, np.int64),
            np.zeros(WIDTH, np.int64),
            np.zeros(WIDTH, np.float32),
            np.zeros((WIDTH, most), np.int64),
            np.zeros((WIDTH, most), np.float32),
            np.empty((WIDTH, most, length), np.float32),
            np.empty((WIDTH, most, most), np.float32),
            np.zeros(WIDTH, np.int64),
            block_workspace(operator),
        )


@inner
def start_lane(lanes, lane):
    """Start a lane with the patch that lies in its residual."""
    lanes.size[lane] = 0
    energy = np.float32(0)
    for entry in range(lanes.residual.shape[0]):
        energy += lanes.residual[entry, lane] ** 2
    lanes.energy[lane] = energy


@allocating
def find_best_atoms(operator, lanes):
    """Find the atom of each lane that correlates most with its residual."""
    best = lanes.best
    analyze(operator, lanes.residual, lanes.correlations, lanes.workspace)
    largest = np.full(WIDTH, np.float32(-1))
    for atom in range(lanes.correlations.shape[0]):
        for lane in range(WIDTH):
            size = abs(lanes.correlations[atom, lane])
            better = size > largest[lane]
            best[lane] = atom if better else best[lane]
            largest[lane] = size if better else largest[lane]


@inner
def add_atom(operator, lanes, lane, atom):
    """Project the lane's residual away from one more atom; False if that atom brings nothing new."""
    size, entries = lanes.size[lane], lanes.residual.shape[0]
    new = lanes.basis[lane, size]
    write_atom(operator, atom, new)
    for old in range(size):
        if lanes.chosen[lane, old] == atom:
            return False
        product = np.float32(0)
        for entry in range(entries):
            product += new[entry] * lanes.basis[lane, old, entry]
        for entry in range(entries):
            new[entry] -= product * lanes.basis[lane, old, entry]
        lanes.mixing[lane, old, size] = product
    squared = np.float32(0)
    for entry in range(entries):
        squared += new[entry] * new[entry]
    length = np.sqrt(squared)
    if length <= _DEPENDENT:
        return False
    projection = np.float32(0)
    for entry in range(entries):
        new[entry] /= length
        projection += new[entry] * lanes.residual[entry, lane]
    energy = np.float32(0)
    for entry in range(entries):
        left = lanes.residual[entry, lane] - projection * new[entry]
        lanes.residual[entry, lane] = left
        energy += left * left
    lanes.mixing[lane, size, size] = length
    lanes.projections[lane, size] = projection
    lanes.chosen[lane, size] = atom
    lanes.energy[lane] = energy
    lanes.size[lane] = size + 1
    return True


@inner
def write_codes(lanes, lane, codes):
    """Coefficients of the atoms themselves, by back substitution; `codes` holds zeros before."""
    size = lanes.size[lane]
    for row in range(size - 1, -1, -1):
        value = lanes.projections[lane, row]
        for column in range(row + 1, size):
            value -= lanes.mixing[lane, row, column] * codes[lanes.chosen[lane, column]]
        codes[lanes.chosen[lane, row]] = value / lanes.mixing[lane, row, row]


@inner
def add_best_atom(operator, lanes, lane, max_energy):
    """Give a lane its next atom, unless it is done; whether it goes on."""
    if lanes.energy[lane] <= max_energy or lanes.size[lane] >= lanes.chosen.shape[1]:
        return False
    return add_atom(operator, lanes, lane, lanes.best[lane])


@takes(
    lanes__residual="float32 entries width",
    lanes__correlations="float32 atoms width",
    patches="float32 n entries",
    codes="float32 n atoms",
)
@kernel
def solve_pursuit_on_lanes(operator, lanes, max_energy, patches, codes):
    """Codes of all `patches` (n, entries) into `codes` (n, atoms), which holds zeros."""
    task = operator, lanes, max_energy, patches, codes
    run_lanes(lanes.sample, len(patches), task, _load, advance_pursuit, pursuit_goes_on, _finish)


@pasted
def _load(task, lane, sample):
    _, lanes, max_energy, patches, _ = task
    for entry in range(patches.shape[1]):
        lanes.residual[entry, lane] = patches[sample, entry]
    start_lane(lanes, lane)
    return lanes.energy[lane] > max_energy


@pasted
def advance_pursuit(task):
    """Find the next atom of all lanes; the task begins with the operator and the lanes."""
    find_best_atoms(task[0], task[1])


@pasted
def pursuit_goes_on(task, lane):
    """Let a lane have its next atom; the task begins with the operator, the lanes and the energy wanted."""
    return add_best_atom(task[0], task[1], lane, task[2])


@pasted
def _finish(task, lane):
    _, lanes, _, _, codes = task
    write_codes(lanes, lane, codes[lanes.sample[lane]])
