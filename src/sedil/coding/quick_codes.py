"""l1 codes that need not be exact: whoever asks sets the effort, and no warning follows."""

from __future__ import annotations

from collections.abc import Sequence

from sedil.arrays import AnyArray, Array
from sedil.engines import choose_engine
from sedil.engines.contract import Effort, L1Problem


def quick_codes(
    factors: Sequence[Array],
    patches: AnyArray,
    thresholds: float | Array,
    effort: Effort,
    known: Array | None = None,
) -> AnyArray:
    """Codes (n, *n_atoms) of patches (n, *patch_shape) by FISTA, in one thread. Paper: Eq. (34), (35).

    Arguments as in `sedil.engines.contract.L1Problem`.
    """
    engine = choose_engine(None, patches, [factor.shape[1] for factor in factors])
    return engine.solve_l1(L1Problem(factors, patches, thresholds, known), effort, threads=1).codes
