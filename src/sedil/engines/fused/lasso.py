"""FISTA and ADMM on lanes: each column of a block solves the l1 problem of one sample.

The same iterations as in `sedil.coding`. A lane whose sample is done takes the next one at once, so that
all lanes work until the last samples, however different they are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sedil.engines.fused.blocks import WIDTH, Operator, analyze, synthesize, workspace
from sedil.engines.fused.kernel import kernel
from sedil.engines.fused.llvm import address, aligned_zeros
from sedil.engines.fused.sheets import extrapolate_rows, shrink_rows

IDLE = -1  # in `Lanes.sample`: no sample is left for this lane


class Rule(NamedTuple):
    """When a sample is done.

    Attributes
    ----------
    step : float, 1 / ||D||^2
    tolerance : relative duality gap
    max_iterations, check_every : iterations at most, and between two looks at the gap
    """

    step: np.float32
    tolerance: np.float32
    max_iterations: int
    check_every: int

    @classmethod
    def create(cls, step: float, tolerance: float, max_iterations: int, check_every: int = 10) -> Rule:
        """The rule in the types that the kernels are compiled for.

        Lanes of different age look at their gaps together, so the last look must coincide with one of those.
        """
        every = max(n for n in range(1, check_every + 1) if max_iterations % n == 0)
        return cls(np.float32(step), np.float32(tolerance), int(max_iterations), every)


class Lanes(NamedTuple):
    """The state of a block: arrays of shape (entries, WIDTH), and one value per lane.

    Attributes
    ----------
    patches, known, residual : entries of the patch
    codes, ahead, slope : entries of the code
    thresholds : (n_atoms,), the penalty of each coefficient
    sample, iteration : which sample the lane solves, and for how many iterations it has
    momentum, gap : of the lane
    weights : of the lane: the scalar product that tells uphill from downhill, then the weight of momentum
    room : what lies between two products
    """

    patches: np.ndarray
    known: np.ndarray
    residual: np.ndarray
    codes: np.ndarray
    ahead: np.ndarray
    slope: np.ndarray
    thresholds: np.ndarray
    sample: np.ndarray
    iteration: np.ndarray
    momentum: np.ndarray
    gap: np.ndarray
    weights: np.ndarray
    room: np.ndarray

    @classmethod
    def create(cls, operator: Operator, thresholds: float | np.ndarray) -> Lanes:
        """All lanes idle, all entries known."""
        length, count = int(np.prod(operator.lengths)), int(np.prod(operator.counts))
        return cls(
            aligned_zeros((length, WIDTH)),
            aligned_zeros((length, WIDTH)) + np.float32(1),
            aligned_zeros((length, WIDTH)),
            aligned_zeros((count, WIDTH)),
            aligned_zeros((count, WIDTH)),
            aligned_zeros((count, WIDTH)),
            np.broadcast_to(thresholds, (count,)).astype(np.float32),
            np.full(WIDTH, IDLE, np.int64),
            np.zeros(WIDTH, np.int64),
            np.ones(WIDTH, np.float32),
            np.zeros(WIDTH, np.float32),
            aligned_zeros(WIDTH),
            workspace(operator),
        )


@kernel
def enter(lanes, lane, sample):
    """Start a lane anew; its patch, its mask and its first codes are set by the caller."""
    lanes.sample[lane] = sample
    lanes.iteration[lane] = 0
    lanes.momentum[lane] = 1


@kernel
def correlate_residual(operator, lanes, codes):
    """``slope = D^T M (s - D x)``."""
    synthesize(operator, codes, lanes.residual, lanes.room)
    for entry in range(lanes.residual.shape[0]):
        for lane in range(WIDTH):
            difference = lanes.patches[entry, lane] - lanes.residual[entry, lane]
            lanes.residual[entry, lane] = difference * lanes.known[entry, lane]
    analyze(operator, lanes.residual, lanes.slope, lanes.room)


@kernel
def iterate(operator, lanes, step):
    """One iteration of FISTA with restart on all lanes."""
    correlate_residual(operator, lanes, lanes.ahead)
    ahead, new, codes = address(lanes.ahead), address(lanes.slope), address(lanes.codes)
    n_rows = lanes.codes.shape[0]
    thresholds, weights = address(lanes.thresholds), address(lanes.weights)
    shrink_rows(ahead, new, codes, thresholds, step, weights, n_rows)
    for lane in range(WIDTH):
        goes_uphill = lanes.weights[lane] > 0
        momentum = np.float32(1) if goes_uphill else lanes.momentum[lane]
        following = np.float32(0.5) * (1 + np.sqrt(1 + 4 * momentum * momentum))
        lanes.weights[lane] = (momentum - 1) / following
        lanes.momentum[lane] = following
        lanes.iteration[lane] += 1
    extrapolate_rows(new, codes, ahead, weights, n_rows)


@kernel
def measure_gaps(operator, lanes):
    """Relative duality gap of each lane at its codes, as `LassoProblem.relative_gap`."""
    correlate_residual(operator, lanes, lanes.codes)
    excess, length = np.zeros(WIDTH, np.float32), np.zeros(WIDTH, np.float32)
    energy, product, zero_cost = (
        np.zeros(WIDTH, np.float32),
        np.zeros(WIDTH, np.float32),
        np.zeros(WIDTH, np.float32),
    )
    one = np.float32(1)  # an int constant would turn all into float64
    for entry in range(lanes.codes.shape[0]):
        threshold = lanes.thresholds[entry]
        inverse = one / threshold
        for lane in range(WIDTH):
            excess[lane] = max(excess[lane], abs(lanes.slope[entry, lane]) * inverse)
            length[lane] += threshold * abs(lanes.codes[entry, lane])
    for entry in range(lanes.residual.shape[0]):
        for lane in range(WIDTH):
            residual, patch = lanes.residual[entry, lane], lanes.patches[entry, lane]
            energy[lane] += residual * residual
            product[lane] += residual * patch
            zero_cost[lane] += patch * patch
    for lane in range(WIDTH):
        scale = one / max(excess[lane], one)
        primal = energy[lane] / 2 + length[lane]
        dual = scale * product[lane] - scale * scale * energy[lane] / 2
        lanes.gap[lane] = 2 * (primal - dual) / zero_cost[lane] if zero_cost[lane] > 0 else 0


@kernel
def is_done(lanes, lane, rule):
    """Whether a lane's sample is solved, or out of iterations."""
    return lanes.gap[lane] <= rule.tolerance or lanes.iteration[lane] >= rule.max_iterations


class Splitting(NamedTuple):
    """What ADMM needs besides the lanes, whose patches and operator are rotated so that D D^T is diagonal.

    Attributes
    ----------
    strength, relaxation : coupling between the two copies of the codes, and over-relaxation
    shrink : (entries,), the diagonal of ``(D D^T + strength)^-1``
    target, right : (atoms, WIDTH), D^T s and the right side of the linear system
    """

    strength: np.float32
    relaxation: np.float32
    shrink: np.ndarray
    target: np.ndarray
    right: np.ndarray

    @classmethod
    def create(cls, eigenvalues: np.ndarray, n_atoms: int, strength: float, relaxation: float) -> Splitting:
        """From the diagonal of D D^T, flat."""
        room = [np.zeros((n_atoms, WIDTH), np.float32) for _ in range(2)]
        shrink = (1 / (eigenvalues + strength)).astype(np.float32)
        return cls(np.float32(strength), np.float32(relaxation), shrink, *room)


@kernel
def iterate_split(operator, lanes, splitting):
    """One iteration of ADMM on all lanes; `lanes.ahead` is the dual variable.

    With D D^T diagonal, ``(D^T D + r)^-1 v = (v - D^T (D D^T + r)^-1 D v) / r`` takes two products.
    """
    strength, one = splitting.strength, np.float32(1)
    zero, rest, inverse = np.float32(0), one - splitting.relaxation, one / strength
    for entry in range(lanes.codes.shape[0]):
        for lane in range(WIDTH):
            difference = lanes.codes[entry, lane] - lanes.ahead[entry, lane]
            splitting.right[entry, lane] = splitting.target[entry, lane] + strength * difference
    synthesize(operator, splitting.right, lanes.residual, lanes.room)
    for entry in range(lanes.residual.shape[0]):
        for lane in range(WIDTH):
            lanes.residual[entry, lane] *= splitting.shrink[entry]
    analyze(operator, lanes.residual, lanes.slope, lanes.room)
    for entry in range(lanes.codes.shape[0]):
        threshold = lanes.thresholds[entry] * inverse
        for lane in range(WIDTH):
            smooth = inverse * (splitting.right[entry, lane] - lanes.slope[entry, lane])
            mixed = splitting.relaxation * smooth + rest * lanes.codes[entry, lane]
            moved = mixed + lanes.ahead[entry, lane]
            new = max(moved - threshold, zero) + min(moved + threshold, zero)
            lanes.codes[entry, lane] = new
            lanes.ahead[entry, lane] = moved - new
    for lane in range(WIDTH):
        lanes.iteration[lane] += 1


@kernel
def solve(operator, lanes, rule, splitting, splits, patches, known, codes, gaps, iterations):
    """Codes of all `patches`, in place of the first ones: by ADMM if it `splits`, else by FISTA.

    Parameters
    ----------
    operator : Operator
    lanes : Lanes
    rule : Rule
    splitting : Splitting
    splits : bool
    patches : (n, entries)
    known : (n, entries), 1 where data is known; or (0, entries) if all is
    codes : (n, atoms): where to start, and then the result
    gaps, iterations : (n,), results
    """
    waiting, working = 0, 0
    for lane in range(WIDTH):
        if waiting < len(patches):
            _load(lanes, lane, waiting, patches, known, codes, splits)
            waiting, working = waiting + 1, working + 1
    while working:
        if splits:
            analyze(operator, lanes.patches, splitting.target, lanes.room)
            for _ in range(rule.check_every):
                iterate_split(operator, lanes, splitting)
        else:
            for _ in range(rule.check_every):
                iterate(operator, lanes, rule.step)
        measure_gaps(operator, lanes)
        for lane in range(WIDTH):
            sample = lanes.sample[lane]
            if sample == IDLE or not is_done(lanes, lane, rule):
                continue
            codes[sample] = lanes.codes[:, lane]
            gaps[sample], iterations[sample] = lanes.gap[lane], lanes.iteration[lane]
            lanes.sample[lane] = IDLE
            working -= 1
            if waiting < len(patches):
                _load(lanes, lane, waiting, patches, known, codes, splits)
                waiting, working = waiting + 1, working + 1


@kernel
def _load(lanes, lane, sample, patches, known, codes, splits):
    enter(lanes, lane, sample)
    lanes.patches[:, lane] = patches[sample]
    for entry in range(lanes.codes.shape[0]):
        lanes.codes[entry, lane] = codes[sample, entry]
        lanes.ahead[entry, lane] = np.float32(0) if splits else codes[sample, entry]
    if len(known):
        lanes.known[:, lane] = known[sample]
