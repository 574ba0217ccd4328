"""The cost of Eq. (16) on blocks of samples: its value along a line, and its gradient with all that CG needs.

Codes, gradients and directions are arrays of shape (blocks, atoms, WIDTH), stored in float32; sums over
samples are taken in float64. One pass reads each of them once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sedil.engines.fused.kernels.blocks import WIDTH, Operator, analyze, half_of, synthesize
from sedil.engines.fused.kernels.columns import multiply_axis
from sedil.engines.fused.kernels.decorators import ONE, inner, kernel
from sedil.engines.fused.kernels.llvm import address
from sedil.engines.fused.kernels.tile import LANES, PAIRS, pairs_of_many

_BYTES = 4
_GROUP = 16  # factors 1 + rho x^2 that are multiplied in float64 before one logarithm is taken


class Room(NamedTuple):
    """What the passes need besides their arguments, one per thread.

    Attributes
    ----------
    codes, slope : (atoms, WIDTH)
    residual : (entries, WIDTH)
    between : what lies between two products, whichever factors they leave out
    pairs : vectors of sums of the factor gradients, flat, one factor after the other
    lanes : (WIDTH,), float64
    """

    codes: np.ndarray
    slope: np.ndarray
    residual: np.ndarray
    between: np.ndarray
    pairs: np.ndarray
    lanes: np.ndarray

    @classmethod
    def create(cls, operator: Operator) -> Room:
        """For this dictionary."""
        length, count = int(np.prod(operator.lengths)), int(np.prod(operator.counts))
        largest = int(np.prod(np.maximum(operator.lengths, operator.counts)))
        return cls(
            np.zeros((count, WIDTH), np.float32),
            np.zeros((count, WIDTH), np.float32),
            np.zeros((length, WIDTH), np.float32),
            np.empty((2, largest, WIDTH), np.float32),
            np.zeros(len(operator.synthesis) * LANES, np.float32),
            np.zeros(WIDTH),
        )


@inner
def _log_sum(codes, scale, product):
    """Sum of ``ln(1 + rho x^2)``. Paper: Eq. (4). `product` is room for one float64 value per lane."""
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
    """``residual -= patches``; returns the squared length of the difference. `energy` is room as above."""
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


@kernel
def value_along(operator, patches, codes, direction, size, scale, room):
    """Sums of squared residuals and of logarithms at ``codes + size * direction``, which is never stored."""
    energy, logs = 0.0, 0.0
    for block in range(len(patches)):
        _move(codes[block], direction[block], size, room.codes)
        synthesize(operator, room.codes, room.residual, room.between)
        energy += _subtract(room.residual, patches[block], room.lanes)
        logs += _log_sum(room.codes, scale, room.lanes)
    return energy, logs


@kernel
def gradient_along(
    operator, patches, codes, direction, size, gradient, scale, price, factor, room, products, with_value
):
    """Go to ``codes + size * direction``, in place, and find the gradient there, in place of the old one.

    Parameters
    ----------
    factor : what the gradient of the codes is multiplied with
    products : (3,): squared length of the new gradient, its products with the old one and with the direction

    Returns
    -------
    Sums of squared residuals and of logarithms; the latter zero if not `with_value`. The sums of the factor
    gradients are added to `room.pairs`.
    """
    energy, logs = 0.0, 0.0
    for block in range(len(patches)):
        _move(codes[block], direction[block], size, codes[block])
        synthesize(operator, codes[block], room.residual, room.between)
        energy += _subtract(room.residual, patches[block], room.lanes)
        if with_value:
            logs += _log_sum(codes[block], scale, room.lanes)
        analyze(operator, room.residual, room.slope, room.between)
        _finish_gradient(
            codes[block], room.slope, direction[block], gradient[block], scale, price, factor, products
        )
        _add_factor_gradients(operator, codes[block], room)
    return energy, logs


@inner
def _finish_gradient(codes, slope, direction, gradient, scale, price, factor, products):
    """Add the slope of the logarithms (Eq. 4), and take the products that Eq. (32) and (33) need.

    In several loops over flat arrays: LLVM makes no vectors of one that touches four arrays at once.
    """
    codes, slope = codes.reshape(-1), slope.reshape(-1)
    direction, gradient = direction.reshape(-1), gradient.reshape(-1)
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
def _add_factor_gradients(operator, codes, room):
    """Add ``sum R (other factors) X^T`` of a block to the vectors of sums of each factor."""
    start, n_before, step = 0 * ONE, ONE, WIDTH * len(room.residual)
    for axis in range(len(operator.lengths)):
        length, count = operator.lengths[axis], operator.counts[axis]
        step //= length
        half = _multiply_others(operator, codes, axis, room)
        partial = codes if half < 0 else room.between[half]
        _add_pairs(room.residual, partial, room.pairs, start, length, count, n_before, step)
        n_before *= length
        start += length * count


@inner
def _multiply_others(operator, codes, skipped, room):
    """Codes multiplied with all factors but one; which half of the room holds them, or -1 if `codes` do."""
    n_before, step, half = ONE, WIDTH * len(codes), -1
    matrix, source = address(operator.synthesis), address(codes)
    for axis in range(len(operator.lengths)):
        length, count = operator.lengths[axis], operator.counts[axis]
        step //= count
        if axis == skipped:
            n_before *= count
        else:
            half = 0 if half < 0 else 1 - half
            target = half_of(room.between, half)
            multiply_axis(matrix, length, count, source, n_before, step, target)
            source = target
            n_before *= length
        matrix += _BYTES * length * count
    return half


@inner
def _add_pairs(residual, partial, sums, start, length, count, n_before, step):
    """``sums[i, j, :] += sum residual[.., i, .., :] * partial[.., j, .., :]``, one vector per pair."""
    left_gap, right_gap = (length - 1) * step, (count - 1) * step
    n_rows, n_columns = length - length % PAIRS[0], count - count % PAIRS[1]
    for row in range(0, n_rows, PAIRS[0]):
        left = address(residual) + _BYTES * row * step
        for column in range(0, n_columns, PAIRS[1]):
            right = address(partial) + _BYTES * column * step
            place = address(sums) + _BYTES * LANES * (start + row * count + column)
            pairs = place, count * LANES, LANES, left, step, left_gap, right, step, right_gap
            pairs_of_many(*pairs, step // LANES, n_before)
    for row in range(length):
        for column in range(n_columns if row < n_rows else 0, count):
            _add_one_pair(residual, partial, sums, start, length, count, n_before, step, row, column)


@inner
def _add_one_pair(residual, partial, sums, start, length, count, n_before, step, row, column):
    """One pair of those that do not fill a tile."""
    left, right = residual.reshape(-1), partial.reshape(-1)
    place = LANES * (start + row * count + column)
    for before in range(n_before):
        at_left, at_right = (before * length + row) * step, (before * count + column) * step
        for entry in range(step):
            sums[place + entry % LANES] += left[at_left + entry] * right[at_right + entry]


@kernel
def turn(gradient, direction, beta):
    """The next direction in place of the last, ``beta H - G``. Paper: Eq. (31)."""
    gradient, direction = gradient.reshape(-1), direction.reshape(-1)
    for entry in range(len(gradient)):
        direction[entry] = beta * direction[entry] - gradient[entry]


@kernel
def analyze_blocks(operator, patches, codes, room):
    """Inner products of all patches with all atoms, block by block."""
    for block in range(len(patches)):
        analyze(operator, patches[block], codes[block], room.between)
