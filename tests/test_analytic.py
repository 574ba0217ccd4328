import numpy as np
import pytest

import sedil
from sedil.analytic import odct_factor


@pytest.mark.parametrize(("length", "count"), [(8, 16), (8, 8), (12, 24), (5, 3), (2, 2), (4, 1)])
def test_columns_have_unit_length_and_all_but_the_first_zero_mean(length, count):
    factor = odct_factor(length, count)
    assert factor.shape == (length, count)
    np.testing.assert_allclose((factor**2).sum(axis=0), 1, rtol=1e-14)
    np.testing.assert_allclose(factor[:, 0], length**-0.5, rtol=1e-14)
    np.testing.assert_allclose(factor[:, 1:].sum(axis=0), 0, atol=1e-14)


@pytest.mark.parametrize(("length", "count"), [(8, 16), (6, 9)])
def test_columns_are_cosines_without_their_mean(length, count):
    factor = odct_factor(length, count)
    for k in range(1, count):
        wave = np.array([np.cos(np.pi * k * i / count) for i in range(length)])
        wave -= wave.mean()
        np.testing.assert_allclose(factor[:, k], wave / np.linalg.norm(wave), atol=1e-14)


def test_odct_is_the_product_of_its_factors():
    dictionary = sedil.odct((8, 6), (16, 9))
    assert (dictionary.patch_shape, dictionary.n_atoms) == ((8, 6), (16, 9))
    np.testing.assert_array_equal(dictionary.factors[0], odct_factor(8, 16))
    np.testing.assert_array_equal(dictionary.factors[1], odct_factor(6, 9))
    assert dictionary.info == {"method": "overcomplete DCT"}
    assert dictionary.threshold == 3.05


@pytest.mark.parametrize("patch_shape", [(5,), (4, 3), (2, 3, 4), (2, 2, 3, 3)])
def test_one_number_of_atoms_serves_all_axes(patch_shape):
    assert sedil.odct(patch_shape, 2).n_atoms == (2,) * len(patch_shape)


def test_axis_of_length_one_is_refused():
    with pytest.raises(ValueError, match="An ODCT factor needs at least two points: an axis of length 1"):
        sedil.odct((8, 1), (16, 2))


@pytest.mark.parametrize(
    ("n_atoms", "message"),
    [
        ((4, 4, 4), r"n_atoms must have one number per patch axis: patches have 2 \(shape \(8, 8\)\)"),
        ((4, 0), r"n_atoms must be positive whole numbers, got \(4, 0\)"),
        (-3, "n_atoms must be positive whole numbers, got -3"),
    ],
)
def test_bad_numbers_of_atoms_are_refused(n_atoms, message):
    with pytest.raises(ValueError, match=message):
        sedil.odct((8, 8), n_atoms)


def test_bad_patch_shape_is_refused():
    with pytest.raises(ValueError, match="patch_shape must have 1 to 4 numbers, got 5"):
        sedil.odct((2,) * 5, 2)


@pytest.mark.parametrize("patch_shape", [(0, 8), (2.5, 8), (-1, 8)])
def test_lengths_that_are_not_positive_whole_numbers_are_refused(patch_shape):
    with pytest.raises(ValueError, match="patch_shape"):
        sedil.odct(patch_shape, 4)


def test_one_length_is_one_axis():
    assert sedil.odct(8, 16).patch_shape == (8,)


@pytest.mark.parametrize("patch_shape", [None, 2.5, "8x8", {8}])
def test_patch_shape_of_another_kind_is_refused(patch_shape):
    with pytest.raises(TypeError, match=r"patch_shape must be whole numbers such as \(8, 8\), got"):
        sedil.odct(patch_shape, 4)
