"""FISTA and ADMM on lanes: each column of a block solves the l1 problem of one sample.

The same iterations as in `sedil.coding`. A lane whose sample is done takes the next one at once, so that
all lanes work until the last samples, however different they are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sedil.engines.fused.kernels.blocks import (
    WIDTH,
    Operator,
    after_last_axis,
    analyze,
    analyze_earlier_axes,
    half_of,
    last_of,
    synthesize,
    synthesize_earlier_axes,
    synthesize_last_axis,
    workspace,
)
from sedil.engines.fused.kernels.columns import multiply_columns
from sedil.engines.fused.kernels.decorators import ONE, inlined, inner, kernel
from sedil.engines.fused.kernels.llvm import address, aligned_zeros
from sedil.engines.fused.kernels.sheets import residual_ahead
from sedil.engines.fused.kernels.step_tile import (
    step_tile_of_four,
    step_tile_of_one,
    step_tile_of_rows,
    testing_tile_of_four,
    testing_tile_of_one,
    testing_tile_of_rows,
)
from sedil.engines.fused.kernels.tile import COLUMNS, ROWS

_BYTES = 4
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
    codes : (2, entries of the code, WIDTH), the latest codes and those before; for ADMM, codes and dual
    images : (2, entries, WIDTH), what these codes stand for
    latest : (1,), which of the two is the latest
    slope : entries of the code
    thresholds : (n_atoms,), the penalty of each coefficient
    sample, iteration : which sample the lane solves, and for how many iterations it has
    momentum, gap : of the lane
    weights : of the lane: how far momentum carries on, in units of the last change of the codes
    uphill : of the lane: the scalar product that tells uphill from downhill
    room : what lies between two products
    """

    patches: np.ndarray
    known: np.ndarray
    residual: np.ndarray
    codes: np.ndarray
    images: np.ndarray
    latest: np.ndarray
    slope: np.ndarray
    thresholds: np.ndarray
    sample: np.ndarray
    iteration: np.ndarray
    momentum: np.ndarray
    gap: np.ndarray
    weights: np.ndarray
    uphill: np.ndarray
    room: np.ndarray

    @classmethod
    def create(cls, operator: Operator, thresholds: float | np.ndarray) -> Lanes:
        """All lanes idle, all entries known."""
        length, count = int(np.prod(operator.lengths)), int(np.prod(operator.counts))
        return cls(
            patches=aligned_zeros((length, WIDTH)),
            known=aligned_zeros((length, WIDTH)) + np.float32(1),
            residual=aligned_zeros((length, WIDTH)),
            codes=aligned_zeros((2, count, WIDTH)),
            images=aligned_zeros((2, length, WIDTH)),
            latest=np.zeros(1, np.int64),
            slope=aligned_zeros((count, WIDTH)),
            thresholds=np.broadcast_to(thresholds, (count,)).astype(np.float32),
            sample=np.full(WIDTH, IDLE, np.int64),
            iteration=np.zeros(WIDTH, np.int64),
            momentum=np.ones(WIDTH, np.float32),
            gap=np.zeros(WIDTH, np.float32),
            weights=aligned_zeros(WIDTH),
            uphill=aligned_zeros(WIDTH),
            room=workspace(operator),
        )


@inner
def enter(lanes, lane, sample):
    """Start a lane anew; its patch, its mask and its first codes are set by the caller."""
    lanes.sample[lane] = sample
    lanes.iteration[lane] = 0
    lanes.momentum[lane] = 1
    lanes.weights[lane] = 0


@inner
def iterate(operator, lanes, step, times):
    """So many iterations of FISTA with restart on all lanes.

    The codes ahead, ``x + w (x - x')`` for the latest codes x and those before, are not written down: what
    they stand for is ``Dx + w (Dx - Dx')``, and each of their entries is needed once, in the step.
    """
    n_entries, latest = lanes.patches.shape[0], lanes.latest[0]
    partial = after_last_axis(operator, half_of(lanes.images, latest), lanes.room)
    synthesize_last_axis(operator, lanes.codes[latest], partial)
    n_odd = 0
    for lane in range(WIDTH):
        n_odd += lanes.iteration[lane] % 2
    for number in range(times):
        # A lane is tested for restart in its even iterations; as a rule all lanes are of one parity.
        tests = (WIDTH - n_odd if number % 2 else n_odd) > 0
        before = 1 - latest
        image, image_before = half_of(lanes.images, latest), half_of(lanes.images, before)
        codes, codes_before = half_of(lanes.codes, latest), half_of(lanes.codes, before)
        synthesize_earlier_axes(operator, image, lanes.room)
        residual_ahead(
            address(lanes.residual),
            address(lanes.patches),
            address(lanes.known),
            image,
            image_before,
            address(lanes.weights),
            n_entries,
        )
        take_step(operator, lanes, codes, codes_before, image_before, step, tests)
        update_momentum(lanes)
        latest = before
    lanes.latest[0] = latest


@inner
def update_momentum(lanes):
    """Weights of momentum after a step; it starts anew where a test says so, as in the portable one."""
    half, one, four = np.float32(0.5), np.float32(1), np.float32(4)  # others would turn all into float64
    for lane in range(WIDTH):
        lanes.iteration[lane] += 1
        restarts = lanes.iteration[lane] % 2 == 0 and lanes.uphill[lane] > 0
        momentum = one if restarts else lanes.momentum[lane]
        following = half * (one + np.sqrt(one + four * momentum * momentum))
        lanes.weights[lane] = (momentum - one) / following
        lanes.momentum[lane] = following
        lanes.uphill[lane] = 0


@inner
def take_step(operator, lanes, codes, before, image, step, tests):
    """From the residual to new codes, in place of those before, and to their product along the last axis.

    One run of codes along that axis after the other: correlations, steps and the first product of the next
    iteration meet in the first-level cache. `codes`, `before` and `image`, of the codes to come, are
    addresses.
    """
    length, count = operator.lengths[-1], operator.counts[-1]
    analysis, synthesis = last_of(operator, operator.analysis), last_of(operator, operator.synthesis)
    source = analyze_earlier_axes(operator, lanes.residual, lanes.room)
    target = after_last_axis(operator, image, lanes.room)
    thresholds = address(lanes.thresholds)
    for _ in range(len(lanes.thresholds) // count):
        for lane in range(0, _BYTES * WIDTH, _BYTES * COLUMNS):
            weights, uphill = address(lanes.weights) + lane, address(lanes.uphill) + lane
            places = (codes + lane, before + lane, thresholds, weights, uphill)
            step_column((analysis, source + lane, length), places, step, count, tests)
            multiply_columns(synthesis, length, count, before + lane, target + lane, WIDTH)
        codes, before = codes + _BYTES * count * WIDTH, before + _BYTES * count * WIDTH
        source, target = source + _BYTES * length * WIDTH, target + _BYTES * length * WIDTH
        thresholds += _BYTES * count


@inlined
def step_column(product, places, step, n_rows, tests):
    """All tiles of some columns; the arguments are those of the first one."""
    matrix, source, n_terms = product
    codes, before, thresholds, weights, uphill = places
    row = 0
    while row < n_rows:
        product, places = (matrix, source, n_terms), (codes, before, thresholds, weights, uphill)
        done = ROWS if row + ROWS <= n_rows else 4 if row + 4 <= n_rows else 1
        if done == ROWS and tests:
            testing_tile_of_rows(product, places, step)
        elif done == ROWS:
            step_tile_of_rows(product, places, step)
        elif done == 4 and tests:
            testing_tile_of_four(product, places, step)
        elif done == 4:
            step_tile_of_four(product, places, step)
        elif tests:
            testing_tile_of_one(product, places, step)
        else:
            step_tile_of_one(product, places, step)
        row, matrix, thresholds = row + done, matrix + _BYTES * done * n_terms, thresholds + _BYTES * done
        codes, before = codes + _BYTES * done * WIDTH, before + _BYTES * done * WIDTH


@inner
def measure_gaps(operator, lanes):
    """Relative duality gap of each lane at its codes, as `LassoProblem.relative_gap`."""
    codes = lanes.codes[lanes.latest[0]]
    synthesize(operator, codes, lanes.residual, lanes.room)
    for entry in range(lanes.residual.shape[0]):
        for lane in range(WIDTH):
            difference = lanes.patches[entry, lane] - lanes.residual[entry, lane]
            lanes.residual[entry, lane] = difference * lanes.known[entry, lane]
    analyze(operator, lanes.residual, lanes.slope, lanes.room)
    excess, length = np.zeros(WIDTH, np.float32), np.zeros(WIDTH, np.float32)
    energy, product, zero_cost = (
        np.zeros(WIDTH, np.float32),
        np.zeros(WIDTH, np.float32),
        np.zeros(WIDTH, np.float32),
    )
    one = np.float32(1)  # an int constant would turn all into float64
    for entry in range(codes.shape[0]):
        threshold = lanes.thresholds[entry]
        inverse = one / threshold
        for lane in range(WIDTH):
            excess[lane] = max(excess[lane], abs(lanes.slope[entry, lane]) * inverse)
            length[lane] += threshold * abs(codes[entry, lane])
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


@inner
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


@inner
def iterate_split(operator, lanes, splitting):
    """One iteration of ADMM on all lanes.

    With D D^T diagonal, ``(D^T D + r)^-1 v = (v - D^T (D D^T + r)^-1 D v) / r`` takes two products.
    """
    codes, dual = lanes.codes[0], lanes.codes[1]
    strength, one = splitting.strength, np.float32(1)
    zero, rest, inverse = np.float32(0), one - splitting.relaxation, one / strength
    for entry in range(codes.shape[0]):
        for lane in range(WIDTH):
            difference = codes[entry, lane] - dual[entry, lane]
            splitting.right[entry, lane] = splitting.target[entry, lane] + strength * difference
    synthesize(operator, splitting.right, lanes.residual, lanes.room)
    for entry in range(lanes.residual.shape[0]):
        for lane in range(WIDTH):
            lanes.residual[entry, lane] *= splitting.shrink[entry]
    analyze(operator, lanes.residual, lanes.slope, lanes.room)
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
    waiting, working = 0 * ONE, 0
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
            iterate(operator, lanes, rule.step, rule.check_every)
        measure_gaps(operator, lanes)
        for lane in range(WIDTH):
            sample = lanes.sample[lane]
            if sample == IDLE or not is_done(lanes, lane, rule):
                continue
            for entry in range(codes.shape[1]):
                codes[sample, entry] = lanes.codes[lanes.latest[0], entry, lane]
            gaps[sample], iterations[sample] = lanes.gap[lane], lanes.iteration[lane]
            lanes.sample[lane] = IDLE
            working -= 1
            if waiting < len(patches):
                _load(lanes, lane, waiting, patches, known, codes, splits)
                waiting, working = waiting + 1, working + 1


@inner
def _load(lanes, lane, sample, patches, known, codes, splits):
    enter(lanes, lane, sample)
    for entry in range(patches.shape[1]):
        lanes.patches[entry, lane] = patches[sample, entry]
        # The images of the sample before have no weight, but zero times infinity is not zero.
        lanes.images[0, entry, lane] = 0
        lanes.images[1, entry, lane] = 0
        if len(known):
            lanes.known[entry, lane] = known[sample, entry]
    for entry in range(codes.shape[1]):
        lanes.codes[0, entry, lane] = codes[sample, entry]
        lanes.codes[1, entry, lane] = np.float32(0) if splits else codes[sample, entry]
