from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from skimage import data
from skimage.restoration import inpaint_biharmonic

import sedil
from sedil.imaging.patch_inpainting import plan_passes
from sedil.imaging.smooth_filling import fill_smoothly

SMALL = sedil.odct((4, 4), 6)


@pytest.fixture(scope="module")
def clean():
    return data.camera()[100:164, 200:280].astype(np.float32)


def random_mask(shape, share=0.5, seed=0):
    return np.random.default_rng(seed).random(shape) < share


def error(filled, clean, mask):
    return np.mean((np.asarray(filled, float) - clean)[mask] ** 2)


@pytest.mark.parametrize("share", [0.25, 0.5, 0.8])
def test_default_is_better_than_biharmonic(clean, share):
    mask = random_mask(clean.shape, share)
    filled = sedil.inpaint(np.where(mask, 0, clean), mask)
    smooth = inpaint_biharmonic(np.where(mask, 0, clean), mask)
    assert error(filled, clean, mask) < error(smooth, clean, mask)


@pytest.mark.parametrize("passes", [1, 2, 4])
def test_few_passes_are_no_worse_than_the_smooth_start(clean, passes):
    mask = random_mask(clean.shape)
    holed = np.where(mask, 0, clean)
    filled = sedil.inpaint(holed, mask, method="quick", passes=passes)
    assert error(filled, clean, mask) < error(fill_smoothly(holed, mask), clean, mask)


@pytest.mark.parametrize("shape", [(8, 8), (8, 8, 8)])
def test_an_image_as_large_as_a_shipped_patch_is_filled_like_others(shape, rng):
    image, mask = rng.random(shape), random_mask(shape)
    assert_array_equal(
        sedil.inpaint(image, mask, passes=3), sedil.inpaint(image, mask, method="groups", passes=3)
    )


def test_known_pixels_come_back_to_the_bit(clean):
    mask = random_mask(clean.shape)
    image = np.pi * clean.astype(np.float64)
    before = image.copy()
    filled = sedil.inpaint(image, mask, SMALL)
    assert_array_equal(filled[~mask], image[~mask])
    assert_array_equal(image, before)
    assert filled.dtype == np.float64
    assert not np.array_equal(filled, image)


def test_what_lies_at_missing_pixels_does_not_matter(clean):
    mask = random_mask(clean.shape)
    filled = sedil.inpaint(np.where(mask, np.nan, clean), mask, SMALL)
    assert np.isfinite(filled).all()
    assert_array_equal(filled, sedil.inpaint(np.where(mask, 1e6, clean), mask, SMALL))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int32, np.float16, np.float32, np.float64])
def test_type_in_is_type_out(clean, dtype):
    mask = random_mask(clean.shape)
    filled = sedil.inpaint(clean.astype(dtype), mask, SMALL)
    assert filled.dtype == dtype
    assert error(filled, clean, mask) < 300


def test_black_and_white_is_filled():
    image = np.zeros((24, 24), bool)
    image[:, 12:] = True
    mask = random_mask(image.shape, 0.3)
    filled = sedil.inpaint(image ^ mask, mask, SMALL)
    assert filled.dtype == bool
    assert np.mean(filled != image) < 0.03


def test_units_do_not_matter(clean):
    mask = random_mask(clean.shape)
    expected = sedil.inpaint(clean, mask, SMALL)
    scaled = sedil.inpaint(clean / 255, mask, SMALL)
    assert np.mean(np.abs(255 * scaled - expected)) < 0.1


def test_engines_agree(clean):
    mask = random_mask(clean.shape)
    fused, portable = (sedil.inpaint(clean, mask, SMALL, engine=name) for name in ("fused", "portable"))
    assert np.mean(np.abs(fused - portable)) < 0.3


@pytest.mark.parametrize("engine", ["fused", "portable"])
def test_memory_layout_does_not_matter(clean, engine):
    image, mask = clean[:30, :34], random_mask((30, 34))
    expected = sedil.inpaint(image, mask, SMALL, engine=engine)
    other = sedil.inpaint(np.asfortranarray(image), np.asfortranarray(mask), SMALL, engine=engine)
    assert_array_equal(other, expected)


def test_number_of_threads_does_not_change_the_result(clean):
    mask = random_mask(clean.shape)
    one, two = (sedil.inpaint(clean, mask, threads=count) for count in (1, 2))
    assert_array_equal(one, two)


def test_colours_with_one_mask_are_filled():
    image = data.astronaut()[100:148, 100:150]
    mask = random_mask(image.shape[:2])
    filled = sedil.inpaint(image, mask, SMALL, channel_axis=-1)
    assert_array_equal(filled[~mask], image[~mask])
    assert error(filled, image, mask) < 200
    first = sedil.inpaint(np.moveaxis(image, -1, 0), mask, SMALL, channel_axis=0)
    assert_array_equal(np.moveaxis(first, 0, -1), filled)
    repeated = np.repeat(mask[..., None], 3, axis=-1)
    assert_array_equal(sedil.inpaint(image, repeated, SMALL, channel_axis=-1), filled)


def test_colours_with_a_mask_each_are_filled():
    image = data.astronaut()[100:148, 100:150]
    mask = random_mask(image.shape)
    mask[..., 1] = False
    filled = sedil.inpaint(image, mask, SMALL, channel_axis=-1)
    assert_array_equal(filled[~mask], image[~mask])
    assert error(filled, image, mask) < 200
    red = sedil.inpaint(np.ascontiguousarray(image[..., 0]), mask[..., 0], SMALL)
    assert_array_equal(filled[..., 0], red)


@pytest.mark.parametrize(
    ("shape", "patch_shape"), [((90,), (8,)), ((16, 18, 20), (4, 4, 4)), ((7, 8, 9, 10), (3, 3, 3, 3))]
)
def test_signals_and_volumes_are_filled(shape, patch_shape):
    waves = [np.sin(np.arange(side) / 4 + axis) for axis, side in enumerate(shape)]
    image = waves[0]
    for wave in waves[1:]:
        image = np.add.outer(image, wave)
    mask = random_mask(shape, 0.4)
    filled = sedil.inpaint(np.where(mask, 0, image), mask, sedil.odct(patch_shape, 2 * patch_shape[0]))
    assert error(filled, image, mask) < 0.02 * image.var()


def test_wide_hole_is_filled_from_the_outside_in():
    """No patch inside sees a known pixel, and still all is finite and between its surroundings."""
    image = np.add.outer(np.arange(64.0), np.zeros(64))
    mask = np.zeros(image.shape, bool)
    mask[12:52, 12:52] = True
    filled = sedil.inpaint(np.where(mask, 0, image), mask, SMALL)
    assert np.abs(filled - image).max() < 10
    assert np.corrcoef(filled[mask], image[mask])[0, 1] > 0.98


def test_flat_image_stays_flat():
    mask = random_mask((20, 20))
    assert_allclose(sedil.inpaint(np.where(mask, 0.0, 7.0), mask, SMALL), 7)


def test_nothing_missing_returns_a_copy(clean):
    filled = sedil.inpaint(clean, np.zeros(clean.shape, bool))
    assert_array_equal(filled, clean)
    assert filled is not clean


def test_noise_of_the_known_pixels_is_not_carried_on(clean):
    noisy = clean + 20 * np.random.default_rng(1).standard_normal(clean.shape).astype(np.float32)
    mask = random_mask(clean.shape)
    plain, smooth = (sedil.inpaint(noisy, mask, SMALL, sigma=sigma) for sigma in (0, 20))
    assert error(smooth, clean, mask) < 0.9 * error(plain, clean, mask)
    assert_array_equal(smooth[~mask], noisy[~mask])


def test_image_as_large_as_a_patch_is_coded_whole():
    image = np.add.outer(np.arange(16.0), np.arange(16.0))
    mask = np.zeros(image.shape, bool)
    mask[5:9, 6:11] = True
    dictionary = sedil.odct((16, 16), 24)
    whole = sedil.inpaint(image, mask, dictionary)
    assert_array_equal(whole, sedil.inpaint(image, mask, dictionary, method="whole"))
    assert not np.array_equal(whole, sedil.inpaint(image, mask, dictionary, method="quick"))
    assert_array_equal(whole[~mask], image[~mask])
    assert np.abs(whole - image).max() < 3
    colours = np.stack([image, 2 * image], axis=-1)
    assert_allclose(
        sedil.inpaint(colours, mask, dictionary, channel_axis=-1)[..., 0], whole, rtol=1e-3, atol=1e-3
    )


def test_progress_counts_all_patches(clean):
    calls = []
    mask = random_mask(clean.shape)
    sedil.inpaint(clean, mask, SMALL, progress=calls.append)
    done = [progress.done for progress in calls]
    assert done == sorted(done)
    assert {progress.total for progress in calls} == {done[-1]}
    assert {progress.unit for progress in calls} == {"patches"}


def test_patches_without_missing_pixels_do_not_matter(clean):
    """What is far from a hole neither changes nor slows down what is filled."""
    mask = np.zeros(clean.shape, bool)
    mask[30:33, 40:60] = True
    filled = sedil.inpaint(clean, mask, SMALL, passes=1)
    other = clean.copy()
    other[60:] += 0.01  # the contrast hardly changes
    again = sedil.inpaint(other, mask, SMALL, passes=1)
    assert np.abs(filled - again)[mask].max() < 0.5


def test_passes_follow_the_mask():
    few, many = (len(plan_passes(random_mask((64, 64), share), [SMALL])) for share in (0.3, 0.8))
    assert (few, many) == (18, 40)
    hole = np.zeros((64, 64), bool)
    hole[20:40, 20:40] = True
    assert len(plan_passes(hole, [SMALL])) == 40
    passes = plan_passes(hole, [SMALL, sedil.odct((6, 6), 8)], n_passes=3, stride=3)
    assert [step.dictionary.patch_shape for step in passes] == [(4, 4), (6, 6), (4, 4)]
    assert passes[0].level > passes[1].level > passes[2].level
    assert not np.array_equal(passes[0].grid.corners[0], passes[2].grid.corners[0])


def test_patches_lie_more_densely_in_the_last_passes():
    passes = plan_passes(random_mask((64, 64), 0.3), [sedil.odct((8, 8), 12)])
    assert [int(np.median(np.diff(step.grid.corners[0]))) for step in passes] == [6] * 15 + [4] * 3


def plain_passes(image, missing, passes, stress):
    """The passes written out: clean the patches that miss pixels, average, stress what is known."""
    shown = fill_smoothly(image, missing)
    contrast = image[~missing].std()
    for step in passes:
        blocks = [
            tuple(slice(corner, corner + 4) for corner in corners)
            for corners in product(*step.grid.corners)
            if missing[tuple(slice(corner, corner + 4) for corner in corners)].any()
        ]
        patches = np.stack([shown[block] for block in blocks])
        means = patches.mean(axis=(1, 2), keepdims=True)
        penalty = SMALL.threshold * step.level * contrast
        how = {"method": "refit", "tolerance": 1e-3, "max_iterations": 100, "dtype": "float64"}
        codes = sedil.sparse_code(SMALL, patches - means, penalty, **how)
        total, weight = np.zeros_like(image), np.zeros_like(image)
        for block, code, patch in zip(blocks, codes, SMALL.synthesize(codes) + means, strict=True):
            total[block] += patch / (1 + np.count_nonzero(code))
            weight[block] += 1 / (1 + np.count_nonzero(code))
        estimate = np.where(weight > 0, total / np.maximum(weight, 1e-9), image)
        filled = np.where(missing, estimate, image)
        shown = estimate + stress * (filled - estimate)
    return filled


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_known_pixels_are_stressed_by_a_half(clean):
    image = clean[:24, :24].astype(np.float64)
    mask = random_mask(image.shape)
    filled = sedil.inpaint(image, mask, SMALL, passes=4, engine="portable", dtype="float64")
    passes = plan_passes(mask, [SMALL], n_passes=4)
    differences = {
        stress: np.abs(plain_passes(image, mask, passes, stress) - filled).mean()
        for stress in (1.4, 1.5, 1.6)
    }
    assert differences[1.5] < 0.02
    assert min(differences[1.4], differences[1.6]) > 0.1


IMAGE = np.zeros((20, 24))
MASK = np.eye(20, 24, dtype=bool)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1.0]], MASK), "image must be a NumPy array or a tensor, got a list"),
        ((IMAGE, [[True]]), r"mask must have the shape of the data, \(20, 24\), got \(1, 1\)"),
        ((IMAGE, MASK.astype(np.uint8)), "mask must be boolean, .* got dtype uint8: use mask != 0"),
        ((IMAGE, MASK.T), r"mask must have the shape of the data, \(20, 24\), got \(24, 20\)"),
        ((IMAGE, np.ones_like(MASK)), "Every pixel is missing: there is nothing to fill it from"),
        ((np.full((20, 24), np.nan), MASK), "image, where it is not missing, must be finite, got 460 NaN"),
        ((IMAGE[:3], MASK[:3], SMALL), r"image of shape \(3, 24\) is smaller than a patch of shape \(4, 4\)"),
        ((IMAGE, MASK, sedil.odct((4, 4, 4), 6)), "for patches of 3 axes .* the image has 2"),
    ],
)
def test_mistakes_are_told_in_one_sentence(arguments, message):
    with pytest.raises((TypeError, ValueError), match=message):
        sedil.inpaint(*arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "all"}, "method must be one of 'groups', 'quick', 'whole', got 'all'"),
        ({"method": "whole"}, r"needs a dictionary for patches of the shape of the image, \(20, 24\)"),
        ({"sigma": -1}, "sigma must be a finite non-negative number"),
        ({"passes": 0}, "passes must be a whole number of at least 1"),
        ({"stride": 0}, "stride must be a whole number of at least 1"),
        ({"stride": 5}, "stride 5 leaves gaps"),
        ({"threads": 0}, "threads must be a whole number of at least 1"),
        ({"max_memory": 0}, "max_memory must be a finite positive number"),
        ({"engine": "steam"}, "engine must be one of"),
        ({"channel_axis": 2}, "channel_axis 2 does not exist"),
    ],
)
def test_bad_settings_are_told(options, message):
    with pytest.raises(ValueError, match=message):
        sedil.inpaint(IMAGE + np.arange(24), MASK, SMALL, **options)


@pytest.mark.parametrize("given", [{"sigma": 3.0}, {"sigma": MASK * 2.0}, {"passes": 4}, {"stride": 2}])
@pytest.mark.parametrize("method", ["whole", None])
def test_what_a_whole_image_has_no_use_for_is_refused(method, given):
    (name,) = given
    with pytest.raises(ValueError, match=f'{name} is not for method="whole"'):
        sedil.inpaint(IMAGE + np.arange(24), MASK, sedil.odct((20, 24), (24, 28)), method=method, **given)


def test_masks_of_colours_are_checked():
    image = np.zeros((20, 24, 3))
    with pytest.raises(ValueError, match=r"\(20, 24, 3\) or \(20, 24\), got \(24, 20\)"):
        sedil.inpaint(image, MASK.T, channel_axis=-1)
    lost = np.zeros(image.shape, bool)
    lost[..., 2] = True
    with pytest.raises(ValueError, match="Every pixel of channel 2 is missing"):
        sedil.inpaint(image, lost, channel_axis=-1)


def test_counts_of_a_narrow_type_do_not_overflow(clean):
    """Patches times passes are more than 8 bits hold."""
    image, mask = clean[:20, :20], np.zeros((20, 20), bool)
    mask[5:9, 5:9] = True
    narrow = sedil.inpaint(image, mask, passes=np.int8(3), stride=np.int8(2), method="groups")
    np.testing.assert_array_equal(narrow, sedil.inpaint(image, mask, passes=3, stride=2, method="groups"))
