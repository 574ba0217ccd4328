"""Checks of what is passed in: they find what is wrong wherever it is, and cost next to nothing."""

import tracemalloc

import numpy as np
import pytest

from sedil import checks


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [(0, 0), (1, 2), (2, 3)])
def test_one_bad_value_is_found_and_named(arrays, value, place):
    values = np.linspace(-1, 1, 12).reshape(3, 4)
    values[place] = value
    with pytest.raises(
        ValueError, match=rf"^it must be finite, got 1 NaN .* \(the first at index \({place[0]}, "
    ):
        checks.require_finite(arrays.make(values), "it")


def test_bad_values_are_counted(arrays):
    values = np.array([[1.0, np.inf], [-np.inf, np.nan]])
    with pytest.raises(ValueError, match=r"got 3 NaN or infinite values \(the first at index \(0, 1\)\)"):
        checks.require_finite(arrays.make(values), "it")


@pytest.mark.parametrize("values", [np.zeros((0, 3)), np.arange(6), np.array([3e38, -3e38])])
def test_finite_values_pass(arrays, values):
    checks.require_finite(arrays.make(values), "it")


def test_finite_values_take_no_memory():
    values = np.ones(1_000_000)
    checks.require_finite(values, "it")  # imports
    tracemalloc.start()
    checks.require_finite(values, "it")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < values.nbytes / 100


# Masks


def test_masks_are_of_the_library_and_shape_of_the_data(arrays):
    data = arrays.make(np.zeros((2, 3)))
    mask = arrays.xp.asarray(np.eye(2, 3, dtype=bool))
    assert checks.require_mask(mask, data) is mask
    from_list = checks.require_mask([[True, False, False], [False, True, False]], data)
    assert arrays.xp.all(from_list == mask)
    assert type(from_list) is type(mask)
    shared = arrays.xp.asarray(np.ones(3, dtype=bool))
    assert checks.require_mask(shared, data, (3,)) is shared


@pytest.mark.parametrize(
    ("mask", "error", "message"),
    [
        (np.zeros((2, 3)), TypeError, "holes must be boolean, True where data is missing, got dtype float64"),
        (np.zeros((2, 3), np.uint8), TypeError, "got dtype uint8: use holes != 0"),
        (None, TypeError, "holes must be boolean, True where data is missing, got dtype object"),
        (np.zeros((3, 2), bool), ValueError, r"the shape of the data, \(2, 3\) or \(3,\), got \(3, 2\)"),
        (True, ValueError, r"holes must have the shape of the data, \(2, 3\) or \(3,\), got \(\)"),
        (
            np.ma.MaskedArray([True]),
            TypeError,
            r"holes is a masked array: .* for example holes\.filled\(True\)",
        ),
    ],
)
def test_bad_masks_are_refused(mask, error, message):
    with pytest.raises(error, match=message):
        checks.require_mask(mask, np.zeros((2, 3)), (3,), name="holes")


# Precision


def test_numpy_arrays_are_computed_on_in_float32_and_others_in_their_own_precision(arrays):
    values = arrays.make([1.0, 2.0])
    own = "float32" if isinstance(values, np.ndarray) else arrays.precision
    working = checks.as_working_array(values, "it", None)
    assert working.dtype == getattr(arrays.xp, own)
    assert checks.floating_dtype(values) == arrays.precision
    for dtype in checks.PRECISIONS:
        assert checks.as_working_array(values, "it", dtype).dtype == getattr(arrays.xp, dtype)


@pytest.mark.parametrize("values", [[1, 2], np.arange(3), np.ones(2, np.float16)])
def test_results_of_other_types_are_as_they_were_computed(values):
    assert checks.as_working_array(values, "it", None).dtype == np.float32
    assert checks.floating_dtype(values) == "float32"


def test_no_copy_is_made_of_what_fits():
    values = np.ones(3, np.float32)
    assert np.shares_memory(checks.as_working_array(values, "it", None), values)


def test_ragged_mask_is_refused_in_words():
    with pytest.raises(ValueError, match="mask must be one rectangular array of True and False"):
        checks.require_mask([[True], [True, False]], np.zeros((2, 2)))
