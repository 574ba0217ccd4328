"""Least squares on the support: what l1 found, without its shrinkage."""

from __future__ import annotations

from array_api_compat import array_namespace

from sedil.arrays import AnyArray, Array
from sedil.engines.portable.lasso import LassoProblem, dot

_RELATIVE_RESIDUAL = 1e-4  # of the normal equations; far below the noise in any use
_LEAST_CURVATURE = 1e-5  # of a direction; below it two atoms of the support are the same to float32


def refit(problem: LassoProblem, codes: Array, max_iterations: int) -> Array:
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
        going = squared > goal
        if not bool(xp.any(going)):
            break
        change = problem.normal_product(direction) * support
        curvature = dot(direction, change)
        # Dependent atoms leave directions without curvature, where rounding alone would set the step.
        going = going & (curvature > _LEAST_CURVATURE * dot(direction, direction))
        step = _ratio(squared, curvature, going)
        codes = codes + step * direction
        slope = slope - step * change
        new_squared = dot(slope, slope)
        direction = slope + _ratio(new_squared, squared, going) * direction
        squared = xp.where(going, new_squared, xp.zeros_like(squared))
    return codes


def _ratio(numerator: AnyArray, denominator: Array, where: Array) -> AnyArray:
    """Quotient of the samples `where` it is wanted, 0 of the others."""
    xp = array_namespace(numerator)
    safe = xp.where(where, denominator, xp.ones_like(denominator))
    return xp.where(where, numerator / safe, xp.zeros_like(numerator))
