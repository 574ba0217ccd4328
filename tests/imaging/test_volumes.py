"""What users get for volumes and stacks of frames without a dictionary of their own."""

import numpy as np
import pytest

import sedil

WAVES = (128 + 60 * np.sin(sum(0.4 * axis for axis in np.mgrid[:14, :18, :21]))).astype(np.float32)
SIGMA = 20.0


@pytest.fixture
def noisy(rng):
    return (WAVES + SIGMA * rng.standard_normal(WAVES.shape)).astype(np.float32)


def error(volume):
    return float(np.sqrt(np.mean((volume - WAVES) ** 2)))


def test_quick_default_for_volumes(noisy):
    clean = sedil.denoise(noisy, SIGMA, method="quick")
    assert clean.shape == noisy.shape
    slices = np.stack([sedil.denoise(each, SIGMA, method="quick") for each in noisy])
    assert error(clean) < 0.9 * error(slices) < 0.5 * SIGMA
    given = sedil.denoise(noisy, SIGMA, sedil.shipped_dictionary("separable-8x8x8"), stride=2)
    np.testing.assert_array_equal(clean, given)


def test_default_for_thin_stacks_of_frames_and_colours(noisy):
    thin = sedil.denoise(noisy[:3], SIGMA)
    assert np.mean((thin - WAVES[:3]) ** 2) < 0.3 * SIGMA**2
    colours = np.stack([noisy] * 3, axis=-1)
    clean = sedil.denoise(colours, SIGMA, channel_axis=-1)
    assert clean.shape == colours.shape


def test_volume_with_an_axis_of_length_one_is_refused(noisy):
    with pytest.raises(ValueError, match=r"shape \(1, 18, 21\) has an axis of length 1: drop it"):
        sedil.denoise(noisy[:1], SIGMA, method="quick")


def test_missing_voxels_are_filled_and_known_ones_stay(rng):
    mask = rng.random(WAVES.shape) < 0.5
    filled = sedil.inpaint(np.where(mask, np.nan, WAVES), mask, method="quick")
    np.testing.assert_array_equal(filled[~mask], WAVES[~mask])
    slices = np.stack([sedil.inpaint(*each, method="quick") for each in zip(WAVES, mask, strict=True)])
    assert error(filled) < 0.7 * error(slices)


def test_lost_slice_comes_back():
    mask = np.zeros(WAVES.shape, bool)
    mask[7] = True
    filled = sedil.inpaint(WAVES, mask)
    mean = (WAVES[6] + WAVES[8]) / 2
    assert np.abs(filled[7] - WAVES[7]).mean() < 1.2 * np.abs(mean - WAVES[7]).mean()
