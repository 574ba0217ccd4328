import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from skimage import data
from skimage.restoration import inpaint_biharmonic

from sedil.imaging import smooth_filling
from sedil.imaging.smooth_filling import fill_smoothly


@pytest.mark.parametrize("shape", [(65,), (33, 48), (17, 18, 19), (8, 8, 8, 9)])
def test_known_pixels_stay_and_all_is_between_them(shape, rng):
    image = rng.random(shape)
    missing = rng.random(shape) < 0.6
    filled = fill_smoothly(np.where(missing, 0, image), missing)
    assert_array_equal(filled[~missing], image[~missing])
    assert filled.shape == shape
    assert -2 < filled.min() < filled.max() < 3


@given(level=st.floats(-1e4, 1e4), share=st.floats(0.01, 0.99), seed=st.integers(0, 99))
def test_flat_image_stays_flat(level, share, seed):
    missing = np.random.default_rng(seed).random((13, 22)) < share
    missing[0, 0] = False
    filled = fill_smoothly(np.where(missing, 0, level), missing)
    assert_allclose(filled, level, rtol=1e-6, atol=1e-6)


def test_plane_is_found_below_a_wide_hole():
    plane = np.add.outer(np.arange(64.0), 2 * np.arange(64.0))
    missing = np.zeros(plane.shape, bool)
    missing[20:44, 16:40] = True
    filled = fill_smoothly(np.where(missing, 0, plane), missing)
    assert np.abs(filled - plane).max() < 1  # of 189


@pytest.mark.parametrize("share", [0.25, 0.5, 0.8])
def test_it_is_as_good_as_the_exact_solution(share, rng):
    image = data.camera()[100:196, 200:280].astype(float)
    missing = rng.random(image.shape) < share
    damaged = np.where(missing, 0, image)
    errors = [np.mean((fill(damaged, missing) - image) ** 2) for fill in (fill_smoothly, inpaint_biharmonic)]
    assert errors[0] < 1.05 * errors[1]


def test_laplacian_is_its_own_adjoint(rng):
    left, right = rng.standard_normal((2, 5, 6, 7))
    laplacian = smooth_filling._laplacian
    assert_allclose(np.vdot(laplacian(left), right), np.vdot(left, laplacian(right)))
    assert_allclose(laplacian(np.ones((4, 5))), 0)


def test_one_known_pixel_fills_all():
    missing = np.ones((9, 10), bool)
    missing[4, 7] = False
    assert_allclose(fill_smoothly(np.where(missing, 0.0, 3.0), missing), 3.0)
