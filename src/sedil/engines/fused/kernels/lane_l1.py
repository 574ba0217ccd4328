"""The l1 problem on lanes: state, FISTA and ADMM as in the portable engine, duality gaps, the kernel."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sedil.engines.fused.kernels.blocks import Operator, analyze, block_workspace, synthesize
from sedil.engines.fused.kernels.compilation import allocating, inner, kernel, ordered, pasted
from sedil.engines.fused.kernels.entrance import takes
from sedil.engines.fused.kernels.lanes import IDLE, run_lanes
from sedil.engines.fused.kernels.vectors import WIDTH, aligned_zeros


class L1Lanes(NamedTuple):
    """The state of a block: arrays of shape (entries, WIDTH), and one value per lane.

    Attributes
    ----------
    patches, known, residual : entries of the patch
    codes : (2, entries of the code, WIDTH), the latest codes and those before; for ADMM, codes and dual
    images : (2, entries, WIDTH), what these codes stand for
    latest : (1,), which of the two is the latest
    slope : entries of the code
    thresholds : (n_atoms,), the penalty of each coefficient
    step : length of the steps of FISTA, 1 / ||D||^2
    sample, iteration : which sample the lane solves, and for how many iterations it has
    momentum, gap : of the lane
    weights : of the lane: how far momentum carries on, in units of the last change of the codes
    uphill : of the lane: the scalar product that tells uphill from downhill
    workspace : what lies between two products
    """

    patches: np.ndarray
    known: np.ndarray
    residual: np.ndarray
    codes: np.ndarray
    images: np.ndarray
    latest: np.ndarray
    slope: np.ndarray
    thresholds: np.ndarray
    step: np.float32
    sample: np.ndarray
    iteration: np.ndarray
    momentum: np.ndarray
    gap: np.ndarray
    weights: np.ndarray
    uphill: np.ndarray
    workspace: np.ndarray

    @classmethod
    def create(cls, operator: Operator, thresholds: float | np.ndarray, step: float) -> L1Lanes:
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
            step=np.float32(step),
            sample=np.full(WIDTH, IDLE, np.int64),
            iteration=np.zeros(WIDTH, np.int64),
            momentum=np.ones(WIDTH, np.float32),
            gap=np.zeros(WIDTH, np.float32),
            weights=aligned_zeros(WIDTH),
            uphill=aligned_zeros(WIDTH),
            workspace=block_workspace(operator),
        )


@allocating
def measure_gaps(operator, lanes):
    """Relative duality gap of each lane at its codes, as `LassoProblem.relative_gap`."""
    codes = lanes.codes[lanes.latest[0]]
    synthesize(operator, codes, lanes.residual, lanes.workspace)
    for entry in range(lanes.residual.shape[0]):
        for lane in range(WIDTH):
            difference = lanes.patches[entry, lane] - lanes.residual[entry, lane]
            lanes.residual[entry, lane] = difference * lanes.known[entry, lane]
    analyze(operator, lanes.residual, lanes.slope, lanes.workspace)
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


@takes(
    lanes__patches="float32 entries width",
    lanes__slope="float32 atoms width",
    patches="float32 n entries",
    known="float32 n_or_none entries",
    codes="float32 n atoms",
    gaps="float32 n",
    iterations="int64 n",
)
@kernel
def solve_l1_on_lanes(operator, lanes, stopping, splitting, patches, known, codes, gaps, iterations):
    """Codes of all `patches`, in place of the first ones: by ADMM if `splitting` is used, else by FISTA.

    Parameters
    ----------
    operator : Operator
    lanes : L1Lanes
    stopping : Stopping
    splitting : Splitting
    patches : (n, entries)
    known : (n, entries), 1 where data is known; or (0, entries) if all is
    codes : (n, atoms): where to start, and then the result
    gaps, iterations : (n,), results
    """
    task = operator, lanes, stopping, splitting, patches, known, codes, gaps, iterations
    run_lanes(lanes.sample, len(patches), task, _load, _advance, _goes_on, _finish)


@pasted
def _load(task, lane, sample):
    _, lanes, _, splitting, patches, known, codes, _, _ = task
    load_lane(lanes, lane, sample, patches, known, codes, splitting.is_used)
    return True


@inner
def load_lane(lanes, lane, sample, patches, known, codes, with_dual):
    """Start a lane anew; with ADMM its second array of codes is the dual, which starts at zero."""
    lanes.iteration[lane] = 0
    lanes.momentum[lane] = 1
    lanes.weights[lane] = 0
    for entry in range(patches.shape[1]):
        lanes.patches[entry, lane] = patches[sample, entry]
        # The images of the sample before have no weight, but zero times infinity is not zero.
        lanes.images[0, entry, lane] = 0
        lanes.images[1, entry, lane] = 0
        if len(known):
            lanes.known[entry, lane] = known[sample, entry]
    for entry in range(codes.shape[1]):
        lanes.codes[0, entry, lane] = codes[sample, entry]
        lanes.codes[1, entry, lane] = np.float32(0) if with_dual else codes[sample, entry]


@pasted
def _advance(task):
    operator, lanes, stopping, splitting, _, _, _, _, _ = task
    if splitting.is_used:
        iterate_admm(operator, lanes, splitting, stopping.check_every)
    else:
        iterate_fista(operator, lanes, stopping.check_every)
    measure_gaps(operator, lanes)


@pasted
def _goes_on(task, lane):
    _, lanes, stopping, _, _, _, _, _, _ = task
    return not (lanes.gap[lane] <= stopping.tolerance or lanes.iteration[lane] >= stopping.max_iterations)


@pasted
def _finish(task, lane):
    _, lanes, _, _, _, _, codes, gaps, iterations = task
    sample = lanes.sample[lane]
    for entry in range(codes.shape[1]):
        codes[sample, entry] = lanes.codes[lanes.latest[0], entry, lane]
    gaps[sample], iterations[sample] = lanes.gap[lane], lanes.iteration[lane]


@inner
def iterate_fista(operator, lanes, times):
    """So many iterations on all lanes.

    The codes ahead, ``x + w (x - x')`` for the latest codes x and those before, are not written down: what
    they stand for is ``Dx + w (Dx - Dx')``, and each of their entries is needed once, in the step.
    """
    latest = lanes.latest[0]
    n_odd = 0
    for lane in range(WIDTH):
        n_odd += lanes.iteration[lane] % 2
    for number in range(times):
        # A lane is tested for restart in its even iterations; as a rule all lanes are of one parity.
        tests = (WIDTH - n_odd if number % 2 else n_odd) > 0
        synthesize(operator, lanes.codes[latest], lanes.images[latest], lanes.workspace)
        find_residual_ahead(lanes, lanes.images[latest], lanes.images[1 - latest])
        analyze(operator, lanes.residual, lanes.slope, lanes.workspace)
        take_step(lanes, lanes.codes[latest], lanes.codes[1 - latest], tests)
        update_momentum(lanes)
        latest = 1 - latest
    lanes.latest[0] = latest


@ordered
def find_residual_ahead(lanes, image, before):
    """Residual of the codes ahead, from what the latest codes and those before stand for."""
    for entry in range(image.shape[0]):
        for lane in range(WIDTH):
            now = image[entry, lane]
            ahead = now + lanes.weights[lane] * (now - before[entry, lane])
            lanes.residual[entry, lane] = (lanes.patches[entry, lane] - ahead) * lanes.known[entry, lane]


@ordered
def take_step(lanes, codes, before, tests):
    """From the codes ahead, ``codes + weight * (codes - before)``, a step along the slope and shrinkage.

    The new codes go in place of those before; if it `tests`, ``(ahead - new) * (new - codes)`` is added to
    `lanes.uphill`.
    """
    for atom in range(codes.shape[0]):
        wall = lanes.step * lanes.thresholds[atom]
        for lane in range(WIDTH):
            code = codes[atom, lane]
            ahead = code + lanes.weights[lane] * (code - before[atom, lane])
            moved = ahead + lanes.step * lanes.slope[atom, lane]
            new = moved - min(max(moved, -wall), wall)
            if tests:
                lanes.uphill[lane] += (ahead - new) * (new - code)
            before[atom, lane] = new


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
