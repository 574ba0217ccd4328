"""The portable engine: products with Kronecker factors, in the array API standard.

The same lines run on NumPy, on torch (CPU or CUDA) and on any other array library that follows
the standard. The arrays decide; nothing here copies to the host.

Arrays are *packed*: the samples are the **last** axis, ``(*patch_shape, n)`` or ``(*n_atoms, n)``.
Multiplying a factor into one axis is then a handful of large matrix products over contiguous
memory, where samples first would be ``n`` tiny ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import prod

from sedil.arrays import AnyArray, Array, kronecker, namespace


def synthesize(factors: Sequence[Array], codes: AnyArray) -> AnyArray:
    """Patches from codes, both packed. Paper: Eq. (3), S = A X B^T for two axes."""
    for axis, factor in enumerate(factors):
        codes = _multiply_axis(factor, codes, axis)
    return codes


def analyze(factors: Sequence[Array], patches: AnyArray) -> AnyArray:
    """Inner products of packed patches with every atom: the adjoint of `synthesize`."""
    for axis, factor in enumerate(factors):
        patches = _multiply_axis(factor.T, patches, axis)
    return patches


def analyze_rows(factors: Sequence[Array], patches: AnyArray) -> AnyArray:
    """Inner products of patches, one a row, with every atom."""
    return patches @ reduce(kronecker, factors)


def factor_gradients(factors: Sequence[Array], codes: Array, residual: AnyArray) -> tuple[AnyArray, ...]:
    """Gradient of ``<residual, synthesize(factors, codes)>`` with respect to each factor.

    For two axes these are ``sum_j R_j B X_j^T`` and ``sum_j R_j^T A X_j``.
    """
    return tuple(
        _contract_all_axes_but(axis, residual, _multiply_other_axes(factors, codes, axis))
        for axis in range(len(factors))
    )


def _multiply_axis(matrix: Array, packed: AnyArray, axis: int) -> AnyArray:
    xp = namespace(packed)
    before, after = packed.shape[:axis], packed.shape[axis + 1 :]
    stack = xp.reshape(packed, (prod(before), packed.shape[axis], prod(after)))
    return xp.reshape(xp.matmul(matrix, stack), (*before, matrix.shape[0], *after))


def _multiply_other_axes(factors: Sequence[Array], codes: AnyArray, skipped: int) -> AnyArray:
    for axis, factor in enumerate(factors):
        if axis != skipped:
            codes = _multiply_axis(factor, codes, axis)
    return codes


def _contract_all_axes_but(axis: int, left: AnyArray, right: Array) -> AnyArray:
    """Matrix ``M[i, j]`` = sum over all other axes of ``left[.., i, ..] * right[.., j, ..]``."""
    xp = namespace(left)
    before, after = prod(left.shape[:axis]), prod(left.shape[axis + 1 :])
    left = xp.reshape(left, (before, left.shape[axis], after))
    right = xp.reshape(right, (before, right.shape[axis], after))
    return xp.sum(xp.matmul(left, xp.matrix_transpose(right)), axis=0)
