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

from sedil.engines.fused.kernels.blocks import half_address, multiply_axes, multiply_axis
from sedil.engines.fused.kernels.compilation import ONE, inlined, kernel, pasted
from sedil.engines.fused.kernels.entrance import takes
from sedil.engines.fused.kernels.tiles import COLUMNS
from sedil.engines.fused.kernels.vectors import BYTES, LANES, address, aligned_zeros

_LENGTHENING = np.float32(1.4)  # of each step beyond its minimum; below 2, and neighbouring atoms need fewer
_SWEEPS = 5  # over the atoms in use between two looks at all atoms
_SMALL_STEP = np.float32(0.05)  # of the penalty: after a sweep of no larger steps comes the next look
_ENTRY = np.float32(0.4)  # atoms that exceed the penalty by this share of the largest excess join


NO_LIMIT = np.iinfo(np.int64).max


class Descent(NamedTuple):
    """Dictionary and state of one sample at a time.

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
    excess : sheet: sizes of these correlations in units of their penalties
    is_above : sheet: whether this is so large that the atom joins
    workspace : (2, ...), what lies between two products
    used : indices in the sheet of the atoms in use
    digits : (axes, most), their indices along each axis
    coefficients, own : (most,), of those atoms: coefficients, correlations with the residual
    mutual : (most, most), their inner products
    crowded_looks : looks at all atoms at most of samples that use more atoms than they have entries
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
    excess: np.ndarray
    is_above: np.ndarray
    workspace: np.ndarray
    used: np.ndarray
    digits: np.ndarray
    coefficients: np.ndarray
    own: np.ndarray
    mutual: np.ndarray
    crowded_looks: int

    @classmethod
    def create(
        cls, factors: Sequence[np.ndarray], thresholds: float | np.ndarray, crowded_looks: int = NO_LIMIT
    ) -> Descent:
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
            excess=aligned_zeros(rows * width),
            is_above=np.zeros(rows * width, np.bool_),
            workspace=aligned_zeros((2, max(partial, rows) * width)),
            used=np.zeros(most, np.int64),
            digits=np.zeros((len(counts), most), np.int64),
            coefficients=aligned_zeros(most),
            own=aligned_zeros(most),
            mutual=aligned_zeros((most, most)),
            crowded_looks=crowded_looks,
        )


def _rounded_up(count: int, unit: int) -> int:
    return -(-count // unit) * unit


def _padded(matrix: np.ndarray, width: int, value: float = 0) -> np.ndarray:
    sheet = aligned_zeros((len(matrix), width))
    sheet[:, : matrix.shape[1]] = matrix
    sheet[:, matrix.shape[1] :] = value
    return sheet


@pasted
def correlate_patch(operator, descent):
    """``target = D^T s``, the last axis first."""
    last = len(operator.lengths) - 1
    length, count = operator.lengths[last], operator.counts[last]
    n_before, step = len(descent.patch) // length, descent.width
    first, second = half_address(descent.workspace, 0), half_address(descent.workspace, 1)
    source = address(descent.target) if last == 0 else first
    multiply_axis(address(descent.patch), n_before, length, address(descent.last_factor), ONE, step, source)
    end = address(operator.analysis) + BYTES * (len(operator.analysis) - length * count)
    multiply_earlier_axes(
        operator, end, operator.lengths, n_before, step, (first, second), address(descent.target)
    )


@pasted
def multiply_earlier_axes(operator, end, terms, n_before, step, halves, target):
    """All products but that of the last axis, which has gone to the first half; the matrices end at `end`."""
    axes = len(operator.counts) - 2 * ONE, -ONE, -ONE
    source, other = halves
    multiply_axes(end, operator.counts, terms, axes, n_before, step, source, (other, source), target)


@pasted
def look_at_all(operator, descent, size):
    """Correlations of all atoms with the residual; the largest in units of its penalty is returned."""
    product = descent.workspace[0]
    if size:
        correlate_code(operator, descent, size)
    else:
        product[:] = 0
    for atom in range(len(descent.target)):
        descent.correlations[atom] = descent.target[atom] - product[atom]
    for atom in range(len(descent.target)):
        descent.excess[atom] = abs(descent.correlations[atom]) * descent.inverse[atom]
    return largest_of(descent.excess)


@inlined
def largest_of(values):
    """The largest of values that are not negative.

    As integers, which LLVM compares in vectors: the larger of two such values is so in bits, too.
    """
    bits = values.view(np.int32)
    largest = np.int32(0)
    for entry in range(len(bits)):
        largest = max(largest, bits[entry])
    return np.int32(largest).view(np.float32)


@pasted
def correlate_code(operator, descent, size):
    """The code times the Gram matrices of all axes, to the first half of the workspace."""
    last = len(operator.counts) - 1
    n_rows, step = len(descent.target) // descent.width, descent.width
    first, second = half_address(descent.workspace, 0), half_address(descent.workspace, 1)
    halves = (first, second) if last % 2 == 0 else (second, first)
    multiply_last_gram(descent, size, descent.workspace[last % 2])
    end = address(descent.grams) + BYTES * len(descent.grams)
    multiply_earlier_axes(operator, end, operator.counts, n_rows, step, halves, 0 * ONE)


@pasted
def multiply_last_gram(descent, size, sheet):
    """The code times the Gram matrix of the last axis: one row of it per coefficient."""
    for entry in range(len(descent.target)):
        sheet[entry] = 0
    last = len(descent.digits) - 1
    for slot in range(size):
        value = descent.coefficients[slot]
        if value != 0:
            column = descent.digits[last, slot]
            first = descent.used[slot] - column
            for entry in range(descent.width):
                sheet[first + entry] += value * descent.last_gram[column, entry]


@pasted
def relative_gap(descent, size, energy, largest):
    """Relative duality gap as `LassoProblem.relative_gap`, from the atoms in use alone."""
    length, explained, left = 0.0, 0.0, 0.0
    for atom in range(size):
        value, index = descent.coefficients[atom], descent.used[atom]
        length += descent.thresholds[index] * abs(value)
        explained += value * descent.target[index]
        left += value * descent.correlations[index]
    residual = energy - explained - left
    scale = 1 / max(largest, 1.0)
    primal = residual / 2 + length
    dual = scale * (energy - explained) - scale * scale * residual / 2
    return 2 * (primal - dual) / energy


@pasted
def add_violators(operator, descent, size, largest):
    """Let the atoms join whose correlation exceeds their penalty most.

    They take the slots of atoms whose coefficient has become zero, and new ones behind the others. Returns
    how many are in use then, and how many have joined.
    """
    limit = np.float32(1) + _ENTRY * (largest - np.float32(1))
    slot, joined = 0, 0
    for atom in range(len(descent.excess)):
        descent.is_above[atom] = descent.excess[atom] >= limit
    words = descent.is_above.view(np.int64)  # eight atoms at a time, of which few are above
    for word in range(len(words)):
        if words[word] == 0:
            continue
        for atom in range(8 * word, 8 * word + 8):
            if not descent.is_above[atom] or descent.is_used[atom]:
                continue
            while slot < size and descent.coefficients[slot] != 0:
                slot += 1
            if slot == len(descent.used):
                return size, joined
            if slot < size:
                descent.is_used[descent.used[slot]] = False
            join(operator, descent, slot, max(size, slot + 1), atom)
            slot, joined = slot + 1, joined + 1
            size = max(size, slot)
    return size, joined


@inlined
def join(operator, descent, slot, size, atom):
    """Put one atom into this slot of those in use, with a zero coefficient."""
    last = len(operator.counts) - 1
    left, start = atom // descent.width, len(descent.grams)
    column = atom % descent.width
    descent.digits[last, slot] = column
    for other in range(size):
        descent.mutual[slot, other] = descent.last_gram[column, descent.digits[last, other]]
    for axis in range(last - 1, -1, -1):
        count = operator.counts[axis]
        digit = left % count
        left //= count
        start -= count * count
        descent.digits[axis, slot] = digit
        for other in range(size):
            descent.mutual[slot, other] *= descent.grams[start + digit * count + descent.digits[axis, other]]
    for other in range(size):
        descent.mutual[other, slot] = descent.mutual[slot, other]
    descent.is_used[atom] = True
    descent.used[slot] = atom
    descent.coefficients[slot] = 0


@pasted
def descend(descent, size, small_step):
    """Sweep over the atoms in use until all steps are small."""
    coefficients, own, mutual = descent.coefficients, descent.own, descent.mutual
    zero = np.float32(0)
    count = LANES * -(-size // LANES)  # whole vectors: what lies beyond `size` is moved in vain
    for atom in range(size):
        own[atom] = descent.correlations[descent.used[atom]]
    correlation = own[0]  # of the atom whose turn it is, known before all others have been moved
    for _ in range(_SWEEPS):
        largest = zero
        for atom in range(size):
            threshold = descent.thresholds[descent.used[atom]]
            old = coefficients[atom]
            moved = old + _LENGTHENING * correlation
            wall = _LENGTHENING * threshold
            new = max(moved - wall, zero) + min(moved + wall, zero)
            difference = new - old  # often zero, but to guess when would take longer than to go on
            coefficients[atom] = new
            following = atom + 1 if atom + 1 < size else 0
            correlation = own[following] - difference * mutual[atom, following]
            for other in range(count):
                own[other] -= difference * mutual[atom, other]
            largest = max(largest, abs(difference) / threshold)
        if largest < small_step:
            break


@inlined
def solve_one(operator, descent, stopping, size):
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
        is_late = size > len(descent.patch) and looks >= descent.crowded_looks
        if gap <= stopping.tolerance or looks >= stopping.max_iterations or is_late:
            return size, gap, looks
        size, joined = add_violators(operator, descent, size, largest)
        descend(descent, size, _SMALL_STEP if joined else np.float32(0))
        looks += 1


@pasted
def forget(descent, size):
    """Let no atom be in use."""
    for slot in range(size):
        descent.is_used[descent.used[slot]] = False


@pasted
def flat_index(operator, descent, slot):
    """Index in a flat code of the atom in this slot."""
    atom = descent.used[slot]
    return atom // descent.width * operator.counts[-1] + atom % descent.width


@takes(
    descent__patch="float32 entries",
    patches="float32 n entries",
    codes="float32 n atoms",
    gaps="float32 n",
    looks="int64 n",
)
@kernel
def descend_from_zero(operator, descent, stopping, patches, codes, gaps, looks):
    """Codes (n, atoms) of all `patches` (n, entries), in place of zeros.

    Their gaps and numbers of looks go into `gaps` and `looks`, (n,).
    """
    for sample in range(len(patches)):
        copy_patch(patches[sample], descent)
        size, gaps[sample], looks[sample] = solve_one(operator, descent, stopping, 0 * ONE)
        hand_out(operator, descent, size, codes[sample])


@takes(
    descent__patch="float32 entries",
    patches="float32 n entries",
    codes="float32 n atoms",
    gaps="float32 n",
    looks="int64 n",
)
@kernel
def descend_from_codes(operator, descent, stopping, patches, codes, gaps, looks):
    """As `descend_from_zero`, from the codes at hand.

    A kernel of its own, as few need it and all would wait for it.
    """
    for sample in range(len(patches)):
        copy_patch(patches[sample], descent)
        size = start_from(operator, descent, codes[sample])
        for index in range(codes.shape[1]):
            codes[sample, index] = 0
        size, gaps[sample], looks[sample] = solve_one(operator, descent, stopping, size)
        hand_out(operator, descent, size, codes[sample])


@pasted
def hand_out(operator, descent, size, code):
    """Write the coefficients into a code of zeros, and let no atom be in use."""
    for slot in range(size):
        code[flat_index(operator, descent, slot)] = descent.coefficients[slot]
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
