"""Orthogonal matching pursuit over a separable dictionary, from the small Gram matrices alone.

With ``G_k = A_k^T A_k``, the inner product of two atoms is a product of entries of the G_k, and a column of
the large Gram matrix an outer product of their columns. After selecting atoms i(1), ..., i(t) with
coefficients x, the correlations of all atoms with the residual are

    c = D^T s - sum_j x_j  G_1[:, i_1(j)] (x) ... (x) G_K[:, i_K(j)] ,

which costs ``O(t n_atoms)`` a patch and never forms D (two axes: Fang, Wu and Huang, 2012).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from array_api_compat import device as device_of

from sedil.arrays import AnyArray, Array, namespace, pack, to_numpy, unpack
from sedil.engines.contract import PursuitCoding
from sedil.engines.portable import products


def pursuit(factors: Sequence[Array], patches: AnyArray, coding: PursuitCoding) -> AnyArray:
    """Codes with few atoms such that ``||D x - s|| <= max_error``, for each packed patch.

    Each step adds the atom that correlates most with the residual and solves least squares on all chosen
    so far; a patch is done when its residual is short enough or `max_atoms` are in use.

    Returns
    -------
    array of shape (*n_atoms, n), packed
    """
    xp = namespace(patches)
    counts = tuple(factor.shape[1] for factor in factors)
    max_error, max_atoms = coding.max_error, min(coding.max_atoms, prod(counts))
    grams = [xp.matmul(factor.T, factor) for factor in factors]
    n = patches.shape[-1]
    targets = xp.reshape(unpack(products.analyze(factors, patches)), (n, prod(counts)))
    energy = xp.sum(xp.reshape(patches, (prod(patches.shape[:-1]), n)) ** 2, axis=0)

    active = xp.nonzero(energy > max_error**2)[0]
    correlations = xp.take(targets, active, axis=0)
    chosen = xp.zeros((active.shape[0], 0), dtype=xp.int64, device=device_of(patches))
    finished: list[tuple[Array, Array, Array]] = []
    for size in range(1, max_atoms + 1):
        if active.shape[0] == 0:
            break
        chosen = xp.concat([chosen, _most_correlated(correlations, chosen)], axis=1)
        mine = xp.take(targets, active, axis=0)
        right = _take_along(mine, chosen)
        coefficients = _solve(_gram_of(grams, chosen, counts), right)
        error = xp.take(energy, active, axis=0) - xp.sum(coefficients * right, axis=1)
        done = (error <= max_error**2) | (xp.zeros_like(error) + size >= max_atoms)
        finished.append(tuple(a[done] for a in (active, chosen, coefficients)))
        active, chosen, coefficients, mine = (a[~done] for a in (active, chosen, coefficients, mine))
        correlations = mine - _gram_product(grams, chosen, coefficients, counts)
    return _scatter(finished, n, counts, patches)


def _most_correlated(correlations: AnyArray, chosen: Array) -> AnyArray:
    """The best atom of each patch that is not chosen yet, shape (n, 1)."""
    xp = namespace(correlations)
    sizes = xp.abs(correlations)
    if chosen.shape[1]:
        # A chosen atom is orthogonal to the residual up to rounding; it must not come twice.
        atoms = xp.arange(sizes.shape[1], device=device_of(sizes))
        for column in range(chosen.shape[1]):
            sizes = xp.where(atoms[None, :] == chosen[:, column : column + 1], -1.0, sizes)
    return xp.astype(xp.argmax(sizes, axis=1, keepdims=True), chosen.dtype)


def _axis_indices(chosen: AnyArray, counts: Sequence[int]) -> list[AnyArray]:
    """Index of each chosen atom in each factor, from its index in the product (row-major)."""
    indices = []
    for count in reversed(counts):
        indices.append(chosen % count)
        chosen = chosen // count
    return indices[::-1]


def _gram_of(grams: Sequence[Array], chosen: AnyArray, counts: Sequence[int]) -> AnyArray:
    """Inner products of the chosen atoms, shape (n, t, t)."""
    xp = namespace(chosen)
    product: Any = 1.0
    for gram, index in zip(grams, _axis_indices(chosen, counts), strict=True):
        flat = index[:, :, None] * gram.shape[1] + index[:, None, :]
        entries = xp.take(xp.reshape(gram, (-1,)), xp.reshape(flat, (-1,)))
        product = product * xp.reshape(entries, flat.shape)
    return product


def _gram_product(
    grams: Sequence[Array], chosen: AnyArray, coefficients: Array, counts: Sequence[int]
) -> AnyArray:
    """Correlations of all atoms with ``D x``, shape (n, prod(counts)): sums of outer products."""
    xp = namespace(coefficients)
    n, t = chosen.shape
    *leading, last = [
        xp.reshape(xp.take(gram, xp.reshape(index, (-1,)), axis=0), (n, t, gram.shape[1]))
        for gram, index in zip(grams, _axis_indices(chosen, counts), strict=True)
    ]
    left = coefficients[:, :, None]
    for columns in leading:
        width = left.shape[2] * columns.shape[2]
        left = xp.reshape(left[:, :, :, None] * columns[:, :, None, :], (n, t, width))
    return xp.reshape(xp.matmul(xp.matrix_transpose(left), last), (n, prod(counts)))


def _solve(gram: AnyArray, right: Array) -> AnyArray:
    """Least-squares coefficients; a trace of ridge keeps nearly parallel atoms solvable."""
    xp = namespace(gram)
    ridge = 10 * xp.finfo(gram.dtype).eps
    identity = xp.eye(gram.shape[-1], dtype=gram.dtype, device=device_of(gram))
    return xp.linalg.solve(gram + ridge * identity, right[:, :, None])[:, :, 0]


def _take_along(values: AnyArray, indices: Array) -> AnyArray:
    xp = namespace(values)
    rows = xp.arange(values.shape[0], dtype=indices.dtype, device=device_of(values))
    flat = xp.reshape(rows[:, None] * values.shape[1] + indices, (-1,))
    return xp.reshape(xp.take(xp.reshape(values, (-1,)), flat), indices.shape)


def _scatter(
    finished: list[tuple[Array, Array, Array]], n: int, counts: Sequence[int], like: AnyArray
) -> AnyArray:
    """Dense packed codes from the chosen atoms of each patch; assembled on the host."""
    codes = np.zeros((n, prod(counts)), dtype=to_numpy(like[..., :0]).dtype)
    for rows, chosen, coefficients in finished:
        columns = to_numpy(chosen)
        codes[to_numpy(rows)[:, None], columns] = to_numpy(coefficients)
    xp = namespace(like)
    return pack(xp.asarray(codes.reshape(n, *counts), device=device_of(like)))
