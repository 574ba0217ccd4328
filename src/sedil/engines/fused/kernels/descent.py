"""Coordinate descent for the l1 problem of one sample, on the few atoms that it uses.

Of a sample only its correlations with all atoms are needed, and of the dictionary only the small Gram
matrices ``G_k = A_k^T A_k``: the correlations with the residual of a code X are those of the sample less
``G_1 X G_2`` (for two axes; one product per axis in general). Atoms whose correlation exceeds the penalty
join those in use; descent on these alone, whose mutual products are written out, takes a few vector
instructions per coefficient. Most samples of a photograph are solved after one to three looks at all atoms,
where FISTA takes tens of products with the whole dictionary.

A *sheet* is a flat array of codes whose last axis is filled up with zeros to whole tiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from sedil.engines.fused.kernels.columns import multiply_axis
from sedil.engines.fused.kernels.decorators import ONE, inlined, kernel, pasted
from sedil.engines.fused.kernels.llvm import LANES, address, aligned_zeros
from sedil.engines.fused.kernels.sheets import add_scaled, clear, lanes_above, subtract_and_compare
from sedil.engines.fused.kernels.tile import COLUMNS

_BYTES = 4
_LENGTHENING = np.float32(1.4)  # of each step beyond its minimum; below 2, and neighbouring atoms need fewer
_SWEEPS = 5  # over the atoms in use between two looks at all atoms
_SMALL_STEP = np.float32(0.05)  # of the penalty: after a sweep of no larger steps comes the next look
_ENTRY = np.float32(0.4)  # atoms that exceed the penalty by this share of the largest excess join


class Limits(NamedTuple):
    """When a sample is done: relative duality gap, and looks at all atoms at most.

    `crowded_looks` is for samples that use more atoms than they have entries.
    """

    tolerance: np.float32
    max_looks: int
    crowded_looks: int

    @classmethod
    def create(cls, tolerance: float, max_looks: int, crowded_looks: int) -> Limits:
        """The limits in the types that the kernels are compiled for."""
        return cls(np.float32(tolerance), max_looks, crowded_looks)


class Descent(NamedTuple):
    """Dictionary and room for one sample at a time.

    Attributes
    ----------
    width : columns of a sheet
    last_factor, last_gram : (rows, width), of the last axis
    grams : the Gram matrices of all other axes, one after the other
    thresholds, inverse : sheets: the penalty of each coefficient, and one over it
    patch : (entries,)
    target : sheet: correlations of all atoms with the patch
    correlations : sheet: correlations with the residual
    is_used : sheet: whether an atom is among `used`
    zeros : sheet
    room : (2, ...), what lies between two products
    used : places in the sheet of the atoms in use
    digits : (axes, most), their indices along each axis
    coefficients, own : (most,), of those atoms: coefficients, correlations with the residual
    mutual : (most, most), their inner products
    """

    width: int
    last_factor: np.ndarray
    last_gram: np.ndarray
    grams: np.ndarray
    thresholds: np.ndarray
    inverse: np.ndarray
    patch: np.ndarray
    target: np.ndarray
    correlations: np.ndarray
    is_used: np.ndarray
    zeros: np.ndarray
    room: np.ndarray
    used: np.ndarray
    digits: np.ndarray
    coefficients: np.ndarray
    own: np.ndarray
    mutual: np.ndarray

    @classmethod
    def create(cls, factors: Sequence[np.ndarray], thresholds: float | np.ndarray) -> Descent:
        """For these factors, and a penalty or one per atom (flat)."""
        lengths, counts = zip(*(factor.shape for factor in factors), strict=True)
        width = _rounded_up(counts[-1], COLUMNS)
        rows, entries = prod(counts[:-1]), prod(lengths)
        grams = [(factor.T.astype(np.float64) @ factor).astype(np.float32) for factor in factors]
        penalties = np.broadcast_to(thresholds, (prod(counts),)).astype(np.float32).reshape(rows, -1)
        # Rarely more than `entries` atoms are in use; pages of rows that no sample needs are never taken.
        most = _rounded_up(min(prod(counts), 2 * entries), LANES)
        partial = max(prod(lengths[:axis]) * prod(counts[axis:-1]) for axis in range(len(counts)))
        return cls(
            width=width,
            last_factor=_padded(factors[-1].astype(np.float32), width),
            last_gram=_padded(grams[-1], width),
            grams=np.concatenate([gram.ravel() for gram in grams[:-1]] or [np.empty(0, np.float32)]),
            thresholds=_padded(penalties, width, 1).ravel(),
            inverse=_padded(1 / penalties, width).ravel(),
            patch=aligned_zeros(entries),
            target=aligned_zeros(rows * width),
            correlations=aligned_zeros(rows * width),
            is_used=np.zeros(rows * width, np.bool_),
            zeros=aligned_zeros(rows * width),
            room=aligned_zeros((2, max(partial, rows) * width)),
            used=np.zeros(most, np.int64),
            digits=np.zeros((len(counts), most), np.int64),
            coefficients=aligned_zeros(most),
            own=aligned_zeros(most),
            mutual=aligned_zeros((most, most)),
        )


def _rounded_up(count: int, unit: int) -> int:
    return -(-count // unit) * unit


def _padded(matrix: np.ndarray, width: int, value: float = 0) -> np.ndarray:
    sheet = aligned_zeros((len(matrix), width))
    sheet[:, : matrix.shape[1]] = matrix
    sheet[:, matrix.shape[1] :] = value
    return sheet


@pasted
def room_of(descent, axis):
    """Where the product of this axis goes: in turn into either half of the room."""
    return address(descent.room) + _BYTES * (axis % 2) * descent.room.shape[1]


@pasted
def correlate_patch(operator, descent):
    """``target = D^T s``, the last axis first."""
    last = len(operator.lengths) - 1
    length, count = operator.lengths[last], operator.counts[last]
    n_before, step = len(descent.patch) // length, descent.width
    factor = address(operator.analysis) + _BYTES * (len(operator.analysis) - length * count)
    source = address(descent.target) if last == 0 else room_of(descent, last)
    multiply_axis(address(descent.patch), n_before, length, address(descent.last_factor), ONE, step, source)
    for axis in range(last - 1, -1, -1):
        length, count = operator.lengths[axis], operator.counts[axis]
        n_before //= length
        factor -= _BYTES * length * count
        target = address(descent.target) if axis == 0 else room_of(descent, axis)
        multiply_axis(factor, count, length, source, n_before, step, target)
        step *= count
        source = target


@pasted
def look_at_all(operator, descent, size):
    """Correlations of all atoms with the residual; the largest in units of its penalty is returned."""
    product = address(descent.zeros)
    if size:
        product = multiply_grams(operator, descent, size)
    return subtract_and_compare(
        address(descent.correlations),
        address(descent.target),
        product,
        address(descent.inverse),
        len(descent.target) // LANES,
    )


@pasted
def multiply_grams(operator, descent, size):
    """The code times the Gram matrices of all axes; returns its address."""
    last = len(operator.counts) - 1
    n_before, step = len(descent.target) // descent.width, descent.width
    gram = address(descent.grams) + _BYTES * len(descent.grams)
    source = room_of(descent, last)
    multiply_last_gram(descent, size, source)
    for axis in range(last - 1, -1, -1):
        count = operator.counts[axis]
        n_before //= count
        gram -= _BYTES * count * count
        target = room_of(descent, axis)
        multiply_axis(gram, count, count, source, n_before, step, target)
        step *= count
        source = target
    return source


@pasted
def multiply_last_gram(descent, size, sheet):
    """The code times the Gram matrix of the last axis: one row of it per coefficient."""
    n_vectors = descent.width // LANES
    clear(sheet, len(descent.target) // LANES)
    for atom in range(size):
        value = descent.coefficients[atom]
        if value != 0:
            column = descent.used[atom] % descent.width
            first = descent.used[atom] - column
            gram_row = address(descent.last_gram) + _BYTES * column * descent.width
            add_scaled(sheet + _BYTES * first, value, gram_row, n_vectors)


@pasted
def relative_gap(descent, size, energy, largest):
    """Relative duality gap as `LassoProblem.relative_gap`, from the atoms in use alone."""
    length, explained, left = 0.0, 0.0, 0.0
    for atom in range(size):
        value, place = descent.coefficients[atom], descent.used[atom]
        length += descent.thresholds[place] * abs(value)
        explained += value * descent.target[place]
        left += value * descent.correlations[place]
    residual = energy - explained - left
    scale = 1 / max(largest, 1.0)
    primal = residual / 2 + length
    dual = scale * (energy - explained) - scale * scale * residual / 2
    return 2 * (primal - dual) / energy


@pasted
def add_violators(operator, descent, size, largest):
    """Let the atoms join whose correlation exceeds their penalty most.

    They take the places of atoms whose coefficient has become zero, and new ones behind the others. Returns
    how many are in use then, and how many have joined.
    """
    limit = np.float32(1) + _ENTRY * (largest - np.float32(1))
    place, joined = 0, 0
    correlations, inverse = address(descent.correlations), address(descent.inverse)
    for first in range(0, len(descent.target), LANES):
        above = lanes_above(correlations + _BYTES * first, inverse + _BYTES * first, limit)
        atom = first
        while above:
            if above & 1 and not descent.is_used[atom]:
                while place < size and descent.coefficients[place] != 0:
                    place += 1
                if place == len(descent.used):
                    return size, joined
                if place < size:
                    descent.is_used[descent.used[place]] = False
                join(operator, descent, place, max(size, place + 1), atom)
                place, joined = place + 1, joined + 1
                size = max(size, place)
            above >>= 1
            atom += 1
    return size, joined


@inlined
def join(operator, descent, place, size, atom):
    """Put one atom at this place of those in use, with a zero coefficient."""
    last = len(operator.counts) - 1
    left, start = atom // descent.width, len(descent.grams)
    column = atom % descent.width
    descent.digits[last, place] = column
    for other in range(size):
        descent.mutual[place, other] = descent.last_gram[column, descent.digits[last, other]]
    for axis in range(last - 1, -1, -1):
        count = operator.counts[axis]
        digit = left % count
        left //= count
        start -= count * count
        descent.digits[axis, place] = digit
        for other in range(size):
            descent.mutual[place, other] *= descent.grams[start + digit * count + descent.digits[axis, other]]
    for other in range(size):
        descent.mutual[other, place] = descent.mutual[place, other]
    descent.is_used[atom] = True
    descent.used[place] = atom
    descent.coefficients[place] = 0


@pasted
def descend(descent, size, small_step):
    """Sweep over the atoms in use until all steps are small."""
    coefficients, own, mutual = descent.coefficients, descent.own, descent.mutual
    zero = np.float32(0)
    n_vectors = -(-size // LANES)  # what lies beyond `size` is moved in vain
    row_length = _BYTES * mutual.shape[1]
    for atom in range(size):
        own[atom] = descent.correlations[descent.used[atom]]
    for _ in range(_SWEEPS):
        largest = zero
        for atom in range(size):
            threshold = descent.thresholds[descent.used[atom]]
            old = coefficients[atom]
            moved = old + _LENGTHENING * own[atom]
            wall = _LENGTHENING * threshold
            new = max(moved - wall, zero) + min(moved + wall, zero)
            if new != old:
                difference = new - old
                coefficients[atom] = new
                add_scaled(address(own), -difference, address(mutual) + atom * row_length, n_vectors)
                largest = max(largest, abs(difference) / threshold)
        if largest < small_step:
            break


@inlined
def solve_one(operator, descent, limits, size):
    """Solve for `descent.patch`, from the so many atoms in use.

    Returns the number of atoms in use (some may have the coefficient zero), the gap, and the looks taken.
    """
    energy = 0.0
    for entry in range(len(descent.patch)):
        energy += descent.patch[entry] * descent.patch[entry]
    if energy == 0:
        forget(descent, size)
        return 0, 0.0, 0
    correlate_patch(operator, descent)
    looks = 0
    while True:
        largest = look_at_all(operator, descent, size)
        gap = relative_gap(descent, size, energy, largest)
        most = limits.max_looks if size <= len(descent.patch) else limits.crowded_looks
        if gap <= limits.tolerance or looks >= most:
            return size, gap, looks
        size, joined = add_violators(operator, descent, size, largest)
        descend(descent, size, _SMALL_STEP if joined else np.float32(0))
        looks += 1


@pasted
def forget(descent, size):
    """Let no atom be in use."""
    for place in range(size):
        descent.is_used[descent.used[place]] = False


@pasted
def flat_index(operator, descent, place):
    """Index in a flat code of the atom in use at this place."""
    atom = descent.used[place]
    return atom // descent.width * operator.counts[-1] + atom % descent.width


@kernel
def solve(operator, descent, limits, patches, codes, gaps, looks):
    """Codes (n, atoms) of all `patches` (n, entries), in place of zeros.

    Their gaps and numbers of looks go into `gaps` and `looks`, (n,).
    """
    for sample in range(len(patches)):
        copy_patch(patches[sample], descent)
        size, gaps[sample], looks[sample] = solve_one(operator, descent, limits, 0 * ONE)
        hand_out(operator, descent, size, codes[sample])


@kernel
def solve_from(operator, descent, limits, patches, codes, gaps, looks):
    """As `solve`, from the codes at hand. A kernel of its own, as few need it and all would wait for it."""
    for sample in range(len(patches)):
        copy_patch(patches[sample], descent)
        size = start_from(operator, descent, codes[sample])
        for index in range(codes.shape[1]):
            codes[sample, index] = 0
        size, gaps[sample], looks[sample] = solve_one(operator, descent, limits, size)
        hand_out(operator, descent, size, codes[sample])


@pasted
def hand_out(operator, descent, size, code):
    """Write the coefficients into a code of zeros, and let no atom be in use."""
    for place in range(size):
        code[flat_index(operator, descent, place)] = descent.coefficients[place]
    forget(descent, size)


@pasted
def copy_patch(patch, descent):
    """Set the patch to be solved for."""
    for entry in range(len(patch)):
        descent.patch[entry] = patch[entry]


@inlined
def start_from(operator, descent, code):
    """Let the atoms of a code be in use; returns their number."""
    size, count = 0 * ONE, operator.counts[-1]
    for index in range(len(code)):
        if code[index] != 0 and size < len(descent.used):
            join(operator, descent, size, size + 1, index // count * descent.width + index % count)
            descent.coefficients[size] = code[index]
            size += 1
    return size
