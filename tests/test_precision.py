"""Float64 arrays are computed on in float32 unless float64 is insisted on, and come back as they were."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import sedil
from random_things import dense, random_dictionary, training_patches

DICTIONARY = sedil.odct((4, 4), 6)
PATCHES = training_patches(20, (4, 4))
IMAGE = 100 + 20 * training_patches(1, (24, 20))[0]
MASK = np.random.default_rng(0).random(IMAGE.shape) < 0.3

WORK = {
    "l1": (PATCHES, lambda patches, **how: sedil.sparse_code(DICTIONARY, patches, 0.5, **how)),
    "refit": (
        PATCHES,
        lambda patches, **how: sedil.sparse_code(DICTIONARY, patches, 0.5, method="refit", **how),
    ),
    "pursuit": (
        PATCHES,
        lambda patches, **how: sedil.sparse_code(DICTIONARY, patches, method="pursuit", max_error=1, **how),
    ),
    "sparse rows": (
        PATCHES,
        lambda patches, **how: sedil.sparse_code(DICTIONARY, patches, 0.5, sparse=True, **how).toarray(),
    ),
    "masked": (
        PATCHES,
        lambda patches, **how: sedil.sparse_code(DICTIONARY, patches, 0.5, mask=PATCHES > 1, **how),
    ),
    "denoise": (IMAGE, lambda image, **how: sedil.denoise(image, 15.0, DICTIONARY, **how)),
    "inpaint": (IMAGE, lambda image, **how: sedil.inpaint(image, MASK, DICTIONARY, **how)),
}


@pytest.mark.parametrize("name", WORK)
def test_float64_comes_back_as_float64_and_is_computed_in_float32(name):
    given, work = WORK[name]
    result = work(given)
    assert result.dtype == np.float64
    narrow = work(given.astype(np.float32))
    assert narrow.dtype == np.float32
    if name == "inpaint":  # where known pixels come back as they are
        result, narrow = result[MASK], narrow[MASK]
    assert_array_equal(result, narrow.astype(np.float64))


@pytest.mark.parametrize("name", WORK)
def test_float64_may_be_insisted_on(name):
    given, work = WORK[name]
    wide, narrow = work(given, dtype="float64"), work(given, engine="portable")
    assert wide.dtype == np.float64
    assert not np.array_equal(wide, narrow)
    assert np.median(np.abs(wide - narrow)) < 1e-3 * np.abs(wide).max()


@pytest.mark.parametrize("name", WORK)
def test_float32_arrays_may_be_computed_on_in_float64(name):
    given, work = WORK[name]
    result = work(given.astype(np.float32), dtype="float64")
    assert result.dtype == np.float32
    assert_array_equal(
        result, work(given.astype(np.float32).astype(np.float64), dtype="float64").astype(np.float32)
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_codes_in_float64_are_more_exact(rng):
    dictionary = random_dictionary(2, rng)
    patches = training_patches(20, dictionary.patch_shape)
    matrix = dense(dictionary.factors)
    violations = []
    for dtype in ("float32", "float64"):
        how = {"tolerance": 1e-12, "max_iterations": 3000, "solver": "fista", "engine": "portable"}
        codes = sedil.sparse_code(dictionary, patches, 0.3, dtype=dtype, **how).reshape(20, -1)
        correlations = (patches.reshape(20, -1) - codes @ matrix.T) @ matrix
        used = codes != 0
        violations.append(np.abs(correlations[used] - 0.3 * np.sign(codes[used])).max())
    assert violations[1] < violations[0] / 30


@pytest.mark.parametrize("name", WORK)
def test_the_fused_engine_does_not_compute_in_float64(name):
    given, work = WORK[name]
    words = 'engine="fused" computes in float32, not in float64: leave engine or dtype out'
    with pytest.raises(ValueError, match=words):
        work(given, engine="fused", dtype="float64")
    assert_array_equal(work(given, engine="fused"), work(given))


@pytest.mark.parametrize("dtype", ["float16", "double", np.float64, 64])
@pytest.mark.parametrize("name", WORK)
def test_other_precisions_are_refused(name, dtype):
    given, work = WORK[name]
    with pytest.raises(ValueError, match="dtype must be one of 'float32', 'float64', got"):
        work(given, dtype=dtype)


@pytest.mark.parametrize("dtype", [np.uint64, np.int64, np.uint32, np.int8])
def test_integers_of_all_widths_stay_in_their_range(dtype):
    limits = np.iinfo(dtype)
    image = np.full((12, 12), limits.max, dtype)
    image[::2, ::3] = limits.min
    result = sedil.denoise(image, 0.01 * (float(limits.max) - float(limits.min)), DICTIONARY)
    assert result.dtype == dtype
    share = np.abs(result.astype(float) - image.astype(float)) / (float(limits.max) - float(limits.min))
    assert share.max() < 0.5


@pytest.mark.parametrize(("scale", "word"), [(1e60, "large"), (1e25, "large"), (1e-25, "small")])
def test_numbers_whose_squares_float32_cannot_hold_are_refused(scale, word):
    patches = scale * training_patches(9, (4, 4))
    with pytest.raises(ValueError, match=rf'reaches .*, too {word} for float32: .* dtype="float64"'):
        sedil.learn(patches, 5, max_iterations=1)


def test_zeros_and_common_units_are_computed_on_in_float32():
    for scale in (0.0, 1e-15, 1e15):
        codes = sedil.sparse_code("separable-8x8", scale * np.ones((1, 8, 8)), max(scale, 1.0))
        assert codes.dtype == np.float64
