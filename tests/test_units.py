"""Images and patches come in any units: what is computed does not depend on them, and nothing is lost."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

import sedil
from random_things import training_patches

DICTIONARY = sedil.odct((4, 4), 6)
RNG = np.random.default_rng(0)
CLEAN = 4 * np.add.outer(np.arange(24.0), np.arange(20.0))
IMAGE = CLEAN + 10 * RNG.standard_normal(CLEAN.shape)
MASK = RNG.random(IMAGE.shape) < 0.3
WHOLE = np.rint(IMAGE).clip(0, 200)
PATCHES = training_patches(7, (4, 4))
SCALES = [1e-300, 1e-160, 1e-38, 1e-25, 1e-12, 1e12, 1e25, 1e34, 1e150, 1e300]
LEVELS = 0.3  # that results may differ by: inpainting chooses atoms, which rounding may turn


def cleaned(image, scale=1.0):
    return sedil.denoise(image, 10 * scale, DICTIONARY)


def filled(image, scale=1.0):
    return sedil.inpaint(image, MASK, DICTIONARY, passes=3)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("work", [cleaned, filled])
def test_images_of_any_scale(work, scale):
    result = work(IMAGE * scale, scale)
    assert_allclose(result / scale, work(IMAGE), atol=LEVELS)


@pytest.mark.parametrize("scale", [1e-38, 1e-25, 1e25, 1e34, 1e36])
@pytest.mark.parametrize("work", [cleaned, filled])
def test_images_of_any_scale_in_float32(work, scale):
    image = (IMAGE * scale).astype(np.float32)
    result = work(image, scale)
    assert result.dtype == np.float32
    assert_allclose(result.astype(float) / scale, work(IMAGE), atol=LEVELS)


@pytest.mark.parametrize("offset", [1e6, 1e8, 1e9, -1e9, 1e12])
@pytest.mark.parametrize("work", [cleaned, filled])
def test_images_with_any_offset(work, offset):
    assert_allclose(work(IMAGE + offset) - offset, work(IMAGE), atol=LEVELS)
    assert abs(sedil.estimate_noise(IMAGE + offset) - sedil.estimate_noise(IMAGE)) < 1e-3


@pytest.mark.parametrize("scale", SCALES)
def test_noise_of_any_scale(scale):
    assert_allclose(sedil.estimate_noise(IMAGE * scale) / scale, sedil.estimate_noise(IMAGE), rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.int32, np.uint32, np.int16, np.uint16])
@pytest.mark.parametrize("work", [cleaned, filled])
def test_integers_near_the_ends_of_their_type(work, dtype):
    limits, expected = np.iinfo(dtype), work(WHOLE)
    for offset in (limits.min, limits.max // 2, limits.max - 200):
        image = (WHOLE.astype(int).astype(object) + offset).astype(dtype)
        result = work(image)
        assert result.dtype == dtype
        back = (result.astype(object) - offset).astype(float)
        room = limits.max - offset
        assert np.abs(back - expected.clip(0 if offset == limits.min else None, room)).max() < 3
        assert_array_equal(result[~MASK], image[~MASK]) if work is filled else None


def test_bright_integers_of_64_bits_stay_bright():
    for dtype in (np.int64, np.uint64):
        ends = np.iinfo(dtype)
        image = np.full((12, 12), ends.max, dtype)
        image[3:6, 3:6] = ends.max - ends.max // 8
        assert (sedil.denoise(image, ends.max / 100, DICTIONARY) > ends.max // 2).all()


def test_float16_stays_finite():
    image = np.full((12, 12), 65504, np.float16)
    image[::2] = -65504
    result = sedil.denoise(image, 100, DICTIONARY)
    assert result.dtype == np.float16
    assert np.isfinite(result).all()


@pytest.mark.parametrize("value", [0.0, 100.3, 3e38, -1e300, 1e-320])
@pytest.mark.parametrize("sigma", [1e-3, 10, 1e3])
def test_a_flat_part_comes_back_as_it_is(value, sigma):
    image = np.full((12, 12), value)
    assert_array_equal(sedil.denoise(image, sigma, DICTIONARY), image)


def test_a_part_that_varies_less_than_the_noise_becomes_flat():
    part = 100 + RNG.random((12, 12))
    assert np.ptp(sedil.denoise(part, 20, DICTIONARY)) < 0.3
    empty_slice = RNG.integers(0, 2, (12, 12)).astype(np.uint8)
    assert np.ptp(sedil.denoise(empty_slice, 10, DICTIONARY)) <= 1


def test_levels_may_be_any_kind_of_number():
    image = IMAGE * 1e-25
    filled = sedil.inpaint(image, MASK, DICTIONARY, sigma=np.float16(6e-8) * 0)
    assert_array_equal(filled, sedil.inpaint(image, MASK, DICTIONARY))
    few = sedil.inpaint(IMAGE[:12, :12], MASK[:12, :12], DICTIONARY, sigma=np.float16(5))
    assert_array_equal(few, sedil.inpaint(IMAGE[:12, :12], MASK[:12, :12], DICTIONARY, sigma=5.0))


@pytest.mark.parametrize(
    "work",
    [
        lambda: sedil.match_patches(WHOLE, 3, n_matches=1, threads=np.uint8(120)),
        lambda: sedil.denoise(WHOLE, 10, engine="portable", max_memory=np.float16(0.5)),
        lambda: sedil.inpaint(WHOLE, MASK, engine="portable", passes=1, max_memory=np.float16(0.5)),
        lambda: sedil.denoise(WHOLE, noise="poisson-gaussian", gain=np.float16(1), offset=np.float16(-9)),
    ],
)
def test_numbers_of_narrow_types_do_not_overflow(work):
    work()  # a warning would be an error here


def test_small_codes_to_start_from_are_not_kept_at_a_huge_penalty():
    patches = np.full((2, 4, 4), 1e37, np.float32)
    codes = sedil.sparse_code(DICTIONARY, patches, penalty=1e308, initial=np.full((2, 6, 6), 100))
    assert not codes.any()


def test_noise_that_is_nothing_beside_the_image_is_none():
    assert_array_equal(sedil.denoise(IMAGE, 1e-300, DICTIONARY), IMAGE)


# Codes and patches


@pytest.mark.parametrize("scale", [1e-300, 1e-38, 1e-25, 1e25, 1e38, 1e300])
@pytest.mark.parametrize("method", ["l1", "refit", "pursuit"])
@pytest.mark.parametrize("dtype", [None, "float64"])
def test_patches_of_any_scale_are_coded(scale, method, dtype):
    def code(unit):
        how = {"max_error": unit} if method == "pursuit" else {"penalty": 0.3 * unit}
        return sedil.sparse_code(DICTIONARY, PATCHES * unit, method=method, dtype=dtype, **how)

    expected = code(1.0)
    assert expected.any()
    assert_allclose(code(scale) / scale, expected, atol=1e-3)


def test_sparse_results_and_starts_have_the_units_of_the_patches():
    start = sedil.sparse_code(DICTIONARY, PATCHES, 0.3)
    codes = sedil.sparse_code(DICTIONARY, 1e-25 * PATCHES, 0.3e-25, initial=1e-25 * start, sparse=True)
    assert_allclose(codes.toarray().reshape(start.shape) / 1e-25, start, atol=2e-3)


def test_codes_beyond_their_type_are_refused():
    with pytest.raises(ValueError, match="Codes of patches as large as these are beyond float32: rescale"):
        sedil.sparse_code(DICTIONARY, np.full((1, 4, 4), 3e38, np.float32), 1e30)


def test_penalties_that_are_nothing_beside_the_patches_are_refused():
    patches = PATCHES.copy()
    patches[0] *= 1e30
    with pytest.raises(ValueError, match=r"penalty 0\.3 is nothing beside patches as large as .* apart"):
        sedil.sparse_code(DICTIONARY, patches, 0.3)


@pytest.mark.parametrize("penalty", [1e39, 1e308])
def test_penalties_above_all_patches_code_nothing(penalty):
    assert not sedil.sparse_code(DICTIONARY, PATCHES, penalty).any()
    assert not sedil.sparse_code(DICTIONARY, PATCHES, 10.0, weights=np.full((6, 6), 3e38)).any()


@pytest.mark.parametrize("solver", ["descent", "fista", "admm"])
def test_small_weights_of_a_penalty_far_above_the_patches_are_not_lost(solver):
    weights = np.full((6, 6), 1e-19)  # with which the penalty is still a million times the patches
    codes = sedil.sparse_code(DICTIONARY, 1e-25 * PATCHES, 1.0, weights=weights, solver=solver)
    assert not codes.any()


@pytest.mark.parametrize("scale", [1e-250, 1e-25, 1.0, 1e25, 1e250])
@pytest.mark.parametrize("weight", [1e-38, 1e-19, 1e30])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_penalty_and_weights_are_one_product(scale, weight, dtype):
    weights = np.full((6, 6), weight)
    codes = sedil.sparse_code(DICTIONARY, scale * PATCHES, 0.3 * scale / weight, weights=weights, dtype=dtype)
    assert_allclose(codes / scale, sedil.sparse_code(DICTIONARY, PATCHES, 0.3, dtype=dtype), atol=1e-3)


def test_weights_beyond_float32_are_no_mistake():
    codes = sedil.sparse_code(DICTIONARY, PATCHES, 0.3e60, weights=np.full((6, 6), 1e-60))
    assert_allclose(codes, sedil.sparse_code(DICTIONARY, PATCHES, 0.3), atol=1e-5)
    with pytest.raises(ValueError, match=r"penalty 1e-300 is nothing beside patches"):
        sedil.sparse_code(DICTIONARY, 1e300 * PATCHES, 1e-300, weights=np.ones((6, 6)))


@pytest.mark.parametrize("engine", ["fused", "portable"])
@pytest.mark.parametrize("how", [{"solver": "fista"}, {"solver": "admm"}, {"sparse": True}, {"mask": True}])
def test_a_gap_that_float32_does_not_see_is_told(engine, how):
    dictionary = sedil.SeparableDictionary([np.eye(2)])
    patches, weights = np.array([[1 / 3, 1.0], [0.0, 0.0]]), np.array([1e-9, 0.5])
    if "mask" in how:
        how = {"mask": np.zeros((2, 2), bool)}
    with pytest.warns(ConvergenceWarning, match=r"1 of 2 patches have a duality gap above .* float64 for"):
        sedil.sparse_code(dictionary, patches, 1.0, weights=weights, engine=engine, **how)
    sedil.sparse_code(dictionary, patches, 1.0, weights=weights, dtype="float64", **how)


def test_codes_with_few_digits_are_told():
    with pytest.warns(ConvergenceWarning, match="duality gap"):
        sedil.sparse_code(DICTIONARY, (1e-44 * PATCHES).astype(np.float32), 1e-46)


def test_errors_and_gaps_above_all_patches_code_nothing():
    assert not sedil.sparse_code(DICTIONARY, 1e-300 * PATCHES, method="pursuit", max_error=10.0).any()
    assert np.isfinite(sedil.sparse_code(DICTIONARY, PATCHES, 0.3, tolerance=1e39)).all()


@pytest.mark.parametrize("solver", ["descent", "fista", "admm"])
@pytest.mark.parametrize("size", [1e3, 1e6, 1e12, 1e20, 1e300])
def test_a_start_far_from_the_solution_is_not_returned(solver, size):
    expected = sedil.sparse_code(DICTIONARY, PATCHES, 0.3, solver=solver)
    far = size * np.random.default_rng(1).standard_normal(expected.shape)
    codes = sedil.sparse_code(DICTIONARY, PATCHES, 0.3, solver=solver, initial=far)
    assert_allclose(codes, expected, atol=1e-5)


@pytest.mark.parametrize("scale", [1e-300, 1e-38, 1e-23, 1e25, 1e300])
@pytest.mark.parametrize("unit_length", [True, False])
def test_patches_of_any_scale_are_normalized(scale, unit_length):
    expected = sedil.normalize_patches(PATCHES, unit_length=unit_length)
    result = sedil.normalize_patches(PATCHES * scale, unit_length=unit_length)
    assert_allclose(result if unit_length else result / scale, expected, atol=1e-10)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_factors_of_any_scale_are_normalized(scale):
    factor = RNG.standard_normal((4, 5))
    wild = factor * np.where(np.arange(5) < 2, scale, 1.0)
    assert_allclose(
        sedil.SeparableDictionary([wild], normalize=True).factors[0],
        sedil.SeparableDictionary([factor], normalize=True).factors[0],
    )


def test_nothing_that_is_not_finite_goes_in_or_comes_out_of_a_dictionary():
    dictionary = DICTIONARY.like(np.zeros(1, np.float32))
    with pytest.raises(ValueError, match="codes must be finite"):
        dictionary.synthesize(np.full((6, 6), np.nan))
    with pytest.raises(ValueError, match="patches are too large for float32"):
        dictionary.analyze(np.full((4, 4), 3e38, np.float32))


@pytest.mark.parametrize(
    "setting", [{"sparsity_scale": 1e30}, {"sparsity_scale": 1e-30}, {"sparsity_weight": 1e30}]
)
def test_weights_far_from_what_patches_ask_for_are_refused(setting):
    with pytest.raises(ValueError, match=r"is far from what patches of a mean squared length of .* ask for"):
        sedil.learn(PATCHES, 5, max_iterations=1, **setting)
