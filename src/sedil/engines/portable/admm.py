"""ADMM for the l1 problem, with the inverse of a Kronecker matrix in closed form.

With ``A_k^T A_k = U_k diag(e_k) U_k^T`` for each factor,

    (D^T D + r I)^-1 = (U_1 (x) ... (x) U_K) diag(1 / (e_1 (x) ... (x) e_K + r)) (U_1 (x) ... (x) U_K)^T ,

so that one iteration costs no more than one of FISTA; for large penalties about half as many are needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
from array_api_compat import array_namespace
from array_api_compat import device as device_of

from sedil.arrays import Array, to_numpy
from sedil.engines.contract import Effort
from sedil.engines.portable import products
from sedil.engines.portable.lasso import CodingResult, LassoProblem, iterate, soft_threshold

CHECK_EVERY = 5
# Weight of the coupling between the two copies of the codes, and over-relaxation. Atoms have unit length,
# so the data term curves by about 1 along each whatever the units; both were chosen on noisy photographs.
STRENGTH = 1.0
RELAXATION = 1.7


def admm(problem: LassoProblem, effort: Effort, initial: Array | None = None) -> CodingResult:
    """Solve the l1 problem for every sample on its own, as `fista` does, in fewer iterations.

    Only without a mask: with one, D^T M D has no Kronecker structure.
    """
    assert problem.known is None
    rotations, eigenvalues = _eigendecompositions(problem.factors)
    shrink = 1 / (eigenvalues + STRENGTH)

    def step(problem: LassoProblem, state: tuple[Array, ...]) -> tuple[Array, ...]:
        codes, dual, target = state
        right = target + STRENGTH * (codes - dual)
        smooth = products.synthesize(rotations, shrink * products.analyze(rotations, right))
        mixed = RELAXATION * smooth + (1 - RELAXATION) * codes
        new = soft_threshold(mixed + dual, problem.thresholds / STRENGTH)
        return new, dual + mixed - new, target

    xp = array_namespace(problem.patches)
    target = problem.correlations(problem.patches)
    first = xp.zeros_like(target) if initial is None else initial
    state = (first, xp.zeros_like(target), target)
    return iterate(problem, state, step, effort, CHECK_EVERY)


def _eigendecompositions(factors: Sequence[Array]) -> tuple[list[Array], Array]:
    """Rotations U_k and the product of the eigenvalues, shape (*n_atoms, 1), in the factors' library."""
    xp, like = array_namespace(factors[0]), factors[0]
    values, rotations = [], []
    for factor in factors:
        matrix = to_numpy(factor).astype(np.float64)
        value, rotation = np.linalg.eigh(matrix.T @ matrix)
        values.append(np.maximum(value, 0))
        rotations.append(xp.asarray(rotation, dtype=like.dtype, device=device_of(like)))
    products = reduce(np.multiply.outer, values)[..., None]
    return rotations, xp.asarray(products, dtype=like.dtype, device=device_of(like))
