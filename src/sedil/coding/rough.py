"""l1 codes that need not be exact: whoever asks sets the effort, and no warning follows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sedil.arrays import Array, pack, unpack
from sedil.coding.fused import solve_l1
from sedil.engines import choose_engine
from sedil.engines.contract import Effort
from sedil.engines.portable.fista import fista
from sedil.engines.portable.lasso import LassoProblem


def rough_codes(
    factors: Sequence[Array],
    patches: Array,
    thresholds: float | Array,
    effort: Effort,
    known: Array | None = None,
) -> Array:
    """Codes (n, *n_atoms) of patches (n, *patch_shape), by the engine that suits the arrays, in one thread.

    `thresholds` is one penalty for all or an array of shape n_atoms. `known`, if given, has the shape of
    `patches` and is 1 where data is known, 0 where it is missing; patches must be 0 there.
    """
    n_atoms = tuple(factor.shape[1] for factor in factors)
    if choose_engine(None, patches, n_atoms) == "fused":
        flat = np.ascontiguousarray(patches).reshape(len(patches), -1)
        known = None if known is None else known.reshape(flat.shape)
        flat_thresholds = thresholds if isinstance(thresholds, float) else thresholds.ravel()
        result = solve_l1(factors, flat, flat_thresholds, *effort[:2], known=known, threads=1)
        return result.codes.reshape(-1, *n_atoms)
    thresholds = thresholds if isinstance(thresholds, float) else thresholds[..., None]
    known = None if known is None else pack(known)
    problem = LassoProblem(factors, pack(patches), thresholds, known)
    return unpack(fista(problem, *effort[:2]).codes)
