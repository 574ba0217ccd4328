"""What a single image tells of its noise."""

import io

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image
from scipy.ndimage import gaussian_filter
from skimage import data

import sedil
from sedil.imaging.measured_noise import _edge_level, _was_coarse_jpeg
from sedil.imaging.noise_blocks import read_blocks
from sedil.imaging.noise_levels import estimated_levels
from sedil.imaging.pixels import Units


@pytest.fixture(scope="module")
def photo():
    return data.astronaut().astype(np.float64)[:256, 100:356]


@pytest.fixture(scope="module")
def smooth_photo():
    """Without grain of its own."""
    return data.rocket().astype(np.float64)[60:316, 200:456]


def noise_like(image, seed=0):
    return np.random.default_rng(seed).standard_normal(image.shape)


def smooth_noise(image, sigma, seed=0):
    """Correlated along the first two axes, of standard deviation `sigma`."""
    smooth = gaussian_filter(noise_like(image, seed), (1.0, 1.0, 0)[: image.ndim])
    return sigma * smooth / smooth.std()


@pytest.mark.parametrize("sigma", [5, 10, 25, 50])
@pytest.mark.parametrize("name", ["camera", "coins", "rocket", "coffee"])
def test_level_is_within_five_percent(name, sigma):
    clean = getattr(data, name)().astype(np.float64)[:300, :300]
    found = sedil.measure_noise(clean + sigma * noise_like(clean), -1 if clean.ndim == 3 else None)
    assert found.kind == "white"
    assert_allclose(found.sigma, sigma, rtol=0.05)
    assert found.uncertainty < 0.1


@pytest.mark.parametrize("shape", [(40,), (30, 31), (14, 15, 16), (9, 9, 9, 9)])
def test_noise_alone_is_measured_in_any_number_of_axes(shape):
    found = sedil.measure_noise(100 + 3 * np.random.default_rng(1).standard_normal(shape))
    assert abs(found.sigma[0] / 3 - 1) < 3 * found.uncertainty + 0.02
    assert found.kind == "white"


def test_blocks_and_frequencies_that_tell_least_are_taken():
    """Few where a photograph has grain of its own, of 0.4 grey levels here, many where that is nothing."""
    clean = data.coins()[:256, :256]
    assert sedil.measure_noise(clean + noise_like(clean)).sigma[0] < 1.125
    assert_allclose(sedil.measure_noise(clean + 50 * noise_like(clean)).sigma, 50, rtol=0.02)


def test_chance_does_not_choose_the_blocks_of_small_pictures():
    """Few flat blocks that overlap are one place, whose noise may be weak by chance."""
    parts = (
        (data.camera()[96:224, 192:320], 1),
        (data.coins()[96:224, :128], 1),
        (data.grass()[96:224, :128], 0),
    )
    for part, seed in parts:
        found = sedil.measure_noise(part + 50 * noise_like(part, seed), kind="white")
        assert_allclose(found.sigma, 50, rtol=0.05)


@pytest.mark.parametrize("side", [8, 12, 16, 32])
def test_tiny_images_are_measured_within_what_they_say_of_it(side):
    sigmas, doubts = [], []
    for seed in range(40):
        found = sedil.measure_noise(100 + 5 * np.random.default_rng(seed).standard_normal((side, side)))
        sigmas.append(found.sigma[0])
        doubts.append(found.uncertainty)
    assert 4.3 < np.median(sigmas) < 5.5
    assert np.mean(np.abs(np.array(sigmas) / 5 - 1) < 2 * np.array(doubts)) > 0.8
    assert np.median(doubts) < 3 / side


def test_clipped_pixels_all_over_leave_what_details_tell(rng):
    noisy = 100 + 10 * rng.standard_normal((64, 64))
    noisy[::3, ::3] = 0
    assert sedil.measure_noise(noisy).sigma == (sedil.estimate_noise(noisy),)


def test_grey_stored_as_colour_is_grey(photo):
    grey = photo[100:196, 100:196, 1] + 20 * noise_like(photo[100:196, 100:196, 1])
    colour = np.dstack([grey] * 3)
    found, once = sedil.measure_noise(colour, -1), sedil.measure_noise(grey)
    assert found.sigma == once.sigma * 3
    assert found.brightness.shape == found.variances.shape == (len(once.brightness), 3)
    clean = sedil.denoise(grey)
    for noise in (None, found):
        assert_array_equal(sedil.denoise(colour, channel_axis=-1, noise=noise), np.dstack([clean] * 3))
    given = sedil.denoise(grey, 20)
    levels = np.full(grey.shape, 20.0)
    for sigma, expected in ((20, given), ((20, 20, 20), given), (levels, sedil.denoise(grey, levels))):
        assert_array_equal(sedil.denoise(colour, sigma, channel_axis=-1), np.dstack([expected] * 3))
    first = np.stack([grey] * 3)
    assert_array_equal(
        sedil.denoise(first, 20, method="quick", channel_axis=0)[2], sedil.denoise(grey, 20, method="quick")
    )
    apart = sedil.denoise(colour, (10, 20, 30), channel_axis=-1)
    assert not np.array_equal(apart[..., 0], apart[..., 2])


def test_channels_have_levels_of_their_own(photo):
    found = sedil.measure_noise(photo + np.array([20, 5, 10]) * noise_like(photo), -1)
    assert_allclose(found.sigma, [20, 5, 10], rtol=0.06)
    first = sedil.measure_noise(np.moveaxis(photo + 10 * noise_like(photo), -1, 0), 0)
    assert_allclose(first.sigma, 10, rtol=0.05)


@pytest.mark.parametrize(("gain", "read_noise"), [(2.0, 10.0), (0.5, 5.0)])
def test_gain_and_read_noise_are_within_ten_percent(gain, read_noise):
    rng = np.random.default_rng(0)
    light = data.camera().astype(np.float64)
    noisy = gain * rng.poisson(light / gain) + read_noise * rng.standard_normal(light.shape)
    found = sedil.measure_noise(noisy)
    assert_allclose(found.gain[0], gain, rtol=0.1)
    assert_allclose(found.read_noise[0], read_noise, rtol=0.1)
    assert np.all(np.diff(found.brightness, axis=0) > 0)


def test_correlated_noise_is_told_from_white(smooth_photo):
    smooth = sedil.measure_noise(smooth_photo + smooth_noise(smooth_photo, 8), -1)
    assert smooth.kind == "correlated"
    assert smooth.correlation > 0.5
    assert 5 < min(smooth.sigma) < max(smooth.sigma) < 11
    assert np.median(smooth.levels) > 1.2
    assert sedil.measure_noise(smooth_photo + 8 * noise_like(smooth_photo), -1).kind == "white"


def test_correlated_noise_is_removed_blind(smooth_photo):
    clean = smooth_photo[60:156, 60:156]
    noisy = (smooth_photo + smooth_noise(smooth_photo, 8))[60:156, 60:156]
    by_kind = sedil.denoise(noisy, noise="correlated", channel_axis=-1)
    as_white = sedil.denoise(noisy, noise="white", channel_axis=-1)
    assert np.std(by_kind - clean) < 0.8 * np.std(as_white - clean)


@pytest.mark.parametrize("quality", [75, 95])
def test_jpeg_of_a_noisy_picture_is_measured(quality):
    clean = data.camera()[:256, :256].astype(np.float64)
    noisy = np.clip(clean + 15 * noise_like(clean), 0, 255).astype(np.uint8)
    packed = io.BytesIO()
    Image.fromarray(noisy).save(packed, "JPEG", quality=quality)
    assert_allclose(sedil.measure_noise(np.asarray(Image.open(packed)), kind="white").sigma, 15, rtol=0.12)


@pytest.mark.parametrize(("sigma", "quality"), [(15, 60), (15, 75), (25, 75), (15, 85)])
def test_noise_that_jpeg_has_rounded_away_is_counted(sigma, quality):
    """Grass is strong at all frequencies; what is left of noise there is not told from it, zeros are."""
    for clean, most in ((data.camera()[:256, :256], 1.12), (data.grass()[:256, :256], 1.25)):
        found = sedil.measure_noise(as_jpeg(clean + sigma * noise_like(clean), quality), kind="white")
        assert 0.97 * sigma < found.sigma[0] < most * sigma
        assert 0 < found.uncertainty < 0.2


def as_jpeg(image, quality):
    packed = io.BytesIO()
    Image.fromarray(np.clip(np.rint(image), 0, 255).astype(np.uint8)).save(packed, "JPEG", quality=quality)
    return np.asarray(Image.open(packed))


@pytest.mark.parametrize("sigma", [15, 25])
@pytest.mark.parametrize("clean", [data.camera()[:256, :256], data.coffee()[:256, 100:356]])
def test_jpeg_that_rounds_much_is_known(clean, sigma):
    channel_axis = -1 if clean.ndim == 3 else None
    noisy = np.clip(clean + sigma * noise_like(clean), 0, 255).astype(np.uint8)
    assert _was_coarse_jpeg(as_jpeg(noisy, 75), channel_axis)
    assert not _was_coarse_jpeg(as_jpeg(noisy, 97), channel_axis)
    assert not _was_coarse_jpeg(noisy, channel_axis)
    assert not _was_coarse_jpeg(as_jpeg(noisy, 75)[:15], channel_axis)
    assert not _was_coarse_jpeg(as_jpeg(noisy, 75).astype(float), channel_axis)


def test_jpeg_is_denoised_as_with_the_best_level():
    clean = data.camera()[100:228, 180:308].astype(np.float64)
    noisy = as_jpeg(clean + 15 * noise_like(clean), 75)
    error = np.std(sedil.denoise(noisy) - clean)
    assert error < 1.045 * min(
        np.std(sedil.denoise(noisy, sigma) - clean) for sigma in (13, 15, 17)
    )  # 0.4 dB


def test_clipped_parts_are_left_out():
    clean = np.linspace(-200, 455, 300) * np.ones((200, 1))
    noisy = np.clip(clean + 20 * noise_like(clean), 0, 255)
    assert_allclose(sedil.measure_noise(noisy, kind="white").sigma, 20, rtol=0.05)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_read_noise_of_very_small_and_large_values(scale):
    image = np.random.default_rng(0).standard_normal((6, 6, 6))
    found, usual = sedil.measure_noise(scale * image), sedil.measure_noise(image)
    assert_allclose(np.array(found.read_noise) / scale, usual.read_noise, rtol=1e-6)
    assert found.read_noise[0] > 0


def test_no_noise_is_found_where_there_is_none():
    flat = sedil.measure_noise(np.full((20, 20, 3), 7.0), -1)
    assert flat.sigma == (0.0, 0.0, 0.0)
    assert len(flat.brightness) == 0
    assert sedil.measure_noise(np.arange(400.0).reshape(20, 20), kind="white").sigma[0] < 1e-6


def test_an_estimate_is_what_denoise_makes_itself(photo):
    noisy = (photo + smooth_noise(photo, 8))[:128, :128]
    found = sedil.measure_noise(noisy, -1)
    assert_array_equal(
        sedil.denoise(noisy, noise=found, channel_axis=-1),
        sedil.denoise(noisy, noise="auto", channel_axis=-1),
    )


def test_units_of_an_estimate_do_not_matter(photo):
    noisy = photo + smooth_noise(photo, 8)
    small = 1e-20 * noisy
    levels = [
        estimated_levels(sedil.measure_noise(image, -1), units.pixels(image, "float64"), units, -1)
        for image, units in ((noisy, Units.of(noisy)), (small, Units.of(small)))
    ]
    exponent = Units.of(small).exponent
    assert_allclose(levels[1].level / 2.0**exponent * 1e20, levels[0].level, rtol=1e-6)
    assert_allclose(levels[1].places, levels[0].places, rtol=1e-6)


def test_white_noise_has_the_edge_of_marchenko_and_pastur():
    assert _edge_level(np.tile(4 * np.eye(3), (64, 1, 1))) == pytest.approx(2, rel=1e-3)


def test_edge_is_that_of_random_groups(rng):
    spectrum = np.geomspace(30, 0.1, 64)
    members = rng.standard_normal((82, 64)) * np.sqrt(spectrum)
    strongest = np.linalg.norm(members, 2) / (np.sqrt(82) + np.sqrt(64))
    assert _edge_level(spectrum[:, None, None]) == pytest.approx(strongest, rel=0.1)


IMAGE = np.add.outer(np.arange(16.0), np.arange(12.0))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: sedil.measure_noise(IMAGE[:3]), r"shape \(3, 12\) cannot be estimated: give sigma"),
        (
            lambda: sedil.measure_noise(IMAGE, kind="pink"),
            "kind must be one of 'white', 'correlated', 'poisson-gaussian', got 'pink'",
        ),
        (lambda: sedil.measure_noise(IMAGE[0], kind="correlated"), "is known of pictures, got 1 axes"),
        (
            lambda: sedil.denoise(IMAGE, noise="pink"),
            "noise must be one of 'white', 'correlated', 'poisson-gaussian', 'auto', got 'pink'",
        ),
        (lambda: sedil.denoise(IMAGE, 2, noise="correlated"), "sigma is for white noise: leave it out"),
        (
            lambda: sedil.denoise(np.dstack([IMAGE] * 3), channel_axis=-1, noise=sedil.measure_noise(IMAGE)),
            "noise was measured in 1 channels, the image has 3",
        ),
    ],
)
def test_bad_input_is_refused_in_words(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def counts_of(light, photons_a_unit, seed=0):
    return np.random.default_rng(seed).poisson(light * photons_a_unit) / photons_a_unit


def test_photons_are_told_from_white_noise():
    light = data.camera().astype(np.float64)[100:356, 100:356]
    counts = counts_of(light, 0.3)
    found = sedil.measure_noise(counts)
    assert found.kind == "poisson-gaussian"
    assert found.gain[0] == pytest.approx(1 / 0.3, rel=0.15)
    assert found.sigma[0] == pytest.approx(np.sqrt(light.mean() / 0.3), rel=0.3)
    assert np.all(np.diff(found.levels) > 0)
    part = np.s_[64:192, 64:192]
    clean = sedil.denoise(counts[part], noise=found)
    as_white = sedil.denoise(counts[part], noise="white")
    assert np.std(clean - light[part]) < 0.9 * np.std(as_white - light[part])
    assert_array_equal(sedil.denoise(counts), sedil.denoise(counts, noise=found))  # by itself


def test_photons_above_a_black_level_are_found():
    light = data.camera().astype(np.float64)[100:356, 100:356]
    counts = 500 + counts_of(light, 0.3)
    found = sedil.measure_noise(counts)
    assert found.kind == "poisson-gaussian"
    assert found.offset[0] == pytest.approx(500, abs=25)
    clean = sedil.denoise(counts, noise=found)
    assert np.std(clean - 500 - light) < 0.55 * np.std(counts - 500 - light)


@pytest.mark.parametrize("sigma", [0, 2, 5, 10, 25, 50])
def test_texture_is_not_smoothed_by_default(sigma):
    """It may look like noise that was smoothed, which is looked for where it is asked for."""
    clean = data.grass()[:192, :192].astype(np.float64)
    noisy = clean + sigma * noise_like(clean)
    given = sedil.denoise(noisy, sigma) if sigma else noisy
    assert np.std(sedil.denoise(noisy) - clean) < 1.02 * np.std(given - clean) + 2.5


def test_a_picture_in_black_and_white_is_denoised_by_default(rng):
    image = np.where(rng.random((64, 64)) > 0.5, 255, 0)
    assert_array_equal(sedil.denoise(image), sedil.denoise(image, sedil.estimate_noise(image)))


def test_an_empty_channel_does_not_hide_the_others(photo):
    noisy = photo + smooth_noise(photo, 8)
    noisy[..., 1] = 90
    found = sedil.measure_noise(noisy, -1)
    assert found.sigma[1] == 0 < min(found.sigma[0], found.sigma[2])
    assert_allclose(found.brightness[:, 1], 90)


def test_an_image_that_is_all_clipped_is_refused(rng):
    image = np.where(rng.random((64, 64)) > 0.5, 255, 0)
    with pytest.raises(ValueError, match="Most pixels are clipped at the ends of the range: give sigma"):
        sedil.denoise(image, noise="auto")


def test_values_whose_squares_are_beyond_all_numbers(rng):
    image = 100 + 10 * rng.standard_normal((32, 32))
    np.testing.assert_allclose(sedil.denoise(1e200 * image), 1e200 * sedil.denoise(image), rtol=1e-3)


def test_many_channels_take_no_more_memory_than_few(rng):
    channels = rng.standard_normal((30, 200, 200))
    assert len(read_blocks(channels[:3]).coefficients) > 4000 >= len(read_blocks(channels).coefficients)
