"""Codes as a sparse matrix: the same numbers without the zeros."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import issparse

import sedil
from random_things import training_patches
from sedil.coding import fused

PATCHES = training_patches(70, (4, 3)).astype(np.float32)
DICTIONARY = sedil.odct((4, 3), (6, 5)).like(PATCHES)

SETTINGS = {
    "descent": {"penalty": 0.3, "solver": "descent"},
    "fista": {"penalty": 0.3, "solver": "fista"},
    "admm": {"penalty": 0.3, "solver": "admm"},
    "refit": {"penalty": 0.3, "method": "refit"},
    "pursuit": {"method": "pursuit", "max_error": 0.4},
    "portable": {"penalty": 0.3, "engine": "portable"},
    "portable pursuit": {"method": "pursuit", "max_error": 0.4, "engine": "portable"},
    "masked": {"penalty": 0.3, "mask": np.arange(PATCHES.size).reshape(PATCHES.shape) % 5 == 0},
    "from codes": {"penalty": 0.3, "initial": np.ones((70, 6, 5), np.float32)},
}


@pytest.fixture
def many_parts(monkeypatch):
    """Parts so small that the patches fill several, the last one not quite."""
    monkeypatch.setattr(fused, "_CHUNK", 32)


@pytest.mark.parametrize("name", SETTINGS)
def test_same_numbers_as_dense_codes(many_parts, name):
    dense = sedil.sparse_code(DICTIONARY, PATCHES, **SETTINGS[name])
    rows = sedil.sparse_code(DICTIONARY, PATCHES, sparse=True, **SETTINGS[name])
    assert issparse(rows)
    assert rows.shape == (70, 30)
    assert rows.dtype == np.float32
    assert 0 < rows.nnz == np.count_nonzero(dense) < dense.size
    np.testing.assert_allclose(rows.toarray(), dense.reshape(70, 30), rtol=1e-4, atol=1e-5)


def test_all_leading_axes_become_rows_in_order():
    patches = PATCHES.reshape(7, 10, 4, 3)
    rows = sedil.sparse_code(DICTIONARY, patches, 0.3, sparse=True)
    assert_array_equal(rows.toarray(), sedil.sparse_code(DICTIONARY, PATCHES, 0.3).reshape(70, 30))


def test_times_the_atoms_it_gives_the_patches():
    rows = sedil.sparse_code(DICTIONARY, PATCHES, 0.03, sparse=True)
    np.testing.assert_allclose(rows @ DICTIONARY.as_matrix().T, PATCHES.reshape(70, 12), atol=0.1)


def test_no_patches_give_no_rows():
    rows = sedil.sparse_code(DICTIONARY, np.zeros((0, 4, 3), np.float32), 0.3, sparse=True)
    assert rows.shape == (0, 30)


def test_a_patch_of_zeros_is_an_empty_row():
    patches = np.concatenate([PATCHES[:1], np.zeros((1, 4, 3), np.float32), PATCHES[:1]])
    counts = np.diff(sedil.sparse_code(DICTIONARY, patches, 0.3, sparse=True).indptr)
    assert counts[0] == counts[2] > 0
    assert counts[1] == 0


def test_unfinished_patches_are_counted_over_all_parts(many_parts):
    from sklearn.exceptions import ConvergenceWarning

    options = {"penalty": 1e-4, "solver": "fista", "tolerance": 1e-7, "max_iterations": 1}
    with pytest.warns(ConvergenceWarning, match="70 of 70 patches"):
        sedil.sparse_code(DICTIONARY, PATCHES, sparse=True, **options)


def test_other_libraries_are_refused():
    import array_api_strict

    strict = array_api_strict.asarray(PATCHES.astype(np.float64))
    with pytest.raises(TypeError, match="sparse=True needs NumPy arrays"):
        sedil.sparse_code(DICTIONARY.like(strict), strict, 0.3, sparse=True)
