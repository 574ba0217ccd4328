"""Whole signals filled from the dictionary alone."""

import numpy as np
import pytest

import sedil
from random_things import random_factors
from sedil.coding.prior import GaussianPrior, LaplacePrior
from sedil.imaging.whole_inpainting import fill_whole


@pytest.fixture
def dictionary():
    return sedil.odct((12, 12), (24, 24))


@pytest.fixture
def smooth(dictionary, rng):
    """Signals of few atoms of low frequency."""
    codes = np.zeros((6, 24, 24))
    codes[:, :4, :4] = rng.standard_normal((6, 4, 4)) * 30
    return 100 + dictionary.synthesize(codes)


@pytest.fixture
def hole():
    mask = np.zeros((12, 12), bool)
    mask[4:8, 5:9] = True
    return mask


def error(filled, signals, mask):
    return np.abs(filled - signals)[..., mask].max()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_smooth_signals_are_restored(dictionary, smooth, hole, dtype):
    signals = smooth.astype(dtype)
    broken = np.where(hole, np.nan, signals).astype(dtype)
    filled = fill_whole(dictionary.like(signals), broken, hole, max_iterations=1000, tolerance=1e-6)
    assert filled.dtype == dtype
    assert error(filled, signals, hole) < 0.25 * signals.std()
    np.testing.assert_array_equal(filled[:, ~hole], signals[:, ~hole])


def test_units_do_not_matter(dictionary, smooth, hole):
    filled = fill_whole(dictionary, smooth, hole)
    np.testing.assert_allclose(fill_whole(dictionary, 50 * smooth - 7, hole), 50 * filled - 7, rtol=1e-6)


def test_shared_and_own_masks_agree(dictionary, smooth, hole, rng):
    own = np.broadcast_to(hole, smooth.shape)
    np.testing.assert_allclose(fill_whole(dictionary, smooth, own), fill_whole(dictionary, smooth, hole))


def test_chunks_and_leading_axes_do_not_matter(dictionary, smooth, hole):
    many = np.concatenate([smooth] * 12)  # more than a chunk
    filled = fill_whole(dictionary, many, hole, threads=2)
    np.testing.assert_allclose(filled[-6:], fill_whole(dictionary, smooth, hole))
    grid = fill_whole(dictionary, smooth.reshape(2, 3, 12, 12), hole)
    np.testing.assert_allclose(grid.reshape(6, 12, 12), fill_whole(dictionary, smooth, hole))


def test_nothing_missing_and_flat_signals_stay_as_they_are(dictionary, smooth):
    nothing = np.zeros((12, 12), bool)
    np.testing.assert_array_equal(fill_whole(dictionary, smooth, nothing), smooth)
    flat, some = np.full((1, 12, 12), 7.0), np.eye(12, dtype=bool)
    np.testing.assert_allclose(fill_whole(dictionary, flat, some), flat)


def test_a_prior_that_fits_restores_better(dictionary, smooth, hole):
    scales = np.full((24, 24), 1e-3)
    scales[:4, :4] = 25
    mean = np.full((12, 12), 100.0)
    plain = error(fill_whole(dictionary, smooth, hole), smooth, hole)
    laplace = fill_whole(dictionary, smooth, hole, prior=LaplacePrior(mean, scales, 0.5), max_iterations=500)
    gaussian = GaussianPrior(mean, np.empty((0, 12, 12)), scales**2, 0.5)
    assert error(laplace, smooth, hole) < plain / 3
    assert error(fill_whole(dictionary, smooth, hole, prior=gaussian), smooth, hole) < plain / 3


def test_signals_and_volumes(rng):
    for shape, counts in [((30,), (60,)), ((5, 4, 6), (8, 8, 8))]:
        dictionary = sedil.SeparableDictionary(random_factors(shape, counts, rng))
        signals, masks = rng.standard_normal((2, *shape)), rng.random((2, *shape)) < 0.2
        filled = fill_whole(dictionary, signals, masks)
        assert filled.shape == signals.shape
        np.testing.assert_array_equal(filled[~masks], signals[~masks])


def test_torch_tensors_stay_tensors(dictionary, smooth, hole):
    torch = pytest.importorskip("torch")
    signals = torch.asarray(smooth)
    filled = fill_whole(dictionary.like(signals), signals, torch.asarray(hole))
    np.testing.assert_allclose(filled.numpy(), fill_whole(dictionary, smooth, hole), rtol=1e-6)


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        (
            np.zeros((11, 12), bool),
            r"masks must have the shape of the data, \(6, 12, 12\) or \(12, 12\), got \(11, 12\)",
        ),
        (np.zeros((12, 12)), "masks must be boolean, True where data is missing, got dtype float64"),
        (np.ones((12, 12), bool), "Nothing is known of 1 of the signals"),
        (None, "masks must be boolean, True where data is missing, got dtype object"),
    ],
)
def test_bad_masks(dictionary, smooth, mask, message):
    with pytest.raises((TypeError, ValueError), match=message):
        fill_whole(dictionary, smooth, mask)


def test_known_entries_must_be_finite(dictionary, smooth, hole):
    smooth[2, 0, 0] = np.inf
    with pytest.raises(ValueError, match="signals must be finite, got 1 NaN or infinite value"):
        fill_whole(dictionary, smooth, hole)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"penalty": 0}, "penalty must be a finite positive number"),
        ({"tolerance": -1}, "tolerance must be a finite positive number"),
        ({"max_iterations": 0}, "max_iterations must be a whole number of at least 1"),
        ({"threads": 0}, "threads must be a whole number of at least 1"),
        (
            {"prior": LaplacePrior(np.zeros((3, 3)), np.ones((24, 24)), 1.0)},
            r"The prior is one of signals of shape \(3, 3\), the dictionary of patches of shape \(12, 12\)",
        ),
    ],
)
def test_bad_settings(dictionary, smooth, hole, arguments, message):
    with pytest.raises(ValueError, match=message):
        fill_whole(dictionary, smooth, hole, **arguments)
