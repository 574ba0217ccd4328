"""Estimates of noise that a caller gives are what `measure_noise` may return, of an image like this one."""

import numpy as np
import pytest

import sedil

IMAGE = 2.0 * np.random.default_rng(0).poisson(np.linspace(20, 200, 128) * np.ones((128, 1)))
FOUND = sedil.measure_noise(IMAGE, kind="poisson-gaussian")
COLOURED = sedil.measure_noise(np.stack([IMAGE] * 3), 0)

CHANGES = [
    ({"kind": np.zeros(0)}, "noise.kind must be one of"),
    ({"sigma": {"a": 1}}, "noise.sigma must hold real numbers"),
    ({"sigma": ()}, "noise.sigma must hold a number for each channel"),
    ({"sigma": (np.nan,)}, "noise.sigma must be finite"),
    ({"sigma": (-1.0,)}, "noise.sigma must not be negative"),
    ({"gain": (1.0, 2.0)}, r"noise.gain must be of shape \(1\), got \(2,\)"),
    ({"read_noise": 3.0}, r"noise.read_noise must be of shape \(1\), got \(\)"),
    ({"brightness": np.zeros(3)}, r"noise.brightness must be of shape \(\d+, 1\), got \(3,\)"),
    ({"levels": np.full(len(FOUND.levels), 1e9)}, "noise.levels are multiples of sigma up to 1000"),
    ({"variances": np.zeros((1, 2))}, r"noise.variances must be of shape"),
    ({"uncertainty": "much"}, "noise.uncertainty must be a finite non-negative number"),
    ({"correlation": None}, "noise.correlation must be a finite number"),
]


@pytest.mark.parametrize(("change", "message"), CHANGES)
@pytest.mark.parametrize("use", [lambda noise: sedil.denoise(IMAGE, noise=noise), sedil.plot_noise])
def test_what_is_wrong_in_an_estimate_is_named(use, change, message):
    with pytest.raises((ValueError, TypeError), match=message):
        use(FOUND._replace(**change))


@pytest.mark.parametrize("kind", ["white", "correlated"])
def test_noise_of_other_units_is_refused(kind):
    noise = sedil.measure_noise(1e30 * IMAGE, kind=kind)
    with pytest.raises(ValueError, match=r"sigma .*e\+31 is larger than the values of the image"):
        sedil.denoise(IMAGE, noise=noise)


def test_photons_of_other_units_are_refused():
    noise = FOUND._replace(gain=(1e30,))
    with pytest.raises(ValueError, match=r"gain 1e\+30 is far above the values of the image"):
        sedil.denoise(IMAGE, noise=noise)


def test_noise_of_a_brighter_image_is_taken():
    noise = sedil.measure_noise(IMAGE, kind="correlated")
    noise = noise._replace(brightness=1e300 * noise.brightness, levels=np.linspace(1, 2, len(noise.levels)))
    assert np.isfinite(sedil.denoise(1e-10 * IMAGE, noise=noise._replace(sigma=(1e-10,)))).all()


def test_an_estimate_as_it_was_measured_is_taken():
    part = IMAGE[:12]
    assert np.isfinite(sedil.denoise(part, noise=FOUND)).all()
    assert sedil.denoise(np.stack([part] * 3), noise=COLOURED, channel_axis=0).shape == (3, 12, 128)


def test_estimates_of_very_large_and_of_negative_values_are_taken(rng):
    large = 1e160 * (100 + 10 * rng.standard_normal((32, 32)))
    found = sedil.measure_noise(large)
    assert np.isfinite(found.variances).all()
    assert np.isfinite(sedil.denoise(large, noise=found)).all()
    shifted = sedil.measure_noise(IMAGE)._replace(offset=(-50.0,))
    assert np.isfinite(sedil.denoise(IMAGE, noise=shifted)).all()
