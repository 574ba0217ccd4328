from math import log, prod

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import sedil
from random_things import (
    SHAPES,
    dense,
    dense_barrier,
    dense_mutual_coherence,
    random_dictionary,
    random_factors,
    unit_columns,
)
from sedil.arrays import to_numpy
from sedil.dictionary import SeparableDictionary, format_shape

AXES = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=1, max_size=4)
LEADING = st.lists(st.integers(0, 3), max_size=3).map(tuple)
SEEDS = st.integers(0, 2**32 - 1)


def dictionary_of(axes, seed):
    patch_shape, n_atoms = zip(*axes, strict=True)
    return SeparableDictionary(random_factors(patch_shape, n_atoms, np.random.default_rng(seed)))


# Applying it


@given(axes=AXES, leading=LEADING, seed=SEEDS)
def test_synthesize_is_the_dense_matrix_over_any_leading_axes(axes, leading, seed):
    dictionary = dictionary_of(axes, seed)
    codes = np.random.default_rng([seed, 1]).standard_normal((*leading, *dictionary.n_atoms))
    patches = dictionary.synthesize(codes)
    assert patches.shape == (*leading, *dictionary.patch_shape)
    rows = codes.reshape(prod(leading), prod(dictionary.n_atoms))
    expected = (rows @ dictionary.as_matrix().T).reshape(patches.shape)
    np.testing.assert_allclose(patches, expected, atol=1e-12)


@given(axes=AXES, leading=LEADING, seed=SEEDS)
def test_analyze_is_the_transposed_dense_matrix_over_any_leading_axes(axes, leading, seed):
    dictionary = dictionary_of(axes, seed)
    patches = np.random.default_rng([seed, 1]).standard_normal((*leading, *dictionary.patch_shape))
    codes = dictionary.analyze(patches)
    assert codes.shape == (*leading, *dictionary.n_atoms)
    rows = patches.reshape(prod(leading), prod(dictionary.patch_shape))
    np.testing.assert_allclose(codes, (rows @ dictionary.as_matrix()).reshape(codes.shape), atol=1e-12)


@given(axes=AXES, leading=LEADING, seed=SEEDS)
def test_analyze_is_the_adjoint_of_synthesize(axes, leading, seed):
    dictionary = dictionary_of(axes, seed)
    rng = np.random.default_rng([seed, 1])
    codes = rng.standard_normal((*leading, *dictionary.n_atoms))
    patches = rng.standard_normal((*leading, *dictionary.patch_shape))
    left = np.vdot(dictionary.synthesize(codes), patches)
    assert left == pytest.approx(np.vdot(codes, dictionary.analyze(patches)), rel=1e-11, abs=1e-11)


def test_row_major_matrix_is_a_kron_b(rng):
    a, b = random_factors((3, 4), (5, 2), rng)
    dictionary = SeparableDictionary([a, b])
    code = rng.standard_normal((5, 2))
    np.testing.assert_array_equal(dictionary.as_matrix(), np.kron(a, b))
    np.testing.assert_allclose(np.kron(a, b) @ code.ravel(), (a @ code @ b.T).ravel())
    np.testing.assert_allclose(dictionary.synthesize(code), a @ code @ b.T)


def test_column_major_vec_of_the_paper_is_b_kron_a(rng):
    a, b = random_factors((3, 4), (5, 2), rng)
    code = rng.standard_normal((5, 2))
    patch = SeparableDictionary([a, b]).synthesize(code)
    np.testing.assert_allclose(np.kron(b, a) @ code.ravel(order="F"), patch.ravel(order="F"))


@pytest.mark.parametrize("n_axes", SHAPES)
def test_as_matrix_is_the_kronecker_product_in_every_library(n_axes, arrays, rng):
    factors = random_factors(*SHAPES[n_axes], rng)
    arrays.check(SeparableDictionary([*map(arrays.make, factors)]).as_matrix(), dense(factors))


@pytest.mark.parametrize("n_axes", SHAPES)
def test_atoms_are_the_patches_of_unit_codes_and_have_unit_length(n_axes, rng):
    dictionary = random_dictionary(n_axes, rng)
    count = prod(dictionary.n_atoms)
    unit_codes = np.eye(count).reshape(count, *dictionary.n_atoms)
    np.testing.assert_allclose(dictionary.atoms(), dictionary.synthesize(unit_codes), atol=1e-14)
    np.testing.assert_allclose((dictionary.atoms().reshape(count, -1) ** 2).sum(axis=1), 1)


@pytest.mark.parametrize("n_axes", SHAPES)
def test_every_library_and_precision_agrees_with_numpy(n_axes, arrays, rng):
    dictionary = random_dictionary(n_axes, rng)
    own = SeparableDictionary([*map(arrays.make, dictionary.factors)])
    codes = rng.standard_normal((2, 3, *dictionary.n_atoms))
    patches = rng.standard_normal((2, 3, *dictionary.patch_shape))
    arrays.check(own.synthesize(arrays.make(codes)), dictionary.synthesize(codes))
    arrays.check(own.analyze(arrays.make(patches)), dictionary.analyze(patches))
    assert own.mutual_coherence() == pytest.approx(dictionary.mutual_coherence(), rel=1e-5)
    assert own.coherence_barrier() == pytest.approx(dictionary.coherence_barrier(), rel=1e-5)


def test_input_takes_the_precision_of_the_dictionary(arrays, rng):
    own = SeparableDictionary([arrays.make(unit_columns((3, 4), rng))])
    for precision in ("float32", "float64", "int64"):
        codes = arrays.xp.ones((2, 4), dtype=getattr(arrays.xp, precision))
        assert own.synthesize(codes).dtype == arrays.dtype


@pytest.mark.parametrize(
    "variant",
    [
        np.asfortranarray,
        lambda codes: np.repeat(codes, 2, axis=0)[::2],
        lambda codes: codes[:, ::-1][:, ::-1],
        lambda codes: codes.tolist(),
    ],
    ids=["fortran", "strided", "reversed", "nested list"],
)
def test_memory_layout_does_not_matter(variant, rng):
    dictionary = random_dictionary(2, rng)
    codes = rng.standard_normal((6, *dictionary.n_atoms))
    np.testing.assert_array_equal(dictionary.synthesize(variant(codes)), dictionary.synthesize(codes))


def test_read_only_input_works_and_nothing_is_modified(rng):
    factors = random_factors(*SHAPES[2], rng)
    codes = rng.standard_normal(SHAPES[2][1])
    for array in (*factors, codes):
        array.flags.writeable = False
    dictionary = SeparableDictionary(factors)
    dictionary.analyze(dictionary.synthesize(codes))


@pytest.mark.parametrize(
    ("codes", "error", "message"),
    [
        (np.ones((2, 6, 5)), ValueError, r"codes must have shape \(\.\.\., 5, 6\) .* got \(2, 6, 5\)"),
        (np.ones(6), ValueError, r"codes must have shape \(\.\.\., 5, 6\) .* got \(6,\): they come from"),
        (np.ones((5, 6), complex), TypeError, "codes must hold real numbers, got dtype complex128"),
        (np.full((5, 6), "a"), TypeError, "codes must hold real numbers, got dtype <U1"),
        ([[1, 2], [3]], ValueError, "codes must be one rectangular array of numbers"),
    ],
)
def test_bad_codes_are_refused_with_the_reason(codes, error, message, rng):
    with pytest.raises(error, match=message):
        random_dictionary(2, rng).synthesize(codes)


def test_bad_patches_are_refused_with_the_shape_that_is_needed(rng):
    message = r"patches must have shape \(\.\.\., 3, 4\) for this dictionary, got \(9, 12\): reshape them\."
    with pytest.raises(ValueError, match=message):
        random_dictionary(2, rng).analyze(np.ones((9, 12)))


def test_mixing_libraries_is_refused(torch, rng):
    dictionary = random_dictionary(1, rng)
    message = r"codes is a torch array on cpu but the dictionary is a numpy array .*dictionary\.like"
    with pytest.raises(TypeError, match=message):
        dictionary.synthesize(torch.ones(2, 7))
    with pytest.raises(TypeError, match=r"factors\[1\] is a torch array .* factors\[0\] is a numpy array"):
        SeparableDictionary([np.eye(2), torch.eye(2)])


# Making one


@pytest.mark.parametrize(
    ("factors", "error", "message"),
    [
        ([], ValueError, "A dictionary has 1 to 4 factors, got 0"),
        ([np.eye(2)] * 5, ValueError, "A dictionary has 1 to 4 factors, got 5"),
        (
            np.eye(3),
            TypeError,
            r"factors must be a list of matrices, one per axis, got an ndarray of shape \(3, 3\)",
        ),
        (5, TypeError, r"factors must be a list of matrices, one per axis, got 5"),
        ([np.ones(3)], ValueError, r"factors\[0\] must be a non-empty matrix, got shape \(3,\)"),
        (
            [np.eye(2), np.ones((0, 3))],
            ValueError,
            r"factors\[1\] must be a non-empty matrix, got shape \(0, 3\)",
        ),
        ([np.array([[1, np.nan]])], ValueError, r"factors\[0\] must be finite, got 1 NaN .* \(0, 1\)"),
        (
            [np.eye(2), 2 * np.eye(2)],
            ValueError,
            r"factors\[1\] must have unit columns, but column 0 has",
        ),
        ([np.eye(2) + 0j], TypeError, r"factors\[0\] must hold real numbers, got dtype complex128"),
        ([[[1, 0], [0]]], ValueError, r"factors\[0\] must be one rectangular array of numbers"),
    ],
)
def test_bad_factors_are_refused_with_the_reason(factors, error, message):
    with pytest.raises(error, match=message):
        SeparableDictionary(factors)


def test_length_error_says_how_to_normalise():
    with pytest.raises(ValueError, match="pass normalize=True"):
        SeparableDictionary([2 * np.eye(2)])
    np.testing.assert_array_equal(SeparableDictionary([2 * np.eye(2)], normalize=True).factors[0], np.eye(2))


def test_zero_column_cannot_be_normalised():
    with pytest.raises(ValueError, match=r"factors\[0\].*column 1 .*zero"):
        SeparableDictionary([np.array([[1.0, 0.0], [0.0, 0.0]])], normalize=True)


def test_factors_of_different_precision_are_refused():
    with pytest.raises((TypeError, ValueError), match=r"factors\[1\].*float32"):
        SeparableDictionary([np.eye(2), np.eye(2, dtype=np.float32)])


@pytest.mark.parametrize("dtype", [int, bool, np.float16, np.float32, np.float64])
def test_factors_of_any_real_type_become_floats(dtype):
    expected = {np.float16: np.float32, np.float32: np.float32}.get(dtype, np.float64)
    assert SeparableDictionary([np.eye(3, dtype=dtype)]).factors[0].dtype == expected


def test_shapes_and_redundancy(rng):
    dictionary = random_dictionary(3, rng)
    assert (dictionary.patch_shape, dictionary.n_atoms) == SHAPES[3]
    assert dictionary.redundancy == 36 / 12


# Coherence


@given(axes=AXES, seed=SEEDS)
def test_lemma_1_mutual_coherence_of_the_product_is_the_largest_of_the_factors(axes, seed):
    dictionary = dictionary_of(axes, seed)
    whole = dense_mutual_coherence(dictionary.as_matrix())
    largest = max(dense_mutual_coherence(factor) for factor in dictionary.factors)
    assert whole == pytest.approx(largest, abs=1e-12)
    assert dictionary.mutual_coherence() == pytest.approx(whole, abs=1e-12)


MANY_ATOMS = st.lists(st.tuples(st.integers(2, 4), st.integers(2, 4)), min_size=1, max_size=4)


@given(axes=MANY_ATOMS, seed=SEEDS)
def test_equation_8_bounds_the_barrier_of_the_dense_matrix(axes, seed):
    matrix = dictionary_of(axes, seed).as_matrix()
    mu, barrier = dense_mutual_coherence(matrix), dense_barrier(matrix)
    pairs = matrix.shape[1] * (matrix.shape[1] - 1) / 2
    assume(mu < 1 - 1e-9)
    assert barrier >= -log(1 - mu**2) * (1 - 1e-9)
    assert -log(1 - mu**2) >= barrier / pairs * (1 - 1e-9)


@given(axes=MANY_ATOMS, seed=SEEDS)
def test_equation_14_bounds_the_mutual_coherence_of_the_product(axes, seed):
    dictionary = dictionary_of(axes, seed)
    mu = dense_mutual_coherence(dictionary.as_matrix())
    assume(mu < 1 - 1e-9)
    lower, upper = dictionary.coherence_bounds()
    assert lower <= mu * (1 + 1e-9)
    assert mu <= upper * (1 + 1e-9)
    barriers = [dense_barrier(factor) for factor in dictionary.factors]
    per_pair = [r / (d * (d - 1) / 2) for r, d in zip(barriers, dictionary.n_atoms, strict=True)]
    assert -log(1 - lower**2) == pytest.approx(max(per_pair), rel=1e-6, abs=1e-9)
    assert -log(1 - upper**2) == pytest.approx(max(barriers), rel=1e-6, abs=1e-9)


def test_bounds_are_tight_for_a_single_pair():
    dictionary = SeparableDictionary([np.array([[1.0, 0.6], [0.0, 0.8]])])
    assert dictionary.coherence_bounds() == pytest.approx((0.6, 0.6))


def test_coherence_of_single_atoms_is_zero_and_of_equal_atoms_one():
    single = SeparableDictionary([np.array([[1.0], [0.0]])] * 2)
    assert (single.mutual_coherence(), single.coherence_barrier()) == (0, 0)
    assert single.coherence_bounds() == (0, 0)
    equal = SeparableDictionary([np.array([[1.0, 1.0], [0.0, 0.0]])])
    assert (equal.mutual_coherence(), equal.coherence_barrier()) == (1, np.inf)
    assert equal.coherence_bounds() == (1, 1)


# Moving, saving, showing


def test_like_moves_to_every_library_and_precision(arrays, rng):
    dictionary = SeparableDictionary(random_factors(*SHAPES[2], rng), info={"a": 1})
    moved = dictionary.like(arrays.make([0.0]))
    assert moved.info == {"a": 1}
    for own, factor in zip(moved.factors, dictionary.factors, strict=True):
        arrays.check(own, factor)


def test_like_an_integer_array_is_float64():
    assert (
        SeparableDictionary([np.eye(2, dtype=np.float32)]).like(np.arange(3)).factors[0].dtype == np.float64
    )


def test_like_a_wider_type_restores_unit_length(rng):
    narrow = SeparableDictionary([unit_columns((9, 20), rng).astype(np.float32)])
    wide = narrow.like(np.empty(0)).factors[0]
    np.testing.assert_allclose((wide**2).sum(axis=0), 1, rtol=1e-15)


@pytest.mark.parametrize("n_axes", SHAPES)
def test_saved_dictionary_is_loaded_to_the_bit(n_axes, arrays, rng, tmp_path):
    info = {"method": "by hand", "signal_shape": [2, 2], "deep": {"x": 0.1}}
    factors = [arrays.make(factor) for factor in random_factors(*SHAPES[n_axes], rng)]
    dictionary = SeparableDictionary(factors, info=info)
    dictionary.save(tmp_path / "d.npz")
    loaded = sedil.load_dictionary(str(tmp_path / "d.npz"))
    assert loaded.info == info
    assert len(loaded.factors) == n_axes
    for factor, own in zip(loaded.factors, dictionary.factors, strict=True):
        assert type(factor) is np.ndarray
        assert factor.dtype == arrays.precision
        np.testing.assert_array_equal(factor, to_numpy(own))


def test_info_is_a_copy():
    info = {"a": 1}
    dictionary = SeparableDictionary([np.eye(2)], info=info)
    info["a"] = 2
    assert dictionary.info == {"a": 1}


def test_repr_says_sizes_redundancy_coherence_and_precision(arrays):
    dictionary = SeparableDictionary([arrays.make([[1.0, 0.6], [0.0, 0.8]]), arrays.make(np.eye(3))])
    assert repr(dictionary) == (
        "<SeparableDictionary: patches 2x3, atoms 2x3 = 6, redundancy 1, coherence 0.600, "
        f"{arrays.precision}>"
    )


@pytest.mark.parametrize("normalize", [False, True])
def test_factors_are_copies(arrays, normalize):
    factor = arrays.make(np.eye(2))
    dictionary = SeparableDictionary([factor], normalize=normalize)
    factor[0, 0] = 5.0
    arrays.check(dictionary.factors[0], np.eye(2))


def test_shapes_are_written_as_people_do():
    assert format_shape((8, 16)) == "8x16"
    assert format_shape([64]) == "64"


def test_threshold_that_leaves_nothing_of_any_image_is_refused():
    with pytest.raises(
        ValueError, match=r"threshold is in multiples of sigma and at most 1000, got 1e\+300: leave"
    ):
        SeparableDictionary([np.eye(3)], threshold=1e300)
