"""Noise that differs from channel to channel and from place to place."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from skimage import data

import sedil
from sedil.imaging.group_denoising import GroupDenoising
from sedil.imaging.noise_levels import NoiseLevels
from sedil.imaging.patch_averages import CleaningOptions, PatchCounter
from sedil.imaging.pixels import _OPPONENT, _mixing

LEVELS = (40.0, 20.0, 30.0)


def error(image, clean):
    return float(np.sqrt(np.mean((image - clean) ** 2)))


def with_noise(clean, sigma, seed=0):
    return (clean + sigma * np.random.default_rng(seed).standard_normal(clean.shape)).astype(np.float32)


@pytest.fixture(scope="module")
def grey():
    return data.camera()[100:180, 180:276].astype(np.float32)


@pytest.fixture(scope="module")
def colour():
    return data.astronaut()[60:140, 160:240].astype(np.float32)


@pytest.mark.parametrize("method", ["groups", "quick"])
def test_levels_of_channels_are_better_than_their_mean(colour, method):
    noisy = with_noise(colour, LEVELS)
    one = sedil.denoise(noisy, float(np.sqrt(np.mean(np.square(LEVELS)))), method=method, channel_axis=-1)
    each = sedil.denoise(noisy, LEVELS, method=method, channel_axis=-1)
    assert error(each, colour) < 0.92 * error(one, colour)
    first = sedil.denoise(np.moveaxis(noisy, -1, 0), LEVELS, method=method, channel_axis=0)
    assert_allclose(np.moveaxis(first, 0, -1), each, atol=1e-3)


@pytest.mark.parametrize("method", ["groups", "quick"])
def test_a_map_is_as_good_as_each_side_with_its_own_level(grey, method):
    level = np.where(np.arange(grey.shape[1]) < 48, 8.0, 30.0)  # broadcasts over the rows
    noisy = with_noise(grey, level)
    apart = np.concatenate(
        [
            sedil.denoise(noisy, sigma, method=method)[:, part]
            for sigma, part in ((8, slice(48)), (30, slice(48, None)))
        ],
        axis=1,
    )
    together = sedil.denoise(noisy, level, method=method)
    assert error(together, grey) < 1.03 * error(apart, grey)
    assert error(together, grey) < 0.8 * error(sedil.denoise(noisy, 22.0, method=method), grey)


@pytest.mark.parametrize("method", ["groups", "quick"])
def test_pixels_without_noise_come_back_to_the_bit(grey, method):
    level = np.zeros(grey.shape)
    level[20:60, 20:70] = 25
    noisy = with_noise(grey, level)
    clean = sedil.denoise(noisy, level, method=method)
    assert_array_equal(clean[level == 0], noisy[level == 0])
    assert error(clean, grey) < 0.5 * error(noisy, grey)
    assert_array_equal(sedil.denoise(noisy, np.zeros(grey.shape), method=method), noisy)


def test_a_channel_without_noise_helps_the_others(colour):
    noisy = with_noise(colour, (0, 25, 25))
    clean = sedil.denoise(noisy, (0, 25, 25), channel_axis=-1)
    assert_array_equal(clean[..., 0], noisy[..., 0])
    alone = sedil.denoise(noisy[..., 1:], 25, channel_axis=-1)
    assert error(clean[..., 1:], colour[..., 1:]) < 0.95 * error(alone, colour[..., 1:])


@pytest.mark.parametrize("shape", [(80, 96), (96,), (80, 1), (1, 1)])
def test_one_level_in_any_shape_is_that_level(grey, shape):
    noisy = with_noise(grey, 20)
    assert_allclose(sedil.denoise(noisy, np.full(shape, 20.0)), sedil.denoise(noisy, 20), atol=2e-3)


def test_maps_of_colour_come_with_and_without_channels(colour):
    noisy = with_noise(colour, 20)
    level = np.linspace(10, 30, colour.shape[1])[None, :] * np.ones((len(colour), 1))
    without = sedil.denoise(noisy, level, channel_axis=-1)
    assert_array_equal(sedil.denoise(noisy, level[..., None] * np.ones(3), channel_axis=-1), without)
    assert_array_equal(sedil.denoise(noisy, level[..., None], channel_axis=-1), without)


def test_units_of_a_map_do_not_matter(grey):
    level = np.linspace(5, 40, grey.shape[1])
    noisy = with_noise(grey, level)
    tiny = sedil.denoise(noisy.astype(np.float64) * 1e-20, level * 1e-20)
    difference = np.abs(tiny * 1e20 - sedil.denoise(noisy, level))
    # Rounding may turn which patches are most alike, here and there.
    assert np.quantile(difference, 0.99) < 0.1
    assert difference.max() < 3


def test_mixed_channels_have_white_noise_of_one_level_and_grey_no_colour():
    levels = np.array(LEVELS) / 30
    mixing = _mixing(3, True, tuple(levels))
    assert_allclose((mixing * levels**2) @ mixing.T, np.eye(3), atol=1e-12)
    assert_allclose(mixing[1:] @ np.ones(3), 0, atol=1e-12)
    assert mixing[0, 1] > mixing[0, 2] > mixing[0, 0] > 0  # luminance trusts the channel with least noise
    assert_allclose(_mixing(3, True, (1.0, 1.0, 1.0)), _OPPONENT, atol=1e-12)


def test_a_map_is_taken_apart_into_channels_and_places():
    sigma = np.array(LEVELS) * np.linspace(1, 2, 7)[:, None]
    noise = NoiseLevels.of_map(sigma, 1)
    assert_allclose(noise.level, np.sqrt(np.mean(sigma**2)))
    assert_allclose(noise.places[:, None] * np.array(noise.channels) * noise.level, sigma)


def test_noise_of_known_pixels_is_not_carried_on(grey):
    level = np.where(np.arange(grey.shape[1]) < 48, 0.0, 30.0)
    noisy, mask = with_noise(grey, level), np.random.default_rng(1).random(grey.shape) < 0.5
    plain, by_map = (sedil.inpaint(noisy, mask, sigma=sigma) for sigma in (0, level))
    assert_array_equal(by_map[~mask], noisy[~mask])
    right = mask & (level > 0)
    assert error(by_map[right], grey[right]) < 0.85 * error(plain[right], grey[right])
    left = mask & (np.arange(grey.shape[1]) < 40)
    assert error(by_map[left], grey[left]) < 1.1 * error(plain[left], grey[left])


IMAGE = np.add.outer(np.arange(16.0), np.arange(12.0))
WITH_NAN = np.where(IMAGE == 3, np.nan, 1.0)


@pytest.mark.parametrize(
    "restore", [sedil.denoise, lambda image, sigma: sedil.inpaint(image, image > 9, sigma=sigma)]
)
@pytest.mark.parametrize(
    ("sigma", "words"),
    [
        (np.ones((12, 16)), r"a map that fits the image of shape \(16, 12\), got shape \(12, 16\)"),
        (np.ones((2, 16, 12)), r"a map that fits the image of shape \(16, 12\), got shape \(2, 16, 12\)"),
        (WITH_NAN, r"sigma must be finite, got 4 NaN or infinite values \(the first at index \(0, 3\)\)"),
        (1 - IMAGE, r"sigma must not be negative, got -25: 0 leaves a pixel as it is"),
        ([[1, 2], [3]], "sigma must be one rectangular array of numbers"),
        (["a", "b"], "sigma must hold real numbers"),
        (np.full((16, 12), 99.0), "sigma 99 is larger than the values of the image"),
    ],
)
def test_bad_maps_are_refused_in_words(restore, sigma, words):
    with pytest.raises((ValueError, TypeError), match=words):
        restore(IMAGE, sigma)


def test_a_map_of_rows_without_channels_is_one_of_rows(rng):
    image = (100 + 10 * rng.standard_normal((40, 40, 3))).astype(np.float32)
    rows = np.where(np.arange(40) < 20, 0.0, 10.0)[:, None]
    clean = sedil.denoise(image, rows, channel_axis=-1)
    np.testing.assert_array_equal(clean[:20], image[:20])
    assert clean[20:].std() < 5
    np.testing.assert_array_equal(sedil.denoise(image, rows * np.ones((1, 40)), channel_axis=-1), clean)


def test_an_array_without_axes_is_a_number(rng):
    image = (100 + 10 * rng.standard_normal((32, 32))).astype(np.float32)
    np.testing.assert_array_equal(sedil.denoise(image, np.array(10.0)), sedil.denoise(image, 10.0))


def test_an_empty_channel_does_not_hide_the_noise_of_the_others(rng):
    image = np.zeros((96, 96, 3))
    image[..., :2] = 100 + 20 * rng.standard_normal((96, 96, 2))
    found = sedil.measure_noise(image, -1)
    np.testing.assert_allclose(found.sigma, (20, 20, 0), rtol=0.1)
    clean = sedil.denoise(image, noise="auto", channel_axis=-1)
    assert clean[..., :2].std() < 6
    assert np.abs(clean[..., 2]).max() < 1


def test_passes_of_groups_keep_what_has_no_noise(rng):
    image = (100 + 10 * rng.standard_normal((40, 40))).astype(np.float32)
    places = np.where(np.arange(40) < 20, 0, 1).astype(np.float32) * np.ones((40, 1), np.float32)
    work = GroupDenoising.plan([image], 10.0, None, None, None, False, places)
    counter = PatchCounter(lambda progress: None, 1)
    (clean,) = work.clean([image], CleaningOptions(None, 512e6, 1, counter))
    np.testing.assert_array_equal(clean[:, :20], image[:, :20])
