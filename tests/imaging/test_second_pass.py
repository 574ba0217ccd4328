from functools import reduce

import numpy as np
import pytest

import sedil
from sedil.imaging.cosine_blocks import cosine_factors
from sedil.imaging.second_pass import second_pass

WAVES = (128 + 60 * np.sin(sum(0.4 * axis for axis in np.mgrid[:14, :18, :21]))).astype(np.float32)
SIGMA = 20.0


@pytest.fixture
def noisy(rng):
    return (WAVES + SIGMA * rng.standard_normal(WAVES.shape)).astype(np.float32)


def error(volume):
    return float(np.sqrt(np.mean((volume - WAVES) ** 2)))


def test_transform_is_orthonormal_and_begins_with_the_mean():
    matrix = reduce(np.kron, cosine_factors((4, 4, 3)))
    np.testing.assert_allclose(matrix.T @ matrix, np.eye(48), atol=1e-6)
    np.testing.assert_allclose(matrix[:, 0], 1 / np.sqrt(48), rtol=1e-6)


def test_true_estimate_is_a_good_guide(noisy):
    assert error(second_pass(noisy, WAVES, SIGMA)) < 0.4 * SIGMA


def test_formula_on_one_block(rng):
    noisy, estimate = (100 * rng.random((4, 4, 4)).astype(np.float32) for _ in range(2))
    matrix = reduce(np.kron, cosine_factors((4, 4, 4)))
    signal = (matrix.T @ estimate.ravel()) ** 2
    expected = matrix @ (signal / (signal + 1.25 * SIGMA**2) * (matrix.T @ noisy.ravel()))
    np.testing.assert_allclose(second_pass(noisy, estimate, SIGMA).ravel(), expected, rtol=1e-4, atol=1e-3)


def test_estimate_without_signal_leaves_nothing(noisy):
    flat = second_pass(noisy, np.zeros_like(noisy), SIGMA)
    np.testing.assert_array_equal(flat, 0)


def test_threads_change_nothing_and_input_stays(noisy):
    first, before = sedil.denoise(noisy, SIGMA, sedil.odct((4, 4, 4), 6), stride=2), noisy.copy()
    one, two = (second_pass(noisy, first, SIGMA, threads) for threads in (1, 2))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(noisy, before)


def test_volumes_gain_by_it_but_not_the_papers_l1(noisy, monkeypatch):
    from sedil.imaging import patch_denoising as module

    dictionary = sedil.odct((6, 6, 6), 9)
    methods = ("quick", "pursuit", "l1")
    both = {m: sedil.denoise(noisy, SIGMA, dictionary, stride=2, method=m) for m in methods}
    monkeypatch.setattr(module, "second_pass", lambda noisy, estimate, *how: estimate)
    once = {m: sedil.denoise(noisy, SIGMA, dictionary, stride=2, method=m) for m in methods}
    for method in ("quick", "pursuit"):
        assert error(both[method]) < error(once[method])
    np.testing.assert_array_equal(both["l1"], once["l1"])
