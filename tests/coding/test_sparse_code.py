import numpy as np
import pytest

import sedil
from random_things import SHAPES, dense, random_dictionary, unit_columns
from sedil.arrays import to_numpy
from sedil.dictionary import SeparableDictionary

EXACT = {"tolerance": 1e-10, "max_iterations": 50_000, "dtype": "float64"}


@pytest.fixture
def dictionary(rng):
    return random_dictionary(2, rng)


@pytest.fixture
def patches(rng):
    return rng.standard_normal((5, *SHAPES[2][0]))


def cost(dictionary, patches, codes, penalty):
    error = dictionary.synthesize(codes) - patches
    return 0.5 * (error**2).sum() + penalty * abs(codes).sum()


def test_orthonormal_dictionary_has_the_soft_threshold_as_its_code(rng):
    orthonormal = SeparableDictionary([np.linalg.qr(rng.standard_normal((k, k)))[0] for k in (3, 4)])
    patches = rng.standard_normal((6, 3, 4))
    products = orthonormal.analyze(patches)
    expected = np.sign(products) * np.maximum(abs(products) - 0.4, 0)
    np.testing.assert_allclose(
        sedil.sparse_code(orthonormal, patches, 0.4, tolerance=1e-12, dtype="float64"), expected, atol=1e-5
    )


@pytest.mark.parametrize("leading", [(), (5,), (2, 3), (0,)])
@pytest.mark.parametrize("n_axes", SHAPES)
def test_codes_have_the_leading_axes_of_the_patches(n_axes, leading, rng):
    dictionary = random_dictionary(n_axes, rng)
    patches = rng.standard_normal((*leading, *dictionary.patch_shape))
    assert sedil.sparse_code(dictionary, patches, 0.5).shape == (*leading, *dictionary.n_atoms)


def test_no_random_change_of_a_code_lowers_the_cost(dictionary, patches, rng):
    codes = sedil.sparse_code(dictionary, patches, 0.2, **EXACT)
    reached = cost(dictionary, patches, codes, 0.2)
    for size in (1e-3, 1e-2, 1e-1):
        for _ in range(20):
            moved = codes + size * rng.standard_normal(codes.shape)
            assert cost(dictionary, patches, moved, 0.2) > reached - 1e-8


def test_larger_penalty_gives_sparser_codes(dictionary, patches):
    counts = [(sedil.sparse_code(dictionary, patches, p) != 0).sum() for p in (0.01, 0.3, 1.0, 100.0)]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > 0 == counts[-1]


def test_penalty_of_the_paper_is_half_over_lambda_d(dictionary, patches, rng):
    """Eq. (34) in its own scaling: no change lowers ||x||_1 + lambda_d ||Dx - s||^2."""
    lambda_d = 2.5
    codes = sedil.sparse_code(dictionary, patches, 1 / (2 * lambda_d), **EXACT)

    def printed_cost(x):
        error = x.reshape(5, -1) @ dense(dictionary.factors).T - patches.reshape(5, -1)
        return abs(x).sum() + lambda_d * (error**2).sum()

    for scale in (0.98, 1.02):
        assert printed_cost(codes) < printed_cost(scale * codes)
    for _ in range(20):
        assert printed_cost(codes + 1e-2 * rng.standard_normal(codes.shape)) > printed_cost(codes)


def test_scaling_patches_and_penalty_scales_the_codes(dictionary, patches):
    codes, scaled = (
        sedil.sparse_code(dictionary, scale * patches, scale * 0.2, dtype="float64") for scale in (1, 255)
    )
    np.testing.assert_allclose(scaled, 255 * codes, rtol=1e-9)


def test_every_library_and_precision_agrees_with_numpy(dictionary, patches, arrays):
    own = dictionary.like(arrays.make([0.0]))
    codes = sedil.sparse_code(own, arrays.make(patches), 0.2, dtype=arrays.precision)
    expected = sedil.sparse_code(dictionary, patches, 0.2, dtype="float64")
    arrays.check(codes, expected, 1e-10 if arrays.precision == "float64" else 2e-2)


def test_the_dictionary_follows_the_patches_into_their_library(dictionary, patches, arrays):
    own = arrays.make(patches)
    codes = sedil.sparse_code(dictionary, own, 0.2)
    arrays.check(codes, to_numpy(sedil.sparse_code(dictionary.like(own), own, 0.2)))
    back = sedil.sparse_code(dictionary.like(own), patches, 0.2)
    assert isinstance(back, np.ndarray)


@pytest.mark.parametrize("name", ["mask", "weights", "initial"])
def test_other_arrays_must_be_of_the_library_of_the_patches(dictionary, patches, torch, name):
    shapes = {"mask": patches.shape, "weights": dictionary.n_atoms, "initial": (5, *dictionary.n_atoms)}
    other = np.ones(shapes[name], bool if name == "mask" else float)
    with pytest.raises(TypeError, match=f"{name} is a numpy array on cpu but .* is a torch array on cpu"):
        sedil.sparse_code(dictionary, torch.asarray(patches), 0.1, **{name: other})


@pytest.mark.parametrize(
    "variant",
    [
        lambda patches: np.asfortranarray(patches),
        lambda patches: np.repeat(patches, 2, axis=0)[::2],
        lambda patches: patches.tolist(),
        lambda patches: (patches * 100).astype(int) / 100,
        lambda patches: np.array(patches, dtype=np.longdouble),
    ],
    ids=["fortran", "strided", "nested list", "rounded", "long double"],
)
def test_any_layout_of_the_input_works(variant, dictionary, patches):
    given = variant(patches)
    plain = np.array(given, dtype=np.float64)
    np.testing.assert_allclose(
        sedil.sparse_code(dictionary, given, 0.2), sedil.sparse_code(dictionary, plain, 0.2), atol=1e-12
    )


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, bool, np.float16, np.float32])
def test_any_real_type_works(dtype, dictionary):
    patches = np.arange(36).reshape(3, 3, 4).astype(dtype)
    codes = sedil.sparse_code(dictionary, patches, 0.2)
    np.testing.assert_array_equal(codes, sedil.sparse_code(dictionary, patches.astype(float), 0.2))


def test_read_only_input_is_not_modified(dictionary, patches):
    before = patches.copy()
    patches.flags.writeable = False
    sedil.sparse_code(dictionary, patches, 0.2)
    np.testing.assert_array_equal(patches, before)


def test_tensor_that_records_gradients_works(torch, rng):
    dictionary = SeparableDictionary([torch.asarray(unit_columns((3, 5), rng))])
    codes = sedil.sparse_code(dictionary, torch.ones(2, 3, dtype=torch.float64, requires_grad=True), 0.1)
    assert not codes.requires_grad


@pytest.mark.parametrize(
    ("patches", "error", "message"),
    [
        (
            np.ones((5, 12)),
            ValueError,
            r"shape \(\.\.\., 3, 4\) .* got \(5, 12\): reshape them",
        ),
        (np.ones(4), ValueError, r"patches must have shape \(\.\.\., 3, 4\) .* got \(4,\)"),
        (
            np.full((3, 4), np.nan),
            ValueError,
            r"patches must be finite, got 12 NaN or infinite values \(the first",
        ),
        (
            np.where(np.eye(3, 4, 2), np.inf, 0),
            ValueError,
            r"2 NaN .*the first at index \(0, 2\)\): remove",
        ),
        (np.ones((3, 4), complex), TypeError, "patches must hold real numbers, got dtype complex128"),
        (np.full((3, 4), "x"), TypeError, "patches must hold real numbers, got dtype <U1"),
        ([[1.0, 2.0], [3.0]], ValueError, "patches must be one rectangular array of numbers"),
        (None, TypeError, "patches must hold real numbers, got None"),
    ],
)
def test_bad_patches_are_refused_with_the_reason(patches, error, message, dictionary):
    with pytest.raises(error, match=message):
        sedil.sparse_code(dictionary, patches, 0.1)


def test_penalty_must_be_given(dictionary, patches):
    with pytest.raises((TypeError, ValueError), match="penalty"):
        sedil.sparse_code(dictionary, patches)


@pytest.mark.parametrize("value", [0, -1, np.nan, np.inf, "1", True])
@pytest.mark.parametrize("name", ["penalty", "tolerance"])
def test_numbers_must_be_positive(name, value, dictionary, patches):
    arguments = {"penalty": 0.1} | {name: value}
    with pytest.raises(ValueError, match=f"{name} must be a finite positive number, got"):
        sedil.sparse_code(dictionary, patches, **arguments)


@pytest.mark.parametrize("value", [0, -3, 2.5, None, True])
def test_iterations_must_be_counted(value, dictionary, patches):
    with pytest.raises(ValueError, match="max_iterations must be a whole number of at least 1, got"):
        sedil.sparse_code(dictionary, patches, 0.1, max_iterations=value)


@pytest.mark.parametrize("scale", [1e15, 1e-15])
def test_units_of_float32_patches_do_not_matter(dictionary, patches, scale):
    own = dictionary.like(np.empty(0, np.float32))
    codes = sedil.sparse_code(own, (scale * patches).astype(np.float32), 0.2 * scale)
    expected = sedil.sparse_code(own, patches.astype(np.float32), 0.2)
    np.testing.assert_allclose(codes / np.float32(scale), expected, atol=1e-2)
