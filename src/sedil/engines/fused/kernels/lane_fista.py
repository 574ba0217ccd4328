"""FISTA with restart on lanes: the same iterations as in the portable engine."""

from __future__ import annotations

import numpy as np

from sedil.engines.fused.kernels.blocks import analyze, synthesize
from sedil.engines.fused.kernels.decorators import inner, ordered
from sedil.engines.fused.kernels.memory import WIDTH


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
