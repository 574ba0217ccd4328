"""Small random dictionaries, points and data for the tests, and dense formulas to hold them against."""

from functools import reduce
from itertools import combinations
from math import log, prod

import numpy as np

from sedil.dictionary import SeparableDictionary
from sedil.manifold import Point

# Patch shape and atoms per axis, for one to four axes.
SHAPES = {
    1: ((5,), (7,)),
    2: ((3, 4), (5, 6)),
    3: ((2, 3, 2), (3, 4, 3)),
    4: ((2, 3, 2, 2), (3, 3, 2, 3)),
}


def unit_columns(shape, rng):
    matrix = rng.standard_normal(shape)
    return matrix / np.sqrt((matrix**2).sum(axis=0))


def random_factors(patch_shape, n_atoms, rng):
    return tuple(unit_columns(shape, rng) for shape in zip(patch_shape, n_atoms, strict=True))


def random_dictionary(n_axes, rng):
    return SeparableDictionary(random_factors(*SHAPES[n_axes], rng))


def random_point(n_axes, n, rng):
    patch_shape, n_atoms = SHAPES[n_axes]
    return Point(rng.standard_normal((*n_atoms, n)), random_factors(patch_shape, n_atoms, rng))


def random_tangent(point, rng):
    """A random tangent vector of unit length in all blocks together."""
    codes = rng.standard_normal(point.codes.shape)
    factors = []
    for factor in point.factors:
        matrix = rng.standard_normal(factor.shape)
        factors.append(matrix - factor * (factor * matrix).sum(axis=0))
    length = np.sqrt(sum((block**2).sum() for block in (codes, *factors)))
    return Point(codes / length, tuple(factor / length for factor in factors))


def training_patches(n, patch_shape, seed=0):
    """Smooth random patches with means, of no special scale."""
    patches = np.random.default_rng(seed).standard_normal((n, *patch_shape))
    for axis in range(1, patches.ndim):
        patches = patches + 0.5 * np.roll(patches, 1, axis=axis)
    return patches


def planted(n, patch_shape, n_atoms, n_nonzero, rng):
    """A random dictionary, and patches that are sums of `n_nonzero` of its atoms."""
    dictionary = SeparableDictionary(random_factors(patch_shape, n_atoms, rng))
    codes = np.zeros((n, prod(n_atoms)))
    for code in codes:
        chosen = rng.choice(code.size, n_nonzero, replace=False)
        code[chosen] = rng.choice([-1, 1], n_nonzero) * rng.uniform(0.5, 1.5, n_nonzero)
    return dictionary, dictionary.synthesize(codes.reshape(n, *n_atoms))


def share_found(true_factors, learned_factors, threshold=0.99):
    """Share of the true columns that a learned column matches up to sign."""
    best = [abs(a.T @ b).max(axis=1) for a, b in zip(true_factors, learned_factors, strict=True)]
    return float(np.mean(np.concatenate(best) > threshold))


def dense(factors):
    """The matrix of row-major codes to row-major patches."""
    return reduce(np.kron, factors)


def dense_mutual_coherence(matrix):
    """Eq. (6) as printed: the largest |<d_i, d_j>| over i < j."""
    return max((abs(a @ b) for a, b in combinations(matrix.T, 2)), default=0.0)


def dense_barrier(matrix):
    """Eq. (7) as printed."""
    return -sum(log(1 - (a @ b) ** 2) for a, b in combinations(matrix.T, 2))


def dense_cost_terms(factors, codes, patches, weights):
    """The three terms of Eq. (16) for packed codes and patches, from the dense dictionary."""
    rho, lam, kappa = weights
    n = codes.shape[-1]
    columns = codes.reshape(prod(codes.shape[:-1]), n)
    samples = patches.reshape(prod(patches.shape[:-1]), n)
    error = dense(factors) @ columns - samples
    return (
        (error**2).sum() / (2 * n),
        lam / n * np.log(1 + rho * columns**2).sum(),
        kappa * sum(dense_barrier(factor) for factor in factors),
    )
