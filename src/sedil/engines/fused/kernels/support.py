"""Least squares on the support of one sample.

The same conjugate gradients as in the portable engine, on the few atoms in use, which are written as rows:
the supports are so small that this costs less than one product with the whole dictionary.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sedil.engines.fused.kernels.blocks import Operator
from sedil.engines.fused.kernels.compilation import inner, kernel
from sedil.engines.fused.kernels.entrance import takes

_RELATIVE_RESIDUAL = np.float32(1e-4)
_LEAST_CURVATURE = np.float32(1e-5)


class Support(NamedTuple):
    """State of one sample and the atoms that it uses.

    Attributes
    ----------
    patch, known, residual, product : (entries,)
    used : (atoms,), which atoms are in use
    coefficients, slope, direction : (atoms,), of those
    atoms : (atoms, entries), those atoms as rows
    """

    patch: np.ndarray
    known: np.ndarray
    residual: np.ndarray
    product: np.ndarray
    used: np.ndarray
    coefficients: np.ndarray
    slope: np.ndarray
    direction: np.ndarray
    atoms: np.ndarray

    @classmethod
    def create(cls, operator: Operator) -> Support:
        """For samples of this dictionary, all entries known."""
        length, count = int(np.prod(operator.lengths)), int(np.prod(operator.counts))
        return cls(
            patch=np.zeros(length, np.float32),
            known=np.ones(length, np.float32),
            residual=np.zeros(length, np.float32),
            product=np.zeros(length, np.float32),
            used=np.zeros(count, np.int64),
            coefficients=np.zeros(count, np.float32),
            slope=np.zeros(count, np.float32),
            direction=np.zeros(count, np.float32),
            # Pages of rows that are never used are never taken from the system.
            atoms=np.empty((count, length), np.float32),
        )


@inner
def write_atom(operator, index, atom):
    """Write the atom of this index, the product of one column per factor."""
    atom[0] = 1
    written, start, remaining = 1, 0, 1
    for axis in range(len(operator.counts)):
        remaining *= operator.counts[axis]
    for axis in range(len(operator.counts)):
        length, count = operator.lengths[axis], operator.counts[axis]
        remaining //= count
        first = start + (index // remaining) * length
        column = operator.analysis[first : first + length]
        index %= remaining
        # The last product first: what it overwrites has been used already. Slices, as LLVM makes no
        # vectors of loops whose indices it has to compute.
        for step in range(written):
            old = written - 1 - step
            value = atom[old]
            product = atom[old * length : (old + 1) * length]
            for row in range(length):
                product[row] = value * column[row]
        written *= length
        start += length * count


@inner
def gather(operator, support, codes):
    """Find the atoms that `codes` uses and write them out; returns their number."""
    size = 0
    for index in range(len(codes)):
        if codes[index] != 0:
            support.used[size] = index
            support.coefficients[size] = codes[index]
            write_atom(operator, index, support.atoms[size])
            size += 1
    return size


@inner
def combine(support, size, coefficients, out):
    """``out = M sum_j coefficients[j] atoms[j]``."""
    for entry in range(len(out)):
        out[entry] = 0
    for atom in range(size):
        coefficient, row = coefficients[atom], support.atoms[atom]
        for entry in range(len(out)):
            out[entry] += coefficient * row[entry]
    for entry in range(len(out)):
        out[entry] *= support.known[entry]


@inner
def correlate(support, size, values, out):
    """``out[j] = <atoms[j], values>``; returns the squared length of `out`."""
    squared = np.float32(0)
    for atom in range(size):
        total = np.float32(0)
        for entry in range(len(values)):
            total += support.atoms[atom, entry] * values[entry]
        out[atom] = total
        squared += total * total
    return squared


@inner
def refit(support, size, max_iterations):
    """Least squares from the coefficients at hand; leaves ``M (s - D x)`` in `support.residual`."""
    residual, product = support.residual, support.product
    coefficients, slope, direction = support.coefficients, support.slope, support.direction
    combine(support, size, coefficients, residual)
    for entry in range(len(residual)):
        residual[entry] = support.known[entry] * support.patch[entry] - residual[entry]
    squared = correlate(support, size, residual, slope)
    for atom in range(size):
        direction[atom] = slope[atom]
    goal = _RELATIVE_RESIDUAL * _RELATIVE_RESIDUAL * _dot(support.patch, support.patch, len(residual))
    for _ in range(max_iterations):
        if squared <= goal:
            break
        combine(support, size, direction, product)
        curvature = _dot(product, product, len(product))
        # Dependent atoms leave directions without curvature, where rounding alone would set the step.
        if curvature <= _LEAST_CURVATURE * _dot(direction, direction, size):
            break
        step = squared / curvature
        _add(coefficients, step, direction, size)
        _add(residual, -step, product, len(residual))
        new_squared = correlate(support, size, residual, slope)
        ratio = new_squared / squared
        for atom in range(size):
            direction[atom] = slope[atom] + ratio * direction[atom]
        squared = new_squared


@inner
def _dot(left, right, count):
    total = np.float32(0)
    for entry in range(count):
        total += left[entry] * right[entry]
    return total


@inner
def _add(into, scale, values, count):
    for entry in range(count):
        into[entry] += scale * values[entry]


@takes(
    support__patch="float32 entries",
    support__used="int64 atoms",
    patches="float32 n entries",
    known="float32 n_or_none entries",
    codes="float32 n atoms",
)
@kernel
def refit_codes(operator, support, patches, known, codes, max_iterations):
    """Refit all `codes` (n, atoms) of `patches` (n, entries), in place; `known` as in `solve_l1_on_lanes`."""
    for sample in range(len(patches)):
        for entry in range(len(support.patch)):
            support.patch[entry] = patches[sample, entry]
            if len(known):
                support.known[entry] = known[sample, entry]
        size = gather(operator, support, codes[sample])
        refit(support, size, max_iterations)
        for atom in range(size):
            codes[sample, support.used[atom]] = support.coefficients[atom]
