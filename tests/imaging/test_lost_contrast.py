"""Contrast that denoising takes away is given back where there is some, and nowhere else."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from skimage import data
from skimage.metrics import structural_similarity

import sedil
from sedil.imaging.group_denoising import GroupDenoising
from sedil.imaging.lost_contrast import CAUTION, ERROR, with_contrast

RNG = np.random.default_rng(0)


def mean_over_patches_that_hold(image, pixel, shape):
    """Straight from the definition."""
    corners = product(*(range(side - length + 1) for side, length in zip(image.shape, shape, strict=True)))
    cuts = [tuple(map(slice, corner, np.add(corner, shape))) for corner in corners]
    return np.mean(
        [
            image[cut].mean()
            for cut in cuts
            if all(c.start <= p < c.stop for c, p in zip(cut, pixel, strict=True))
        ]
    )


@pytest.mark.parametrize(("shape", "patch"), [((9, 11), (3, 4)), ((6, 5, 7), (2, 3, 2)), ((5, 4), (5, 4))])
def test_image_is_stretched_about_its_mean_to_the_variance_it_should_have(shape, patch):
    image, noise = 10 * RNG.standard_normal(shape), 300.0
    result = with_contrast(image, noise, patch)
    mean, variance = np.zeros(shape), np.zeros(shape)
    for pixel in np.ndindex(shape):
        mean[pixel] = mean_over_patches_that_hold(image, pixel, patch)
    for pixel in np.ndindex(shape):
        variance[pixel] = mean_over_patches_that_hold((image - mean) ** 2, pixel, patch)
    error = ERROR * noise
    gain = np.sqrt(1 + error * variance / (variance + CAUTION * error) ** 2)
    assert_allclose(result, mean + gain * (image - mean))
    assert np.all(gain > 1.02)


def test_nothing_is_stretched_where_there_is_no_noise_or_no_contrast():
    image = RNG.standard_normal((12, 12))
    assert_array_equal(with_contrast(image, 0.0, (7, 7)), image)
    flat = np.full((12, 12), 3.0)
    assert_array_equal(with_contrast(flat, 400.0, (7, 7)), flat)
    assert_array_equal(with_contrast(flat, 0.0, (7, 7)), flat)
    faint = 0.01 * image
    assert_allclose(with_contrast(faint, 400.0, (7, 7)), faint, atol=1e-6)


def test_pixels_without_noise_stay_as_they_are():
    image, noise = RNG.standard_normal((16, 16)), np.ones((16, 16))
    noise[:, :8] = 0
    result = with_contrast(image, noise, (5, 5))
    assert_array_equal(result[:, :8], image[:, :8])
    assert np.all(result[:, 8:] != image[:, 8:])


@pytest.mark.parametrize(
    ("shape", "n_channels", "time_axis", "expected"),
    [
        ((64, 64), 1, None, (7, 7)),
        ((64, 5), 3, None, (7, 5)),
        ((64, 64), 2, None, None),
        ((32, 32, 32), 1, None, (5, 5, 5)),
        ((32, 32, 32), 1, 0, None),
        ((500,), 1, None, None),
        ((8, 8, 8, 8), 1, None, None),
    ],
)
def test_pictures_and_volumes_get_it_clips_and_signals_do_not(shape, n_channels, time_axis, expected):
    plan = GroupDenoising.plan([np.zeros(shape)] * n_channels, 20.0, None, None, time_axis, is_weak=False)
    assert plan.contrast == expected
    assert plan.luminance is None or plan.luminance.contrast is None


def test_weak_texture_is_more_like_that_of_the_clean_picture(monkeypatch):
    # Gravel has texture all over; it is not among the pictures that the settings were chosen on.
    clean = data.gravel()[:128, :128].astype(np.float32)
    noisy = (clean + 30 * RNG.standard_normal(clean.shape)).astype(np.float32)
    result = sedil.denoise(noisy, 30)
    monkeypatch.setattr("sedil.imaging.group_denoising.patches_of_contrast", lambda shape: None)
    without = sedil.denoise(noisy, 30)

    def likeness(image):
        return structural_similarity(clean, image, data_range=255)

    assert likeness(result) > likeness(without) + 0.003
    assert np.mean((result - clean) ** 2) < np.mean((without - clean) ** 2)
