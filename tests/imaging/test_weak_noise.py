import time
from functools import partial

import numpy as np
import pytest

import sedil
from sedil.imaging import denoise as module
from sedil.imaging import patch_denoising
from sedil.imaging.weak_noise import is_weak_for_groups, weakness

RIDGES = (128 + 100 * np.sin(0.5 * np.arange(96)[:, None] + 0.3 * np.arange(96))).astype(np.float32)


quick = partial(sedil.denoise, method="quick")


def with_noise(clean, sigma, rng):
    return clean + np.float32(sigma) * rng.standard_normal(clean.shape).astype(np.float32)


def error(image, clean):
    return float(np.sqrt(np.mean((image - clean) ** 2)))


@pytest.fixture
def texture(rng):
    """Grain of all frequencies, of which sparse codes need nearly all atoms."""
    return np.clip(128 + 60 * rng.standard_normal((96, 96)), 0, 255).astype(np.float32)


def test_weak_noise_takes_no_longer_than_strong_noise(texture, rng):
    def seconds(sigma):
        noisy = with_noise(texture, sigma, rng)
        start = time.process_time()
        quick(noisy, sigma)
        return time.process_time() - start

    seconds(20)  # compiles
    most = 2 * seconds(20)
    assert seconds(1) < most
    assert seconds(5) < most
    assert seconds(9) < most


@pytest.mark.parametrize("sigma", [0.5, 2, 5])
def test_weak_noise_falls(sigma, rng):
    assert error(quick(with_noise(RIDGES, sigma, rng), sigma), RIDGES) < 0.85 * sigma


@pytest.mark.parametrize("shape", [(8, 40), (16, 17), (5, 20, 24), (2, 9, 30)])
def test_small_images_and_thin_volumes(shape, rng):
    clean = (100 + 50 * np.sin(sum(0.4 * axis for axis in np.indices(shape)))).astype(np.float32)
    noisy = with_noise(clean, 1, rng)
    assert error(quick(noisy, 1), clean) < 0.8


@pytest.mark.parametrize(("n_axes", "ordinary", "weak"), [(1, 36, 38), (2, 30, 31.5), (3, 36, 38)])
def test_noise_becomes_weak_by_the_range_of_the_image(n_axes, ordinary, weak):
    shares = [weakness(ranges * 7, 7, n_axes) for ranges in (2, ordinary, (ordinary + weak) / 2, weak, 99)]
    assert shares == pytest.approx([0, 0, 0.5, 1, 1])
    assert weakness(1, 0, n_axes) == 1


def test_groups_are_sought_in_the_noisy_image_where_noise_is_very_weak():
    assert [is_weak_for_groups(ranges, 1) for ranges in (37.9, 38)] == [False, True]


def test_result_does_not_jump_where_noise_becomes_weak(rng, monkeypatch):
    noisy = with_noise(RIDGES[:40, :40], 5, rng)
    spread = float(np.ptp(noisy))
    results = [quick(noisy, spread / ranges) for ranges in (29.999, 30.001, 30.75, 31.499, 31.501)]
    sparse, nearly_sparse, between, nearly_cosines, cosines = results
    assert error(nearly_sparse, sparse) < 0.05
    assert error(nearly_cosines, cosines) < 0.05
    assert error(sparse, cosines) > 0.3
    monkeypatch.setattr(module, "weakness", lambda *noise: 0.0)
    all_sparse = quick(noisy, spread / 30.75)
    monkeypatch.setattr(module, "weakness", lambda *noise: 1.0)
    all_cosines = quick(noisy, spread / 30.75)
    np.testing.assert_allclose(between, (all_sparse + all_cosines) / 2, atol=1e-3)


@pytest.mark.parametrize(
    "settings", [{"dictionary": "separable-8x8"}, {"method": "l1"}, {"method": "pursuit"}, {"threshold": 3.2}]
)
def test_what_is_asked_for_is_done_at_any_noise(settings, rng, monkeypatch):
    def refused(*task):
        raise AssertionError

    monkeypatch.setattr(patch_denoising, "clean_by_cosines", refused)
    noisy = with_noise(RIDGES[:24, :24], 2, rng)
    quick(noisy, 2, **settings)
    with pytest.raises(AssertionError):
        quick(noisy, 2)


@pytest.mark.parametrize("scale", [1e-15, 1 / 255, 1e15])
def test_units_do_not_matter(scale, rng):
    noisy = with_noise(RIDGES, 1, rng)
    np.testing.assert_allclose(quick(noisy * scale, scale) / scale, quick(noisy, 1), rtol=1e-4)


def test_level_does_not_matter(rng):
    noisy = with_noise(RIDGES, 1, rng)
    moved = quick(noisy - 128, 1) + 128
    np.testing.assert_allclose(moved, quick(noisy, 1), atol=1e-2)


def test_noise_below_the_precision_leaves_the_image(rng):
    noisy = with_noise(RIDGES, 1, rng)
    np.testing.assert_allclose(quick(noisy, 1e-35), noisy, rtol=1e-4)


def test_engines_precisions_and_threads_agree(rng):
    noisy = with_noise(RIDGES, 2, rng)
    fused = quick(noisy, 2, threads=1)
    np.testing.assert_array_equal(quick(noisy, 2, threads=2), fused)
    portable, precise = quick(noisy, 2, engine="portable", threads=2), quick(noisy, 2, dtype="float64")
    # A frequency at the threshold may be kept in one precision and not in the other.
    assert np.mean(np.abs(portable - fused) > 1e-3) < 0.01
    assert np.mean(np.abs(precise - fused) > 1e-3) < 0.01


def test_stride_leaves_no_gap_and_input_stays(rng):
    noisy = with_noise(RIDGES, 2, rng)
    before = noisy.copy()
    for stride in (2, 5, 8):
        assert error(quick(noisy, 2, stride=stride), RIDGES) < 1.6
    np.testing.assert_array_equal(noisy, before)


def test_progress_ends_at_all_blocks(rng):
    seen = []
    quick(with_noise(RIDGES, 2, rng), 2, progress=seen.append)
    assert seen[-1].done == seen[-1].total > 0


def test_colour_volumes_and_types(rng):
    colour = np.stack([RIDGES, RIDGES[::-1], RIDGES[:, ::-1]], -1)
    noisy = np.clip(with_noise(colour, 3, rng), 0, 255).astype(np.uint8)
    result = quick(noisy, 3, channel_axis=-1)
    assert result.dtype == np.uint8
    assert error(result.astype(np.float32), np.clip(colour, 0, 255)) < 2
