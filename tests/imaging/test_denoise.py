import numpy as np
import pytest
from numpy.testing import assert_array_equal
from skimage import data
from skimage.metrics import peak_signal_noise_ratio
from skimage.restoration import calibrate_denoiser

import sedil
from sedil.engines.contract import Effort
from sedil.imaging import image_dictionaries
from sedil.imaging.denoise import METHODS
from sedil.imaging.image_dictionaries import Vote, default_votes, image_coding, plan_cleaning
from sedil.imaging.patch_averages import CleaningOptions, PatchCounter, mean_over_patches, sums_over_patches
from sedil.imaging.patch_denoising import _with_grain
from sedil.pretrained import FOR_VOLUMES, NAMES
from sedil.progress import Progress
from sedil_studies.pretrained.recipes import IMAGES, RECIPES

SIGMA = 20.0
SMALL = sedil.odct((4, 4), 6)


@pytest.fixture(scope="module")
def clean():
    return data.camera()[100:164, 200:280].astype(np.float32)


@pytest.fixture(scope="module")
def noisy(clean):
    return clean + SIGMA * np.random.default_rng(0).standard_normal(clean.shape).astype(np.float32)


def psnr(image, clean):
    return peak_signal_noise_ratio(clean, image.astype(np.float32), data_range=255)


def assert_equal_but_for_rounding(image, other):
    """Rounding decides the few patches that are right at the threshold, and nothing else."""
    difference = np.abs(image - other)
    assert np.mean(difference > 0.01) < 0.02
    assert np.mean(difference) < 0.1


def assert_equal_but_for_single_patches(image, other, sigma):
    """Two engines round differently, which decides the few patches right at the threshold."""
    difference = np.abs(image - other) / sigma
    assert np.median(difference) < 1e-3
    assert np.mean(difference) < 3e-3


@pytest.mark.parametrize("method", METHODS)
def test_noise_falls(noisy, clean, method):
    before = noisy.copy()
    result = sedil.denoise(noisy, SIGMA, sedil.odct((8, 8), 16), method=method)
    assert psnr(result, clean) > psnr(noisy, clean) + 4
    assert result.dtype == noisy.dtype
    assert_array_equal(noisy, before)


@pytest.mark.parametrize("name", NAMES)
def test_shipped_dictionaries_denoise(noisy, clean, name):
    result = sedil.denoise(noisy, SIGMA, sedil.shipped_dictionary(name), stride=2)
    assert psnr(result, clean) > psnr(noisy, clean) + 5


def test_quick_is_better_than_plain_l1_and_groups_than_quick(noisy, clean):
    groups, quick, l1 = (
        psnr(sedil.denoise(noisy, SIGMA, method=method), clean) for method in ("groups", "quick", "l1")
    )
    assert quick > l1 + 0.3
    assert groups > quick + 0.2


def test_units_do_not_matter(noisy):
    expected = sedil.denoise(noisy, SIGMA, SMALL)
    scaled = sedil.denoise(noisy / 255, SIGMA / 255, SMALL)
    assert_equal_but_for_rounding(255 * scaled, expected)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int32, np.float16, np.float32, np.float64])
def test_type_in_is_type_out(noisy, dtype):
    image = np.clip(noisy, 0, 255).astype(dtype)
    result = sedil.denoise(image, SIGMA, SMALL)
    assert result.dtype == dtype
    assert result.shape == image.shape


def test_integers_stay_in_range():
    image = np.random.default_rng(0).choice(np.array([0, 255], np.uint8), (24, 24))
    result = sedil.denoise(image, 5, SMALL)
    assert result.min() >= 0
    assert result.max() <= 255
    assert abs(result.astype(int) - image).max() < 60


def test_memory_and_threads_change_nothing(noisy):
    expected = sedil.denoise(noisy, SIGMA, SMALL)
    other = sedil.denoise(noisy, SIGMA, SMALL, max_memory=1e5, threads=3)
    assert_equal_but_for_rounding(other, expected)


def test_progress_ends_at_all_patches(noisy):
    told = []
    sedil.denoise(noisy, SIGMA, SMALL, progress=told.append)
    assert told[-1] == Progress((64 - 3) * (80 - 3), (64 - 3) * (80 - 3), "patches")
    assert [progress.done for progress in told] == sorted(progress.done for progress in told)


@pytest.mark.parametrize(
    "restore", [sedil.denoise, lambda image, **how: sedil.inpaint(image, image > 200, **how)]
)
def test_progress_of_another_kind_is_refused(noisy, restore):
    with pytest.raises(TypeError, match=r"progress must be True, False or a function .*, got a str"):
        restore(noisy, dictionary=SMALL, progress="yes")


def test_colour_is_denoised_as_luminance_and_chrominance():
    clean = data.astronaut()[:64, 150:230].astype(np.float32)
    noisy = clean + SIGMA * np.random.default_rng(1).standard_normal(clean.shape).astype(np.float32)
    together = sedil.denoise(noisy, SIGMA, SMALL, channel_axis=-1)
    apart = np.stack([sedil.denoise(noisy[..., k], SIGMA, SMALL) for k in range(3)], axis=-1)
    assert psnr(together, clean) > psnr(apart, clean) + 0.5
    first = sedil.denoise(np.moveaxis(noisy, -1, 0), SIGMA, SMALL, channel_axis=0)
    assert_equal_but_for_rounding(np.moveaxis(first, 0, -1), together)


def test_two_channels_are_denoised_each_on_its_own(noisy):
    both = sedil.denoise(np.stack([noisy, noisy[::-1]]), SIGMA, SMALL, channel_axis=0)
    assert_equal_but_for_rounding(both[0], sedil.denoise(noisy, SIGMA, SMALL))


@pytest.mark.parametrize("n_axes", [1, 3])
def test_signals_and_volumes(n_axes, rng):
    clean = np.full((40, 12, 12)[:n_axes], 100, np.float32)
    clean[20:] = 180
    noisy = clean + 5 * rng.standard_normal(clean.shape).astype(np.float32)
    result = sedil.denoise(noisy, 5, sedil.odct((4,) * n_axes, 6))
    assert np.mean((result - clean) ** 2) < 0.6 * np.mean((noisy - clean) ** 2)


def test_noise_is_estimated_when_not_given(noisy, clean):
    assert sedil.estimate_noise(noisy) == pytest.approx(SIGMA, rel=0.15)
    found = sedil.measure_noise(noisy, kind="white")
    assert found.sigma[0] == pytest.approx(SIGMA, rel=0.15)
    assert_array_equal(sedil.denoise(noisy, dictionary=SMALL), sedil.denoise(noisy, found.sigma, SMALL))


def test_noise_of_a_volume_is_estimated_by_its_finest_detail(rng):
    volume = rng.standard_normal((16, 16, 16))
    expected = sedil.denoise(volume, sedil.estimate_noise(volume))
    assert_array_equal(sedil.denoise(volume), expected)


@pytest.mark.parametrize(("sigma", "shape"), [(3, (64, 64)), (20, (5000,)), (0.1, (20, 20, 20))])
def test_noise_alone_is_measured(sigma, shape, rng):
    ramp = np.indices(shape).sum(axis=0)
    assert sedil.estimate_noise(ramp + sigma * rng.standard_normal(shape)) == pytest.approx(sigma, rel=0.1)


def test_noise_of_an_image_with_nan_cannot_be_estimated():
    with pytest.raises(ValueError, match="image must be finite, got 1 NaN"):
        sedil.estimate_noise(np.where(np.arange(64).reshape(8, 8) == 9, np.nan, 1.0))


def test_colour_without_its_axis_is_not_taken_for_a_volume():
    photo = data.astronaut()[:40, :40]
    for restore in (sedil.denoise, lambda image: sedil.inpaint(image, image > 200)):
        with pytest.raises(ValueError, match="looks like colour: give channel_axis=-1"):
            restore(photo)


def test_noise_of_a_tiny_image_cannot_be_estimated():
    with pytest.raises(ValueError, match=r"shape \(3, 9\) cannot be estimated: give sigma"):
        sedil.estimate_noise(np.ones((3, 9)))


def test_flat_image_without_noise_is_returned():
    image = np.full((16, 16), 7, np.uint8)
    result = sedil.denoise(image)
    assert_array_equal(result, image)
    assert result is not image


def test_works_with_scikit_image_calibration(noisy, clean):
    best = calibrate_denoiser(
        noisy, sedil.denoise, {"sigma": [5.0, 20.0], "dictionary": [SMALL]}, approximate_loss=True
    )
    assert psnr(best(noisy), clean) > psnr(noisy, clean) + 2


def test_flat_regions_do_not_hide_the_noise_elsewhere(rng):
    image = np.full((100, 100), 255.3)
    image[:40] = 128 + 10 * rng.standard_normal((40, 100))
    assert sedil.estimate_noise(image) == pytest.approx(10, rel=0.15)


def test_a_dictionary_may_bring_its_own_threshold():
    learned = sedil.shipped_dictionary("separable-8x8")
    waves = sedil.odct((8, 8), 16)
    assert image_coding(waves, "refit", SIGMA).penalty == 3.05 * SIGMA
    assert image_coding(learned, "refit", SIGMA).penalty == 3.2 * SIGMA
    assert image_coding(waves, "l1", SIGMA) == image_coding(learned, "l1", SIGMA)
    assert image_coding(waves, "refit", SIGMA, threshold=4).penalty == 4 * SIGMA


@pytest.mark.parametrize(
    ("side", "patches"), [(64, [8, 12, 16, 16]), (16, [8, 12, 16, 16]), (14, [8, 12]), (9, [8]), (4, [8])]
)
def test_default_dictionaries_fit_into_the_image(side, patches):
    votes = default_votes((side, 100))
    assert [vote.dictionary.patch_shape for vote in votes] == [(patch, patch) for patch in patches]


def test_quick_is_a_mean_of_its_dictionaries_and_better_than_each(noisy, clean):
    parts = [
        sedil.denoise(noisy, SIGMA, each.dictionary, stride=each.strides)
        for each in default_votes(noisy.shape)
    ]
    mean = sedil.denoise(noisy, SIGMA, method="quick")
    assert np.all(mean >= np.min(parts, axis=0) - 1e-3)
    assert np.all(mean <= np.max(parts, axis=0) + 1e-3)
    assert psnr(mean, clean) > max(psnr(part, clean) for part in parts)


def test_patches_further_apart_count_for_those_between(noisy):
    cleanings = [plan_cleaning(Vote(SMALL, strides), noisy, "refit", SIGMA, None, 1) for strides in (1, 2)]
    options = CleaningOptions(None, 1e9, 1, PatchCounter(lambda progress: None, 0))
    near, far = (sums_over_patches(noisy, cleaning, options) for cleaning in cleanings)
    expected = (near[0] + 4 * far[0]) / (near[1] + 4 * far[1])
    np.testing.assert_allclose(mean_over_patches(noisy, cleanings, options), expected, rtol=1e-5)


def test_every_pixel_is_covered_at_any_stride(noisy, clean):
    for method, stride in (("quick", 5), ("quick", 8), ("groups", 5), ("groups", 6)):
        assert psnr(sedil.denoise(noisy, SIGMA, method=method, stride=stride), clean) > psnr(noisy, clean) + 2


def test_weak_noise_leaves_some_grain_and_strong_noise_none(clean):
    estimate, noisy = np.zeros_like(clean), clean - clean.mean()
    contrast = float(np.std(noisy))
    grain = [
        float(np.std(_with_grain(estimate, noisy, contrast**2, sigma * contrast))) / contrast
        for sigma in (0.1, 0.5)
    ]
    assert 0.05 < grain[0] < 0.07
    assert grain[1] < 0.003


@pytest.fixture
def solved(monkeypatch):
    """Solve each l1 problem until the solver no longer matters: the engines use different ones."""
    for name in ("SUPPORT_EFFORT", "_L1_EFFORT"):
        monkeypatch.setattr(image_dictionaries, name, Effort(2e-6, max_iterations=3000, max_looks=3000))


@pytest.mark.usefixtures("solved")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dictionary", [None, sedil.odct((5, 3), (7, 4)), sedil.odct((8, 8), (8, 8))])
@pytest.mark.parametrize("stride", [1, 3])
def test_engines_agree(noisy, method, dictionary, stride):
    settings = {"sigma": SIGMA, "dictionary": dictionary, "method": method, "stride": stride}
    fused = sedil.denoise(noisy[:37, :41], engine="fused", **settings)
    portable = sedil.denoise(noisy[:37, :41], engine="portable", **settings)
    assert_equal_but_for_single_patches(fused, portable, SIGMA)


@pytest.mark.usefixtures("solved")
@pytest.mark.parametrize(
    "dictionary", [sedil.odct(8, 16), sedil.odct((3, 4, 5), 6), sedil.odct((3, 3, 3, 3), 4)]
)
def test_engines_agree_in_any_dimension(dictionary):
    image = np.random.default_rng(0).standard_normal([length + 4 for length in dictionary.patch_shape])
    fused, portable = (sedil.denoise(image, 0.5, dictionary, engine=name) for name in ("fused", "portable"))
    assert_equal_but_for_single_patches(fused, portable, 0.5)


@pytest.mark.parametrize("engine", ["fused", "portable"])
@pytest.mark.parametrize("n_axes", [2, 3])
def test_memory_layout_does_not_matter(engine, n_axes, rng):
    image = rng.standard_normal((20, 10, 12)[:n_axes]).astype(np.float32)
    how = {"sigma": 0.5, "dictionary": sedil.odct((3,) * n_axes, 4), "engine": engine}
    expected = sedil.denoise(image, **how)
    for other in (np.asfortranarray(image), np.repeat(image, 2, axis=-1)[..., ::2], image[::-1].copy()[::-1]):
        assert_array_equal(sedil.denoise(other, **how), expected)


def test_threads_change_nothing(noisy):
    one, two = (sedil.denoise(noisy, SIGMA, threads=threads) for threads in (1, 2))
    assert_array_equal(one, two)


IMAGE = np.zeros((16, 16)) + np.arange(16)


@pytest.mark.parametrize(
    ("image", "settings", "error", "message"),
    [
        (np.zeros((0, 5)), {}, ValueError, r"image is empty: its shape is \(0, 5\)"),
        (np.zeros((1, 1)), {"sigma": 1, "method": "quick"}, ValueError, "is smaller than a patch of shape"),
        (
            IMAGE[:, :5],
            {"sigma": 1, "method": "quick"},
            ValueError,
            r"\(16, 5\) is smaller than a patch of shape \(8, 8\)",
        ),
        (np.where(IMAGE == 3, np.nan, IMAGE), {"sigma": 1}, ValueError, "image must be finite, got 16 NaN"),
        (IMAGE, {"sigma": 0}, ValueError, "sigma must be a finite positive number, got 0"),
        (IMAGE, {"sigma": -2}, ValueError, "sigma must be a finite positive number, got -2"),
        (IMAGE, {"sigma": 20}, ValueError, r"sigma 20 is larger than the values of the image \(up to 15\)"),
        (IMAGE[0], {"sigma": 1, "method": "quick"}, ValueError, "no default dictionary for 1 axes: give one"),
        (np.zeros((2,) * 5), {"sigma": 1}, ValueError, "image must have 1 to 4 axes besides colour"),
        (IMAGE, {"sigma": 1, "dictionary": sedil.odct((2, 2, 2), 3)}, ValueError, "is for patches of 3 axes"),
        (IMAGE, {"sigma": 1, "channel_axis": 2}, ValueError, "channel_axis 2 does not exist in an image"),
        (IMAGE, {"sigma": 1, "channel_axis": 0.5}, TypeError, "channel_axis must be a whole number or None"),
        (IMAGE, {"sigma": 1, "method": "best"}, ValueError, "method must be one of 'groups', 'quick', 'l1'"),
        (IMAGE, {"sigma": 1, "stride": 0}, ValueError, "stride must be a whole number of at least 1, got 0"),
        (
            IMAGE,
            {"sigma": 1, "stride": 7},
            ValueError,
            r"stride 7 leaves gaps between patches of shape \(6, 6\)",
        ),
        (IMAGE, {"sigma": 1, "stride": 13, "method": "quick"}, ValueError, "stride 13 leaves gaps"),
        (
            IMAGE,
            {"sigma": 1, "method": "groups", "threshold": 2},
            ValueError,
            "give a larger or smaller sigma",
        ),
        (IMAGE, {"sigma": 1, "time_axis": 0}, ValueError, "time_axis is for clips of three axes"),
        (IMAGE, {"sigma": 1, "time_axis": 2}, ValueError, "time_axis 2 does not exist in an image"),
        (IMAGE, {"sigma": 1, "threads": 0}, ValueError, "threads must be a whole number of at least 1"),
        (IMAGE, {"sigma": 1, "threshold": -1}, ValueError, "threshold must be a finite positive number"),
        (IMAGE.astype(complex), {}, TypeError, "image must hold real numbers, got dtype complex128"),
        ([[1, 2], [3, 4]], {}, TypeError, "image must be a NumPy array or a tensor, got a list"),
    ],
)
def test_mistakes_are_named(image, settings, error, message):
    with pytest.raises(error, match=message):
        sedil.denoise(image, **settings)


# Shipped dictionaries


def test_every_shipped_dictionary_has_a_recipe_and_its_provenance():
    assert {*NAMES, *FOR_VOLUMES} == set(RECIPES)
    for name in RECIPES:
        dictionary = sedil.shipped_dictionary(name)
        assert dictionary.info["command"].endswith(f" {name}")
        assert dictionary.info["images"] == [f"skimage.data.{image}" for image in IMAGES]
        n_atoms, axes = RECIPES[name].n_atoms, RECIPES[name].axes
        assert dictionary.n_atoms == (n_atoms if axes is None else tuple(n_atoms[axis] for axis in axes))


def test_unknown_shipped_dictionary_lists_the_known_ones():
    with pytest.raises(ValueError, match="name must be one of 'separable-8x8'"):
        sedil.shipped_dictionary("best")
