"""The cost of Eq. (16) on blocks of samples: its value along a line, and its gradient with all that CG needs.

Codes, gradients and directions are arrays of shape (blocks, atoms, WIDTH), stored in float32; sums over
samples are taken in float64. One pass reads each of them once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sedil.engines.fused.kernels.blocks import Operator, analyze, half_address, multiply_axes, synthesize
from sedil.engines.fused.kernels.compilation import ONE, inner, kernel
from sedil.engines.fused.kernels.entrance import takes
from sedil.engines.fused.kernels.tiles import PAIRS, pairs_of_many, pairs_of_one
from sedil.engines.fused.kernels.vectors import BYTES, LANES, WIDTH, address

_GROUP = 16  # factors 1 + rho x^2 that are multiplied in float64 before one logarithm is taken


class CostWorkspace(NamedTuple):
    """What the passes need besides their arguments, one per thread.

    Attributes
    ----------
    codes, slope : (atoms, WIDTH)
    residual : (entries, WIDTH)
    halves : what lies between two products, whichever factors they leave out
    pairs : vectors of sums of the factor gradients, flat, one factor after the other
    products : (3,), float64: squared length of the new gradient, its products with the old one and with the
        direction
    lanes : (WIDTH,), float64
    """

    codes: np.ndarray
    slope: np.ndarray
    residual: np.ndarray
    halves: np.ndarray
    pairs: np.ndarray
    products: np.ndarray
    lanes: np.ndarray

    @classmethod
    def create(cls, operator: Operator) -> CostWorkspace:
        """For this dictionary."""
        length, count = int(np.prod(operator.lengths)), int(np.prod(operator.counts))
        largest = int(np.prod(np.maximum(operator.lengths, operator.counts)))
        return cls(
            np.zeros((count, WIDTH), np.float32),
            np.zeros((count, WIDTH), np.float32),
            np.zeros((length, WIDTH), np.float32),
            np.empty((2, largest, WIDTH), np.float32),
            np.zeros(len(operator.synthesis) * LANES, np.float32),
            np.zeros(3),
            np.zeros(WIDTH),
        )


class CodeWeights(NamedTuple):
    """Scale rho and weight lambda of the sparsity, Eq. (4), and a factor for the gradient of the codes."""

    scale: np.float32
    price: np.float32
    factor: np.float32


@inner
def _log_sum(codes, scale, product):
    """Sum of ``ln(1 + rho x^2)``. Paper: Eq. (4). `product` gets one float64 value per lane."""
    total = 0.0
    for lane in range(WIDTH):
        product[lane] = 1
    for entry in range(codes.shape[0]):
        for lane in range(WIDTH):
            value = np.float64(codes[entry, lane])
            product[lane] *= 1 + scale * value * value
        if entry % _GROUP == _GROUP - 1 or entry == codes.shape[0] - 1:
            for lane in range(WIDTH):
                total += np.log(product[lane])
                product[lane] = 1
    return total


@inner
def _subtract(residual, patches, energy):
    """``residual -= patches``; returns the squared length of the difference. `energy` as above."""
    for lane in range(WIDTH):
        energy[lane] = 0
    for entry in range(residual.shape[0]):
        for lane in range(WIDTH):
            difference = residual[entry, lane] - patches[entry, lane]
            residual[entry, lane] = difference
            energy[lane] += np.float64(difference) * difference
    total = 0.0
    for lane in range(WIDTH):
        total += energy[lane]
    return total


@inner
def _move(codes, direction, size, out):
    codes, direction, out = codes.reshape(-1), direction.reshape(-1), out.reshape(-1)
    for entry in range(len(codes)):
        out[entry] = codes[entry] + size * direction[entry]


@takes(
    patches="float32 blocks entries width",
    codes="float32 blocks atoms width",
    direction="float32 blocks atoms width",
    workspace__codes="float32 atoms width",
    workspace__residual="float32 entries width",
)
@kernel
def value_along(operator, patches, codes, direction, size, scale, workspace):
    """Sums of squared residuals and of logarithms at ``codes + size * direction``, which is never stored."""
    energy, logs = 0.0, 0.0
    for block in range(len(patches)):
        _move(codes[block], direction[block], size, workspace.codes)
        synthesize(operator, workspace.codes, workspace.residual, workspace.halves)
        energy += _subtract(workspace.residual, patches[block], workspace.lanes)
        logs += _log_sum(workspace.codes, scale, workspace.lanes)
    return energy, logs


@takes(
    patches="float32 blocks entries width",
    codes="float32 blocks atoms width",
    direction="float32 blocks atoms width",
    gradient="float32 blocks atoms width",
    workspace__codes="float32 atoms width",
    workspace__residual="float32 entries width",
    workspace__pairs="float32 pairs",
)
@kernel
def gradient_along(operator, patches, codes, direction, size, gradient, weights, workspace, with_value):
    """Go to ``codes + size * direction``, in place, and find the gradient there, in place of the old one.

    Returns the sums of squared residuals and of logarithms; the latter zero if not `with_value`. The sums of
    the factor gradients are added to `workspace.pairs`, the products of the gradient to `workspace.products`.
    """
    energy, logs = 0.0, 0.0
    for block in range(len(patches)):
        _move(codes[block], direction[block], size, codes[block])
        synthesize(operator, codes[block], workspace.residual, workspace.halves)
        energy += _subtract(workspace.residual, patches[block], workspace.lanes)
        if with_value:
            logs += _log_sum(codes[block], weights.scale, workspace.lanes)
        analyze(operator, workspace.residual, workspace.slope, workspace.halves)
        _finish_gradient(
            codes[block], workspace.slope, direction[block], gradient[block], weights, workspace.products
        )
        _add_factor_gradients(operator, codes[block], workspace)
    return energy, logs


@inner
def _finish_gradient(codes, slope, direction, gradient, weights, products):
    """Add the slope of the logarithms (Eq. 4), and take the products that Eq. (32) and (33) need.

    In several loops over flat arrays: LLVM makes no vectors of one that touches four arrays at once.
    """
    codes, slope = codes.reshape(-1), slope.reshape(-1)
    direction, gradient = direction.reshape(-1), gradient.reshape(-1)
    scale, price, factor = weights
    one, twice = np.float32(1), np.float32(2) * price * scale  # an int constant would turn all into float64
    for entry in range(len(codes)):
        code = codes[entry]
        slope[entry] = factor * (slope[entry] + twice * code / (one + scale * code * code))
    squared, along, with_old = np.float32(0), np.float32(0), np.float32(0)
    for entry in range(len(codes)):
        squared += slope[entry] * slope[entry]
        along += slope[entry] * direction[entry]
    for entry in range(len(codes)):
        with_old += slope[entry] * gradient[entry]
        gradient[entry] = slope[entry]
    products[0] += squared
    products[1] += with_old
    products[2] += along


@inner
def _add_factor_gradients(operator, codes, workspace):
    """Add ``sum R (other factors) X^T`` of a block to the vectors of sums of each factor."""
    start, n_before = 0 * ONE, ONE
    step, step_of_codes = WIDTH * len(workspace.residual), WIDTH * len(codes)
    for axis in range(len(operator.lengths)):
        length, count = operator.lengths[axis], operator.counts[axis]
        step, step_of_codes = step // length, step_of_codes // count
        pairs = address(workspace.pairs) + BYTES * LANES * start
        start += length * count
        shape = n_before * count, step_of_codes
        partial = _multiply_others(operator, codes, axis, start, shape, workspace.halves)
        _add_pairs(pairs, address(workspace.residual), partial, length, count, n_before, step)
        n_before *= length


@inner
def _multiply_others(operator, codes, skipped, end, shape, pair):
    """Codes multiplied with all factors but one; returns their address.

    The skipped factor ends at this index of all factors. `shape` is that of the codes after the products
    before it: entries up to that axis and along it, and values of each of them.
    """
    lengths, counts, begin = operator.lengths, operator.counts, address(operator.synthesis)
    axes = 0 * ONE, skipped * ONE, ONE
    # The last of the products before goes to the second half.
    halves = half_address(pair, skipped % 2), half_address(pair, 1 - skipped % 2)
    size, source = WIDTH * len(codes), address(codes)
    source = multiply_axes(begin, lengths, counts, axes, ONE, size, source, halves, 0 * ONE)
    axes = skipped + ONE, len(lengths) * ONE, ONE
    halves = half_address(pair, 0), half_address(pair, 1)
    n_before, step = shape
    begin += BYTES * end
    return multiply_axes(begin, lengths, counts, axes, n_before, step, source, halves, 0 * ONE)


@inner
def _add_pairs(pairs, residual, partial, length, count, n_before, step):
    """``pairs[i, j, :] += sum residual[.., i, .., :] * partial[.., j, .., :]``, one vector per pair.

    Arrays as addresses.
    """
    n_rows, n_columns = length - length % PAIRS[0], count - count % PAIRS[1]
    for row in range(0, n_rows, PAIRS[0]):
        for column in range(0, n_columns, PAIRS[1]):
            out = pairs + BYTES * LANES * (row * count + column), LANES * count, LANES * ONE
            left = residual + BYTES * row * step, step, (length - 1) * step
            right = partial + BYTES * column * step, step, (count - 1) * step
            pairs_of_many(out, left, right, step // LANES, n_before)
    for row in range(length):
        for column in range(n_columns if row < n_rows else 0, count):
            out = pairs + BYTES * LANES * (row * count + column), LANES * count, LANES * ONE
            left = residual + BYTES * row * step, step, (length - 1) * step
            right = partial + BYTES * column * step, step, (count - 1) * step
            pairs_of_one(out, left, right, step // LANES, n_before)


@takes(gradient="float32 blocks atoms width", direction="float32 blocks atoms width")
@kernel
def turn(gradient, direction, beta):
    """The next direction in place of the last, ``beta H - G``. Paper: Eq. (31)."""
    gradient, direction = gradient.reshape(-1), direction.reshape(-1)
    for entry in range(len(gradient)):
        direction[entry] = beta * direction[entry] - gradient[entry]


@takes(
    patches="float32 blocks entries width",
    codes="float32 blocks atoms width",
    workspace__codes="float32 atoms width",
    workspace__residual="float32 entries width",
)
@kernel
def analyze_blocks(operator, patches, codes, workspace):
    """Inner products of all patches with all atoms, block by block."""
    for block in range(len(patches)):
        analyze(operator, patches[block], codes[block], workspace.halves)
