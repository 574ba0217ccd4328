"""ADMM on lanes: the same iterations as in the portable engine."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sedil.engines.fused.kernels.blocks import analyze, synthesize
from sedil.engines.fused.kernels.decorators import inner
from sedil.engines.fused.kernels.memory import WIDTH


class Splitting(NamedTuple):
    """What ADMM needs besides the lanes, whose patches and operator are rotated so that D D^T is diagonal.

    Attributes
    ----------
    is_used : whether ADMM is asked for at all, or else FISTA
    strength, relaxation : coupling between the two copies of the codes, and over-relaxation
    shrink : (entries,), the diagonal of ``(D D^T + strength)^-1``
    target, right : (atoms, WIDTH), D^T s and the right side of the linear system
    """

    is_used: bool
    strength: np.float32
    relaxation: np.float32
    shrink: np.ndarray
    target: np.ndarray
    right: np.ndarray

    @classmethod
    def create(cls, eigenvalues: np.ndarray, n_atoms: int, strength: float, relaxation: float) -> Splitting:
        """From the diagonal of D D^T, flat."""
        arrays = [np.zeros((n_atoms, WIDTH), np.float32) for _ in range(2)]
        shrink = (1 / (eigenvalues + strength)).astype(np.float32)
        return cls(True, np.float32(strength), np.float32(relaxation), shrink, *arrays)

    @classmethod
    def none(cls) -> Splitting:
        """For FISTA, which needs nothing of this."""
        return cls.create(np.ones(0), 0, 1.0, 1.0)._replace(is_used=False)


@inner
def iterate_admm(operator, lanes, splitting, times):
    """So many iterations on all lanes."""
    analyze(operator, lanes.patches, splitting.target, lanes.workspace)
    for _ in range(times):
        split_once(operator, lanes, splitting)


@inner
def split_once(operator, lanes, splitting):
    """One iteration.

    With D D^T diagonal, ``(D^T D + r)^-1 v = (v - D^T (D D^T + r)^-1 D v) / r`` takes two products.
    """
    codes, dual = lanes.codes[0], lanes.codes[1]
    strength, one = splitting.strength, np.float32(1)
    zero, rest, inverse = np.float32(0), one - splitting.relaxation, one / strength
    for entry in range(codes.shape[0]):
        for lane in range(WIDTH):
            difference = codes[entry, lane] - dual[entry, lane]
            splitting.right[entry, lane] = splitting.target[entry, lane] + strength * difference
    synthesize(operator, splitting.right, lanes.residual, lanes.workspace)
    for entry in range(lanes.residual.shape[0]):
        for lane in range(WIDTH):
            lanes.residual[entry, lane] *= splitting.shrink[entry]
    analyze(operator, lanes.residual, lanes.slope, lanes.workspace)
    for entry in range(codes.shape[0]):
        threshold = lanes.thresholds[entry] * inverse
        for lane in range(WIDTH):
            smooth = inverse * (splitting.right[entry, lane] - lanes.slope[entry, lane])
            mixed = splitting.relaxation * smooth + rest * codes[entry, lane]
            moved = mixed + dual[entry, lane]
            new = max(moved - threshold, zero) + min(moved + threshold, zero)
            codes[entry, lane] = new
            dual[entry, lane] = moved - new
    for lane in range(WIDTH):
        lanes.iteration[lane] += 1
