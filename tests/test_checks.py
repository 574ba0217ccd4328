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
