"""Noise of photon counts."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from skimage import data

import sedil
from sedil.imaging.photon_noise import PhotonNoise, found_photons, plan_photon_noise
from sedil.imaging.pixels import Units


@pytest.mark.parametrize("read_noise", [0.0, 2.0, 10.0])
@pytest.mark.parametrize("photons", [0.0, 0.3, 1.0, 4.0, 30.0, 249.0, 251.0, 3000.0])
def test_the_way_back_is_unbiased(photons, read_noise):
    rng = np.random.default_rng(0)
    noise = PhotonNoise(2.0, read_noise, 50.0)
    seen = 50 + 2 * rng.poisson(photons, 200_000) + read_noise * rng.standard_normal(200_000)
    roots = noise.even(seen)
    error = 5 * 2 * np.sqrt(photons + (read_noise / 2) ** 2 + 0.01) / np.sqrt(len(seen))
    assert_allclose(noise.restored(roots.mean(keepdims=True)), 50 + 2 * photons, atol=error + 2e-3)
    if photons >= 4:
        assert roots.std() == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("peak", [1, 10])
def test_photons_are_denoised_better_than_as_white_noise(peak):
    light = data.camera()[100:196, 180:276] / 255 * peak
    counts = np.random.default_rng(0).poisson(light).astype(np.float32)
    clean = sedil.denoise(counts, noise="poisson-gaussian", gain=1)
    as_white = sedil.denoise(counts, float(np.sqrt(light.mean())))
    assert np.std(clean - light) < 0.95 * np.std(as_white - light)
    assert abs(clean.mean() / light.mean() - 1) < 0.05


@pytest.mark.parametrize("shape", [(4000,), (64, 64), (20, 20, 20), (64, 64, 3)])
@pytest.mark.parametrize(("photons", "read_noise"), [(0.5, 0.0), (1.5, 0.0), (0.0, 0.3), (40.0, 0.0)])
def test_noise_of_roots_is_known_where_photons_are_few(photons, read_noise, shape):
    rng = np.random.default_rng(0)
    noise = PhotonNoise(2.0, 2.0 * read_noise, 50.0)
    seen = 50 + 2 * (rng.poisson(photons, shape) + read_noise * rng.standard_normal(shape))
    levels = noise.levels(seen, -1 if shape[-1] == 3 else None)
    assert levels.level == pytest.approx(noise.even(seen).std(), rel=0.08)
    assert (levels.places is None) == (photons == 40)


def test_few_photons_are_denoised_better_with_the_noise_of_their_roots():
    light = data.camera()[100:228, 180:308] / 255 * 2
    counts = np.random.default_rng(0).poisson(light).astype(np.float32)
    noise = PhotonNoise(1.0)
    plain = noise.restored(sedil.denoise(noise.even(counts), 1.0))
    clean = sedil.denoise(counts, noise="poisson-gaussian", gain=1)
    assert np.std(clean - light) < 0.97 * np.std(plain - light)


def test_gain_read_noise_and_offset_are_found():
    rng = np.random.default_rng(0)
    light = data.camera().astype(np.float64)
    seen = 100 + 3 * rng.poisson(light / 3) + 6 * rng.standard_normal(light.shape)
    units = Units.of(seen)
    found = plan_photon_noise(units.pixels(seen, "float64"), units, None, None, None, 100.0)
    assert_allclose(found, (3, 6, 100), rtol=0.15)
    part = seen[:64, 100:164]
    clean = sedil.denoise(part, noise="poisson-gaussian", gain=3, read_noise=6, offset=100) - 100
    assert np.std(clean - light[:64, 100:164]) < 0.5 * np.std(part - 100 - light[:64, 100:164])


def test_units_of_counts_do_not_matter():
    light = data.camera()[100:164, 180:244] / 25.0
    counts = np.random.default_rng(0).poisson(light).astype(np.float64)
    plain = sedil.denoise(counts, noise="poisson-gaussian", gain=1)
    for scale, offset in ((1e-20, 0.0), (1.0, 1e6)):
        other = sedil.denoise(counts * scale + offset, noise="poisson-gaussian", gain=scale, offset=offset)
        assert_allclose((other - offset) / scale, plain, atol=0.02)


def test_counts_of_whole_numbers_stay_whole():
    counts = np.random.default_rng(0).poisson(5, (32, 32)).astype(np.uint16)
    clean = sedil.denoise(counts, noise="poisson-gaussian", gain=1)
    assert clean.dtype == np.uint16
    assert set(np.unique(clean)) <= {4, 5, 6}


IMAGE = np.add.outer(np.arange(16.0), np.arange(12.0))


def of_photons(**how):
    return sedil.denoise(IMAGE, noise="poisson-gaussian", **how)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: of_photons(gain=0), "gain must be a finite positive number, got 0"),
        (lambda: of_photons(gain=-2), "gain must be a finite positive number, got -2"),
        (lambda: of_photons(gain=np.nan), "gain must be a finite positive number, got nan"),
        (
            lambda: of_photons(gain=1, read_noise=-1),
            "read_noise must be a finite non-negative number, got -1",
        ),
        (lambda: of_photons(gain=1, offset=np.inf), "offset must be a finite number, got inf"),
        (lambda: of_photons(sigma=1), "sigma is for white noise: leave it out, or noise"),
        (lambda: sedil.denoise(IMAGE, 1, gain=1), 'are for noise="poisson-gaussian": add it'),
        (
            lambda: sedil.denoise(
                100 + np.random.default_rng(0).standard_normal((64, 64)), noise="poisson-gaussian"
            ),
            "does not grow with brightness. Give gain",
        ),
    ],
)
def test_bad_input_is_refused_in_words(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_pixels_far_below_the_offset_are_refused(rng):
    with pytest.raises(ValueError, match="Many pixels lie below the offset"):
        sedil.denoise(-50 + rng.poisson(20.0, (32, 32)), noise="poisson-gaussian", gain=1.0)


def test_an_even_image_of_photons_stays_as_it_is():
    image = np.full((16, 16), 7.0)
    np.testing.assert_array_equal(sedil.denoise(image, noise="poisson-gaussian"), image)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"gain": 1e300}, r"gain 1e\+300 is far above the values of the image"),
        ({"gain": 5e-324}, "gain 4.94066e-324 is far below the values of the image"),
        ({"gain": 1.0, "read_noise": 1e200}, r"read_noise 1e\+200 is far above the values"),
        ({"offset": 1e308}, r"offset 1e\+308 is far from the values of the image"),
        ({"gain": 1.0, "offset": -1e30}, r"offset -1e\+30 is far from the values of the image"),
    ],
)
def test_what_is_far_from_the_values_of_the_image_is_refused(given, words):
    with pytest.raises(ValueError, match=words):
        sedil.denoise(IMAGE, noise="poisson-gaussian", **given)


def test_a_channel_without_noise_tells_nothing_of_photons(rng):
    light = np.tile(np.linspace(20, 200, 96), (96, 1))[..., None] * (1.0, 0.8)
    counts = 2.0 * rng.poisson(light)
    three = np.concatenate([counts, np.zeros((96, 96, 1))], axis=-1)
    gains = [
        found_photons(sedil.measure_noise(image, channel_axis=-1, kind="poisson-gaussian"), Units()).gain
        for image in (counts, three)
    ]
    assert gains[1] == pytest.approx(gains[0], rel=0.05)
