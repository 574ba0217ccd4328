"""What the solvers, refit and pursuit promise, over one to four axes, with nothing lost to rounding."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import orthogonal_mp

import sedil
from random_things import SHAPES, random_dictionary, training_patches
from sedil.coding.sparse_code import _warn_if_unfinished

AXES = list(SHAPES)
exact_code = partial(sedil.sparse_code, dtype="float64")


@pytest.fixture(params=AXES)
def case(request):
    dictionary = random_dictionary(request.param, np.random.default_rng(request.param))
    return dictionary, training_patches(12, dictionary.patch_shape, seed=1)


def flat(array, n=12):
    return array.reshape(n, -1)


def cost(dictionary, patches, codes, penalty, weights=1.0, known=1.0):
    error = (dictionary.synthesize(codes) - patches) * known
    return 0.5 * flat(error**2).sum(axis=1) + penalty * flat(weights * np.abs(codes)).sum(axis=1)


# l1


@pytest.mark.parametrize("weighted", [False, True])
def test_admm_and_fista_reach_the_same_cost(case, weighted, rng):
    dictionary, patches = case
    weights = rng.uniform(0.5, 2, dictionary.n_atoms) if weighted else None
    costs = [
        cost(
            dictionary,
            patches,
            exact_code(
                dictionary, patches, 0.3, solver=solver, weights=weights, tolerance=1e-8, max_iterations=20000
            ),
            0.3,
            1.0 if weights is None else weights,
        )
        for solver in ("fista", "admm")
    ]
    assert_allclose(*costs, rtol=1e-7)


def test_weights_scale_the_price_of_each_coefficient(case):
    dictionary, patches = case
    weights = np.ones(dictionary.n_atoms)
    weights[(0,) * weights.ndim] = 1e6
    codes = exact_code(dictionary, patches, 0.1, weights=weights, tolerance=1e-2)
    assert not codes[(slice(None), *(0,) * weights.ndim)].any()
    assert codes.any()


# Missing entries


@pytest.mark.parametrize("method", ["l1", "refit"])
def test_missing_entries_are_ignored(case, method, rng):
    dictionary, patches = case
    mask = rng.random(patches.shape) < 0.3
    spoiled = np.where(mask, np.nan, patches)
    settings = {"method": method, "mask": mask, "tolerance": 1e-8, "max_iterations": 20000}
    codes = exact_code(dictionary, spoiled, 0.2, **settings)
    assert_array_equal(codes, exact_code(dictionary, patches, 0.2, **settings))
    if method == "l1":
        other = exact_code(dictionary, patches, 0.2, tolerance=1e-8, max_iterations=20000)
        best, unmasked = (cost(dictionary, patches, x, 0.2, known=~mask) for x in (codes, other))
        assert np.all(best <= unmasked + 1e-9)
        assert np.any(best < 0.99 * unmasked)


def test_masked_problem_is_that_of_the_known_rows(rng):
    """Against the dense problem with the missing rows left out."""
    dictionary = random_dictionary(2, rng)
    patch = training_patches(1, dictionary.patch_shape)
    mask = rng.random(patch.shape) < 0.4
    codes = exact_code(dictionary, patch, 0.2, mask=mask, tolerance=1e-10, max_iterations=50000)
    rows = dictionary.as_matrix()[~mask.ravel()]
    correlation = rows.T @ (patch.ravel()[~mask.ravel()] - rows @ codes.ravel())
    assert np.abs(correlation).max() <= 0.2 * (1 + 1e-4)
    used = codes.ravel() != 0
    assert_allclose(correlation[used], 0.2 * np.sign(codes.ravel()[used]), rtol=1e-3)


# Refit


def test_refit_is_least_squares_on_the_support_of_l1(case):
    dictionary, patches = case
    l1 = flat(exact_code(dictionary, patches, 0.4))
    refitted = flat(exact_code(dictionary, patches, 0.4, method="refit"))
    matrix = dictionary.as_matrix()
    for before, after, patch in zip(l1, refitted, flat(patches), strict=True):
        support = before != 0
        assert_array_equal(after[~support], 0)
        if support.any():
            best = np.linalg.lstsq(matrix[:, support], patch, rcond=None)[0]
            error = np.linalg.norm(matrix[:, support] @ (after[support] - best))
            assert error <= 1e-3 * np.linalg.norm(patch)


# Pursuit


def test_pursuit_is_orthogonal_matching_pursuit(case):
    dictionary, patches = case
    matrix = dictionary.as_matrix()
    bound = 0.5 * np.linalg.norm(flat(patches), axis=1).mean()
    codes = flat(exact_code(dictionary, patches, method="pursuit", max_error=bound, max_atoms=4))
    for code, patch in zip(codes, flat(patches), strict=True):
        assert np.count_nonzero(code) <= 4
        if np.linalg.norm(patch) <= bound:
            assert not code.any()
            continue
        expected = orthogonal_mp(matrix, patch, n_nonzero_coefs=np.count_nonzero(code))
        assert_allclose(code, expected, atol=1e-9)
        done = np.linalg.norm(matrix @ code - patch) <= bound * (1 + 1e-9)
        assert done or np.count_nonzero(code) == 4


@pytest.mark.parametrize("options", [{"penalty": 0.3}, {"method": "pursuit", "max_error": 1.0}])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_patches_have_no_codes(options, dtype):
    dictionary = sedil.odct((4, 3), (6, 5)).like(np.empty(0, dtype))
    assert sedil.sparse_code(dictionary, np.empty((0, 4, 3), dtype), **options).shape == (0, 6, 5)


def test_a_gap_that_is_not_a_number_is_not_taken_for_solved():
    gaps = np.array([np.nan, 0.0, np.inf])
    with pytest.warns(ConvergenceWarning, match="2 of 3 patches"):
        _warn_if_unfinished(gaps, 7, 1e-4)


def test_pursuit_stops_at_the_first_sufficient_atom(rng):
    dictionary = sedil.SeparableDictionary([np.eye(3), np.eye(3)])
    patch = np.diag([5.0, 2.0, 1.0])
    codes = exact_code(dictionary, patch, method="pursuit", max_error=1.5)
    assert_allclose(codes, np.diag([5.0, 2.0, 0.0]), atol=1e-12)


# Libraries and mistakes


@pytest.mark.parametrize(
    "settings",
    [
        {"penalty": 0.3, "solver": "admm"},
        {"penalty": 0.3, "method": "refit"},
        {"method": "pursuit", "max_error": 1.0},
    ],
    ids=["admm", "refit", "pursuit"],
)
def test_every_library_and_precision_agrees(settings, arrays):
    dictionary = random_dictionary(2, np.random.default_rng(3))
    patches = training_patches(8, dictionary.patch_shape)
    own = arrays.make(patches)
    expected = sedil.sparse_code(dictionary, patches, **settings)
    arrays.check(sedil.sparse_code(dictionary.like(own), own, **settings), expected, tolerance=5e-3)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "best"}, "method must be one of 'refit', 'l1', 'pursuit', got 'best'"),
        ({"penalty": 1.0, "solver": "lars"}, "solver must be one of 'fista', 'admm', 'descent', got 'lars'"),
        (
            {"penalty": 1.0, "solver": "descent", "engine": "portable"},
            "The portable engine has no solver 'descent', only 'fista', 'admm': choose one of these, or",
        ),
        ({"method": "refit"}, r'method="refit" needs penalty=\.\.\.'),
        ({"method": "pursuit"}, r'method="pursuit" needs max_error=\.\.\.'),
        ({"method": "pursuit", "max_error": -1}, "max_error must be a finite non-negative number"),
        ({"method": "pursuit", "max_error": 1, "max_atoms": 0}, "max_atoms must be a whole number"),
        ({"penalty": 1.0, "weights": np.ones(3)}, r"weights must be of shape \(5, 6\), got \(3,\)"),
        ({"penalty": 1.0, "weights": np.zeros((5, 6))}, "weights must be positive, but the least is 0"),
        ({"penalty": 1.0, "weights": np.full((5, 6), np.inf)}, "weights must be finite, got 30 NaN"),
        ({"penalty": 1.0, "initial": np.ones(3)}, r"initial must be codes of shape \(8, 5, 6\)"),
        ({"penalty": 1.0, "initial": np.full((8, 5, 6), np.nan)}, "initial must be finite"),
        (
            {"penalty": 1.0, "mask": np.zeros((8, 3), bool)},
            r"mask must have the shape of the data, \(8, 3, 4\)",
        ),
    ],
)
def test_mistakes_are_named(settings, message, rng):
    dictionary = random_dictionary(2, rng)
    with pytest.raises(ValueError, match=message):
        sedil.sparse_code(dictionary, training_patches(8, dictionary.patch_shape), **settings)


@pytest.mark.parametrize(
    "settings", [{"penalty": 1.0, "solver": "admm"}, {"method": "pursuit", "max_error": 1}]
)
def test_masks_are_refused_where_they_cannot_be_taken(settings, rng):
    dictionary = random_dictionary(2, rng)
    patches = training_patches(8, dictionary.patch_shape)
    with pytest.raises(ValueError, match="cannot take a mask"):
        sedil.sparse_code(dictionary, patches, mask=np.zeros(patches.shape, bool), **settings)


def test_masks_must_be_boolean(rng):
    dictionary = random_dictionary(2, rng)
    with pytest.raises(
        TypeError, match="mask must be boolean, True where data is missing, got dtype float64"
    ):
        sedil.sparse_code(dictionary, np.ones((8, 3, 4)), 1.0, mask=np.zeros((8, 3, 4)))
