"""Least squares on the support: what l1 found, without its shrinkage."""

from __future__ import annotations

from array_api_compat import array_namespace

from sedil.coding.problem import LassoProblem, dot
from sedil.engines.portable import Array

_RELATIVE_RESIDUAL = 1e-4  # of the normal equations; far below the noise in any use


def refit(problem: LassoProblem, codes: Array, max_iterations: int = 30) -> Array:
    """Minimise ``||M (D x - s)||^2`` over the entries where `codes` is not zero, per sample.

    Conjugate gradients on the normal equations, started at `codes`; the other entries stay zero. A few
    iterations do, as the supports are small.
    """
    xp = array_namespace(codes)
    support = xp.astype(codes != 0, codes.dtype)
    slope = problem.correlations(problem.residual(codes)) * support
    direction, squared = slope, dot(slope, slope)
    goal = _RELATIVE_RESIDUAL**2 * dot(problem.patches, problem.patches)
    for _ in range(max_iterations):
        if not bool(xp.any(squared > goal)):
            break
        change = problem.normal_product(direction) * support
        step = _ratio(squared, dot(direction, change))
        codes = codes + step * direction
        slope = slope - step * change
        new_squared = dot(slope, slope)
        direction = slope + _ratio(new_squared, squared) * direction
        squared = new_squared
    return codes


def _ratio(numerator: Array, denominator: Array) -> Array:
    """Quotient per sample; 0 where the denominator is 0, where the sample is solved already."""
    xp = array_namespace(numerator)
    safe = xp.where(denominator > 0, denominator, xp.ones_like(denominator))
    return xp.where(denominator > 0, numerator / safe, xp.zeros_like(numerator))
