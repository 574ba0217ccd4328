"""FISTA for the l1 problem of Eq. (34), every sample on its own.

The problem is taken in its usual scaling, ``1/2 ||D x - s||^2 + penalty ||x||_1``; the paper's
``||x||_1 + lambda_d ||D x - s||^2`` is the same with ``penalty = 1 / (2 lambda_d)``. All samples share
the step length, which depends on the dictionary alone, and each stops by its own duality gap: the
code of a sample does not depend on which others it is solved with.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt
from typing import NamedTuple

import numpy as np
from array_api_compat import array_namespace
from array_api_compat import device as device_of

from sedil.engines import portable
from sedil.engines.portable import Array

_CHECK_EVERY = 10  # iterations between two looks at the duality gap, which costs about as much as one


class CodingResult(NamedTuple):
    """Codes and how far each is from the optimum.

    Attributes
    ----------
    codes : array of shape (*n_atoms, n), packed
    relative_gap : array of shape (n,)
        Duality gap over the cost of the zero code: an upper bound of the relative error of the cost.
    n_iterations : int
        Iterations of the slowest sample.
    """

    codes: Array
    relative_gap: Array
    n_iterations: int


def fista(
    factors: Sequence[Array], patches: Array, penalty: float, tolerance: float, max_iterations: int
) -> CodingResult:
    """Minimise ``1/2 ||D x - s||^2 + penalty ||x||_1`` for each packed patch. Paper: Eq. (34).

    Stops for each sample when its relative duality gap is at most `tolerance`; the gap returned is that
    of the returned codes. Restarts the momentum of a sample when it points uphill (O'Donoghue and
    Candes, 2015).
    """
    xp = array_namespace(patches)
    step = 1 / squared_norm(factors)
    target = portable.analyze(factors, patches)
    codes = ahead = xp.zeros_like(target)
    momentum = xp.ones_like(_dot(patches, patches))
    index = xp.arange(patches.shape[-1], device=device_of(patches))
    finished: list[tuple[Array, ...]] = []
    for iteration in range(max_iterations + 1):
        if iteration % _CHECK_EVERY == 0 or iteration == max_iterations:
            gap = relative_gap(factors, patches, codes, penalty)
            done = (gap <= tolerance) if iteration < max_iterations else xp.ones_like(gap, dtype=xp.bool)
            finished.append(_take(done, codes, gap, index))
            if bool(xp.all(done)):
                break
            codes, ahead, target, patches, momentum, index = _take(
                ~done, codes, ahead, target, patches, momentum, index
            )
        slope = portable.analyze(factors, portable.synthesize(factors, ahead)) - target
        new = soft_threshold(ahead - step * slope, step * penalty)
        # The restart test of the gradient scheme: momentum goes on only while it agrees with the step.
        uphill = _dot(ahead - new, new - codes) > 0
        momentum = xp.where(uphill, xp.ones_like(momentum), momentum)
        new_momentum = (1 + xp.sqrt(1 + 4 * momentum**2)) / 2
        ahead = new + ((momentum - 1) / new_momentum) * (new - codes)
        codes, momentum = new, new_momentum
    return _in_order(finished, iteration)


def soft_threshold(values: Array, threshold: float) -> Array:
    """Shrink towards zero by `threshold`: the proximal map of the l1 norm."""
    xp = array_namespace(values)
    zero = xp.zeros_like(values)
    return xp.maximum(values - threshold, zero) + xp.minimum(values + threshold, zero)


def relative_gap(factors: Sequence[Array], patches: Array, codes: Array, penalty: float) -> Array:
    """Duality gap of the l1 problem at `codes`, per sample, over the cost ``1/2 ||s||^2`` of the zero code.

    The dual point is the residual, scaled until no atom correlates with it by more than `penalty`.
    """
    xp = array_namespace(patches)
    residual = patches - portable.synthesize(factors, codes)
    correlation = _per_sample(xp.max, xp.abs(portable.analyze(factors, residual)))
    scale = penalty / xp.maximum(correlation, penalty * xp.ones_like(correlation))
    energy = _dot(residual, residual)
    size = _per_sample(xp.sum, xp.abs(codes))
    primal = energy / 2 + penalty * size
    dual = scale * _dot(residual, patches) - scale**2 * energy / 2
    zero_cost = _dot(patches, patches) / 2
    return xp.where(zero_cost > 0, (primal - dual) / _or_one(zero_cost), xp.zeros_like(primal))


def squared_norm(factors: Sequence[Array]) -> float:
    """``||D||^2``, the product of the squared spectral norms of the factors.

    Computed on the host in float64: the factors are small, and the step must not overshoot.
    """
    norms = [np.linalg.norm(portable.to_numpy(factor).astype(np.float64), 2) for factor in factors]
    return float(prod(norm**2 for norm in norms)) * (1 + sqrt(np.finfo(np.float32).eps))


def _take(chosen: Array, *packed: Array) -> tuple[Array, ...]:
    """The `chosen` samples of each packed array."""
    xp = array_namespace(chosen)
    where = xp.nonzero(chosen)[0]
    return tuple(xp.take(array, where, axis=-1) for array in packed)


def _in_order(finished: list[tuple[Array, ...]], n_iterations: int) -> CodingResult:
    """Samples that finished at different times, put back in their order."""
    xp = array_namespace(finished[0][0])
    codes, gap, index = (xp.concat(parts, axis=-1) for parts in zip(*finished, strict=True))
    order = xp.argsort(index)
    return CodingResult(xp.take(codes, order, axis=-1), xp.take(gap, order, axis=-1), n_iterations)


def _per_sample(reduction: object, array: Array) -> Array:
    return reduction(array, axis=tuple(range(array.ndim - 1)))  # type: ignore[operator]


def _dot(left: Array, right: Array) -> Array:
    return _per_sample(array_namespace(left).sum, left * right)


def _or_one(values: Array) -> Array:
    xp = array_namespace(values)
    return xp.where(values > 0, values, xp.ones_like(values))
