import math

import pytest

from taylor import assert_second_order, remainder_slope


def test_right_derivative_has_slope_two():
    assert_second_order(math.exp, 1.0)


@pytest.mark.parametrize("wrong", [0.0, -1.0, 1.01, 0.99, 1.001])
def test_wrong_derivative_is_refused(wrong):
    with pytest.raises(AssertionError, match="a wrong gradient"):
        assert_second_order(math.exp, wrong)


def test_grossly_wrong_derivative_has_slope_one():
    assert remainder_slope(math.exp, 3.0) == pytest.approx(1, abs=0.01)
