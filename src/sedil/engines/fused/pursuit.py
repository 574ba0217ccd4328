"""Orthogonal matching pursuit by the fused engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sedil.engines.contract import PursuitCoding
from sedil.engines.fused.chunks import as_rows, for_each_chunk, in_sparse_rows, zero_codes


def pursue(
    factors: Sequence[np.ndarray],
    patches: np.ndarray,
    coding: PursuitCoding,
    sparse: bool,
    threads: int | None,
) -> Any:
    """Codes of all samples, see `sedil.engines.contract.Engine.pursue`."""
    rows, n = as_rows(patches), len(patches)
    if sparse:

        def solve(part: slice, buffer: np.ndarray) -> tuple[np.ndarray]:
            _pursue_rows(factors, rows[part], coding, buffer, threads=1)
            return (buffer,)

        return in_sparse_rows(solve, factors, n, threads)[0]
    codes = zero_codes(factors, n)
    _pursue_rows(factors, rows, coding, codes, threads)
    return codes.reshape(n, *(factor.shape[1] for factor in factors))


def _pursue_rows(
    factors: Sequence[np.ndarray],
    patches: np.ndarray,
    coding: PursuitCoding,
    codes: np.ndarray,
    threads: int | None,
) -> None:
    """Codes (n, atoms) of patches (n, entries), in place of zeros."""
    from sedil.engines.fused.kernels.blocks import Operator
    from sedil.engines.fused.kernels.compilation import announced
    from sedil.engines.fused.kernels.lane_pursuit import PursuitLanes, solve_pursuit_on_lanes

    operator = Operator.create(factors)
    max_energy = np.float32(coding.max_error) ** 2

    def work(part: slice) -> None:
        lanes = PursuitLanes.create(operator, coding.max_atoms)
        with announced("pursuit"):
            solve_pursuit_on_lanes(operator, lanes, max_energy, patches[part], codes[part])

    for_each_chunk(work, len(patches), threads)
