"""Duality gaps of codes as they are handed out, for penalties so small that rounding is much beside them.

How far a code is from the solution is told by how much the correlations of atoms with what is left exceed
their penalties. In float32 such correlations are known to about 1e-7 of the patch, and so are those of a code
that is rounded to it: of a penalty of 1e-6 of the patch that is a lot. Here they are looked at in float64.
"""

from __future__ import annotations

from math import ldexp
from typing import Any

from sedil.arrays import AnyArray, Array, in_precision, namespace, pack, times_power_of_two
from sedil.choices import Precision
from sedil.engines.contract import L1Problem
from sedil.engines.portable.l1 import LassoProblem

_SMALLEST_NORMAL = {"float32": 2.0**-126, "float64": 2.0**-1022}
_SMALL = 2.0**-13  # share of the largest entry; gaps have been seen to be wrong from 2**-15 on
_ROOM = 2.0  # times the tolerance: what rounding adds to gaps that are just within it is no news
_CHUNK = 4096  # patches at a time


def is_rounding_much(
    thresholds: float | Array, largest: float, exponent: int, computed: Precision, wanted: Precision
) -> bool:
    """Whether the gaps of codes are another matter after rounding.

    `thresholds` are in the units that are computed in, `largest` is the largest entry of a patch in its own.
    """
    if largest * _SMALL < _SMALLEST_NORMAL[wanted]:  # such numbers have few digits
        return largest > 0
    least = thresholds if isinstance(thresholds, float) else float(namespace(thresholds).min(thresholds))
    return "float32" in (computed, wanted) and least < _SMALL * ldexp(largest, exponent)


def surer_gaps(problem: L1Problem, codes: Any, exponent: int, gaps: AnyArray, tolerance: float) -> AnyArray:
    """Relative duality gaps, those in place of `gaps` that only seemed to be within the tolerance.

    `codes` are of shape (n, *n_atoms), or sparse rows; times ``2**exponent`` they solve the problem.
    """
    xp = namespace(gaps)
    starts = range(0, len(gaps), _CHUNK)
    true = [_gaps(problem, codes[start : start + _CHUNK], exponent, start) for start in starts]
    found = xp.astype(xp.concat(true), gaps.dtype) if true else gaps
    return xp.where(found <= _ROOM * tolerance, gaps, found)


def _gaps(problem: L1Problem, codes: Any, exponent: int, start: int) -> Array:
    factors = [in_precision(factor, "float64") for factor in problem.factors]
    known, thresholds = problem.known, problem.thresholds
    if hasattr(codes, "toarray"):
        codes = codes.toarray().reshape(-1, *(factor.shape[1] for factor in factors))
    part = slice(start, start + len(codes))
    return LassoProblem(
        factors,
        pack(in_precision(problem.patches[part], "float64")),
        thresholds if isinstance(thresholds, float) else in_precision(thresholds, "float64")[..., None],
        None if known is None else pack(in_precision(known[part], "float64")),
    ).relative_gap(pack(times_power_of_two(in_precision(codes, "float64"), exponent)))
