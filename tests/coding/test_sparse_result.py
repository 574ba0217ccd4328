"""Codes as a sparse matrix: the same numbers without the zeros."""

import tracemalloc
from threading import Thread

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import issparse

import sedil
from random_things import training_patches
from sedil.engines.fused import sparse_coding
from sedil.engines.fused.kernels.nonzeros import take_nonzeros

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
    monkeypatch.setattr(sparse_coding, "_CHUNK", 32)


@pytest.mark.parametrize("name", SETTINGS)
def test_same_numbers_as_dense_codes(many_parts, name):
    dense = sedil.sparse_code(DICTIONARY, PATCHES, **SETTINGS[name])
    rows = sedil.sparse_code(DICTIONARY, PATCHES, sparse=True, **SETTINGS[name])
    assert issparse(rows)
    assert rows.shape == (70, 30)
    assert rows.dtype == np.float32
    assert 0 < rows.nnz == np.count_nonzero(dense) < dense.size
    np.testing.assert_allclose(rows.toarray(), dense.reshape(70, 30), rtol=1e-4, atol=1e-5)


def test_the_peak_of_memory_is_below_the_size_of_the_patches():
    patches = np.tile(training_patches(100, (8, 8)).astype(np.float32), (600, 1, 1))
    dictionary = sedil.odct((8, 8), (16, 16)).like(patches)
    sedil.sparse_code(dictionary, patches[:1], 2.0, sparse=True, threads=1)  # imports and compiles
    tracemalloc.start()
    rows = sedil.sparse_code(dictionary, patches, 2.0, sparse=True, threads=1)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert rows.nnz > 0
    assert rows.indices.dtype == rows.indptr.dtype == np.int32
    assert peak < patches.nbytes


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


def test_an_error_in_one_part_is_raised_and_does_not_hang(many_parts):
    def fail(part, buffer):
        raise MemoryError("no room")

    caught = []

    def call():
        try:
            sparse_coding.in_sparse_rows(fail, DICTIONARY.factors, 70, threads=1)
        except MemoryError as error:
            caught.append(error)

    thread = Thread(target=call, daemon=True)
    thread.start()
    thread.join(timeout=20)
    assert str(caught[0]) == "no room"


def test_nan_is_a_value_like_others_and_minus_zero_is_zero():
    rows = np.array([[0, np.nan, 2], [-0.0, np.inf, np.nan]], np.float32)
    counts = np.zeros(2, np.int64)
    values, columns = take_nonzeros(rows, counts)
    assert_array_equal(values, np.array([np.nan, 2, np.inf, np.nan], np.float32))
    assert_array_equal(columns, [1, 2, 1, 2])
    assert_array_equal(counts, [2, 2])
    assert not rows.any()
