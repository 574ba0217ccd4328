import numpy as np
import pytest

import sedil
from random_things import SHAPES, random_dictionary, training_patches
from sedil import spheres
from sedil.analytic import odct_factor
from sedil.arrays import to_numpy
from sedil.learning.initial import STARTS, Start, initial_factors


def generator(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("n_axes", SHAPES)
def test_every_start_gives_unit_columns_in_the_library_of_the_patches(n_axes, start, arrays):
    patch_shape, n_atoms = SHAPES[n_axes]
    patches = arrays.make(training_patches(12, patch_shape))
    factors = initial_factors(start, patches, n_atoms, generator())
    expected = initial_factors(start, to_numpy(patches).astype(float), n_atoms, generator())
    for factor, reference, shape in zip(
        factors, expected, zip(patch_shape, n_atoms, strict=True), strict=True
    ):
        assert tuple(factor.shape) == shape
        assert spheres.explain_violation(factor, 1e-6) is None
        arrays.check(factor, reference)


@pytest.mark.parametrize("start", ["random", "data"])
def test_seed_decides_the_start(start):
    patches = training_patches(12, (4, 4))
    first, again, other = (initial_factors(start, patches, (5, 5), generator(seed)) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first[0], again[0])
    assert not np.allclose(first[0], other[0])


def test_cosine_start_is_the_odct():
    factors = initial_factors("odct", training_patches(3, (4, 6)), (5, 9), generator())
    np.testing.assert_allclose(factors[0], odct_factor(4, 5), atol=1e-15)
    np.testing.assert_allclose(factors[1], odct_factor(6, 9), atol=1e-15)


def test_cosine_start_has_the_only_atom_there_is_on_an_axis_of_length_one():
    factors = initial_factors("odct", training_patches(3, (4, 1)), (5, 1), generator())
    np.testing.assert_array_equal(factors[1], [[1.0]])


@pytest.mark.parametrize("n_axes", SHAPES)
def test_data_start_takes_lines_of_the_patches(n_axes):
    patch_shape, _ = SHAPES[n_axes]
    patches = training_patches(40, patch_shape)
    for axis, factor in enumerate(initial_factors("data", patches, (2,) * n_axes, generator())):
        lines = np.moveaxis(patches, axis + 1, -1).reshape(-1, patch_shape[axis])
        lines /= np.linalg.norm(lines, axis=1, keepdims=True)
        np.testing.assert_allclose((lines @ factor).max(axis=0), 1, atol=1e-12)


def test_data_start_takes_no_atom_twice_and_fills_up_with_random_ones():
    line = np.array([3.0, 0.0, 4.0])
    patches = np.stack([line, -2 * line, 5 * line, 0 * line])
    (factor,) = initial_factors("data", patches, (4,), generator())
    products = abs(line @ factor) / 5
    assert (products > 0.999).sum() == 1
    assert spheres.explain_violation(factor) is None


def test_data_start_draws_from_many_patches(monkeypatch):
    monkeypatch.setattr("sedil.learning.initial._CANDIDATES", 5)
    (factor,) = initial_factors("data", training_patches(100, (6,)), (4,), generator())
    assert spheres.explain_violation(factor) is None


def test_given_dictionary_is_the_start(arrays, rng):
    dictionary = random_dictionary(2, rng)
    patches = arrays.make(training_patches(4, dictionary.patch_shape))
    for factor, given in zip(
        initial_factors(dictionary, patches, dictionary.n_atoms, generator()), dictionary.factors, strict=True
    ):
        arrays.check(factor, given)


def test_given_dictionary_of_other_sizes_is_refused(rng):
    message = (
        r"initial dictionary has patches \(3, 4\) and atoms \(5, 6\), but \(3, 4\) and \(5, 7\) are to be"
    )
    with pytest.raises(ValueError, match=message):
        initial_factors(random_dictionary(2, rng), training_patches(4, (3, 4)), (5, 7), generator())


@pytest.mark.parametrize(
    ("start", "came"),
    [
        ("zeros", "There is no file zeros, nor a shipped dictionary of that name: these are separable-8x8"),
        ("", "dictionary must be the path of a file"),
        (None, "got None"),
        (3, "got 3"),
        ([np.eye(3)], "got a list"),
        (np.eye(3), r"got an? ndarray of shape \(3, 3\)"),
    ],
)
def test_unknown_start_lists_the_known_ones(start, came):
    message = f"initial must be one of 'random', 'odct', 'data' or a dictionary. .*{came}"
    with pytest.raises(ValueError, match=message):
        Start.checked(start, 0)


def test_start_is_a_name_a_dictionary_a_file_or_a_shipped_one(tmp_path):
    dictionary = sedil.odct((3, 3), 4)
    dictionary.save(tmp_path / "d.npz")
    assert Start.checked("odct", 0).origin == "odct"
    assert Start.checked(dictionary, 0).origin is dictionary
    for path in (tmp_path / "d.npz", str(tmp_path / "d.npz")):
        assert Start.checked(path, 0).is_dictionary
        assert Start.checked(path, 0).describe() == Start.checked(dictionary, 0).describe()
    assert Start.checked("separable-8x8", 0).origin.n_atoms == (16, 16)


def test_learning_starts_from_a_file(tmp_path):
    patches, dictionary = training_patches(20, (3, 3)), sedil.odct((3, 3), 4)
    dictionary.save(tmp_path / "d.npz")
    results = [
        sedil.learn(patches, 4, initial=initial, max_iterations=3)
        for initial in (dictionary, tmp_path / "d.npz")
    ]
    np.testing.assert_array_equal(*(result.codes for result in results))
    batches = sedil.learn_minibatch(patches, 4, initial=str(tmp_path / "d.npz"))
    assert batches.dictionary.info["start"] == results[0].dictionary.info["start"]
