"""Orthogonal matching pursuit on lanes: every step adds one atom to each sample of a block.

The atoms in use are kept orthonormal (modified Gram-Schmidt), so that least squares on all of them is one
projection more per step, and the residual is always at hand.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sedil.engines.fused.kernels.blocks import WIDTH, Operator, analyze, workspace
from sedil.engines.fused.kernels.decorators import inner, kernel
from sedil.engines.fused.kernels.support import write_atom

IDLE = -1
_DEPENDENT = np.float32(1e-3)  # length left of an atom that the others span as far as float32 can tell


class Pursuers(NamedTuple):
    """The state of a block.

    Attributes
    ----------
    residual, correlations : (entries, WIDTH), (atoms, WIDTH)
    sample, size : per lane: which sample it is, and how many atoms it uses
    energy : per lane: squared length of the residual
    chosen, projections : (WIDTH, most): the atoms in use and the coefficients of their orthonormal versions
    basis : (WIDTH, most, entries): those versions
    mixing : (WIDTH, most, most): inner products of the atoms with them, upper triangular
    room : what lies between two products
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
    room: np.ndarray

    @classmethod
    def create(cls, operator: Operator, most: int) -> Pursuers:
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
            workspace(operator),
        )


@inner
def enter(pursuers, lane, sample):
    """Start a lane with the patch that lies in its residual."""
    pursuers.sample[lane] = sample
    pursuers.size[lane] = 0
    energy = np.float32(0)
    for entry in range(pursuers.residual.shape[0]):
        energy += pursuers.residual[entry, lane] ** 2
    pursuers.energy[lane] = energy


@inner
def best_atoms(operator, pursuers, best):
    """The atom of each lane that correlates most with its residual."""
    analyze(operator, pursuers.residual, pursuers.correlations, pursuers.room)
    largest = np.full(WIDTH, np.float32(-1))
    for atom in range(pursuers.correlations.shape[0]):
        for lane in range(WIDTH):
            size = abs(pursuers.correlations[atom, lane])
            better = size > largest[lane]
            best[lane] = atom if better else best[lane]
            largest[lane] = size if better else largest[lane]


@inner
def add_atom(operator, pursuers, lane, atom):
    """Project the lane's residual away from one more atom; False if that atom brings nothing new."""
    size, entries = pursuers.size[lane], pursuers.residual.shape[0]
    new = pursuers.basis[lane, size]
    write_atom(operator, atom, new)
    for old in range(size):
        if pursuers.chosen[lane, old] == atom:
            return False
        product = np.float32(0)
        for entry in range(entries):
            product += new[entry] * pursuers.basis[lane, old, entry]
        for entry in range(entries):
            new[entry] -= product * pursuers.basis[lane, old, entry]
        pursuers.mixing[lane, old, size] = product
    squared = np.float32(0)
    for entry in range(entries):
        squared += new[entry] * new[entry]
    length = np.sqrt(squared)
    if length <= _DEPENDENT:
        return False
    projection = np.float32(0)
    for entry in range(entries):
        new[entry] /= length
        projection += new[entry] * pursuers.residual[entry, lane]
    energy = np.float32(0)
    for entry in range(entries):
        left = pursuers.residual[entry, lane] - projection * new[entry]
        pursuers.residual[entry, lane] = left
        energy += left * left
    pursuers.mixing[lane, size, size] = length
    pursuers.projections[lane, size] = projection
    pursuers.chosen[lane, size] = atom
    pursuers.energy[lane] = energy
    pursuers.size[lane] = size + 1
    return True


@inner
def write_codes(pursuers, lane, codes):
    """Coefficients of the atoms themselves, by back substitution; `codes` holds zeros before."""
    size = pursuers.size[lane]
    for row in range(size - 1, -1, -1):
        value = pursuers.projections[lane, row]
        for column in range(row + 1, size):
            value -= pursuers.mixing[lane, row, column] * codes[pursuers.chosen[lane, column]]
        codes[pursuers.chosen[lane, row]] = value / pursuers.mixing[lane, row, row]


@kernel
def solve(operator, pursuers, max_energy, patches, codes):
    """Codes of all `patches` (n, entries) into `codes` (n, atoms), which holds zeros."""
    waiting, working = 0, 0
    most = pursuers.chosen.shape[1]
    best = np.zeros(WIDTH, np.int64)
    for lane in range(WIDTH):
        if waiting < len(patches):
            pursuers.residual[:, lane] = patches[waiting]
            enter(pursuers, lane, waiting)
            waiting, working = waiting + 1, working + 1
    while working:
        best_atoms(operator, pursuers, best)
        for lane in range(WIDTH):
            if pursuers.sample[lane] == IDLE or goes_on(
                operator, pursuers, lane, best[lane], max_energy, most
            ):
                continue
            write_codes(pursuers, lane, codes[pursuers.sample[lane]])
            pursuers.sample[lane] = IDLE
            working -= 1
            if waiting < len(patches):
                pursuers.residual[:, lane] = patches[waiting]
                enter(pursuers, lane, waiting)
                waiting, working = waiting + 1, working + 1


@inner
def goes_on(operator, pursuers, lane, atom, max_energy, most):
    """Give a lane its next atom, unless it is done; whether it goes on."""
    if pursuers.energy[lane] <= max_energy or pursuers.size[lane] >= most:
        return False
    return add_atom(operator, pursuers, lane, atom)
