from math import inf, nan
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sedil.learning.line_search import LineSearch, Reference, Step, initial_size, next_size, search

DEFAULTS = LineSearch()


class Curve:
    """A cost along a geodesic that records which step lengths were asked for."""

    def __init__(self, function):
        self.function = function
        self.tried = []

    def __call__(self, size):
        self.tried.append(size)
        return SimpleNamespace(value=self.function(size))


def parabola(size):
    """Cost 5 and slope -4 at the start, minimum 3 at size 1."""
    return 5 - 4 * size + 2 * size**2


@pytest.mark.parametrize("first_size", [0.1, 1.0, 3.0, 100.0])
@pytest.mark.parametrize("constants", [DEFAULTS, LineSearch(0.9, 0.4, 0.0), LineSearch(0.1, 1e-3, 1.0)])
def test_accepted_step_satisfies_the_condition_of_algorithm_1(first_size, constants):
    curve = Curve(parabola)
    step = search(curve, 5.0, -4.0, first_size, constants)
    assert step.evaluation.value == parabola(step.size)
    assert step.evaluation.value <= 5.0 - constants.c2 * step.size * 4.0
    assert step.size == curve.tried[-1]


def test_longest_acceptable_step_of_the_geometric_sequence_is_taken():
    curve = Curve(parabola)
    step = search(curve, 5.0, -4.0, 8.0, LineSearch(0.5, 0.25, 0.0))
    assert curve.tried == [8, 4, 2, 1]
    assert step.size == 1


def test_first_size_is_accepted_where_it_can_be():
    curve = Curve(parabola)
    assert search(curve, 5.0, -4.0, 1.5, DEFAULTS).size == 1.5
    assert curve.tried == [1.5]


def test_reference_above_the_last_cost_lets_the_cost_rise():
    rising = 2.2
    assert parabola(rising) > 5
    assert search(Curve(parabola), 6.0, -4.0, rising, DEFAULTS).size == rising
    assert search(Curve(parabola), 5.0, -4.0, rising, DEFAULTS).size < rising


@pytest.mark.parametrize("beyond", [inf, nan, -inf])
def test_cost_that_is_not_finite_is_never_accepted(beyond):
    curve = Curve(lambda size: beyond if size > 0.3 else parabola(size))
    step = search(curve, 5.0, -4.0, 1.0, DEFAULTS)
    assert step.size == 0.25
    assert curve.tried == [1.0, 0.5, 0.25]


@pytest.mark.parametrize("value", [inf, nan, 6.0])
def test_search_gives_up_after_a_bounded_number_of_trials(value):
    curve = Curve(lambda size: value)
    assert search(curve, 5.0, -4.0, 1.0, DEFAULTS) is None
    assert curve.tried[-1] == pytest.approx(0.5 ** len(curve.tried) * 2)
    assert 1e-17 < curve.tried[-1] < 1e-15


def test_reference_follows_the_recursion_of_algorithm_1():
    """By hand, eta = 0.5, C = 10, Q = 1: Q = 1.5, C = (5 + 4)/1.5; then Q = 1.75, C = (4.5 + 1)/1.75."""
    first = Reference(10.0)
    assert first == (10.0, 1.0)
    second = first.including(4.0, 0.5)
    assert second == (6.0, 1.5)
    third = second.including(1.0, 0.5)
    assert third == pytest.approx((5.5 / 1.75, 1.75), rel=1e-15)


COSTS = st.lists(st.floats(0, 100), min_size=1, max_size=8)


@given(costs=COSTS, eta=st.floats(0, 1))
def test_reference_stays_between_the_smallest_and_the_largest_cost(costs, eta):
    reference = Reference(costs[0])
    for cost in costs[1:]:
        reference = reference.including(cost, eta)
    assert min(costs) - 1e-9 <= reference.value <= max(costs) + 1e-9


@given(costs=COSTS)
def test_memory_zero_keeps_the_last_cost_and_memory_one_the_mean(costs):
    forgetful = remembering = Reference(costs[0])
    for cost in costs[1:]:
        forgetful, remembering = forgetful.including(cost, 0.0), remembering.including(cost, 1.0)
    assert forgetful.value == costs[-1]
    assert remembering.value == pytest.approx(sum(costs) / len(costs), abs=1e-9)
    assert remembering.weight == len(costs)


def test_first_step_goes_where_the_tangent_reaches_zero():
    assert initial_size(6.0, -3.0) == 2.0


@pytest.mark.parametrize("size", [0.6, 1.0, 1.9])
def test_next_size_is_the_minimum_of_a_quadratic(size):
    step = Step(size, SimpleNamespace(value=parabola(size)))
    assert next_size(step, 5.0, -4.0) == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize(("size", "expected"), [(0.01, 0.02), (10.0, 5.0)])
def test_next_size_changes_by_a_factor_of_two_at_most(size, expected):
    step = Step(size, SimpleNamespace(value=parabola(size)))
    assert next_size(step, 5.0, -4.0) == pytest.approx(expected)


@pytest.mark.parametrize("value", [5 - 4 * 0.5, 1.0, -7.0], ids=["on the tangent", "below", "far below"])
def test_next_size_doubles_where_the_cost_does_not_bend_upwards(value):
    assert next_size(Step(0.5, SimpleNamespace(value=value)), 5.0, -4.0) == 1.0


@pytest.mark.parametrize("constants", [DEFAULTS, LineSearch(0.99, 0.49, 0), LineSearch(0.01, 1e-9, 1)])
def test_constants_in_range_are_accepted(constants):
    assert constants.checked() == constants


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("c1", 0, "c1 must be strictly between 0 and 1, got 0"),
        ("c1", 1.0, "c1 must be strictly between 0 and 1, got 1.0"),
        ("c1", "half", "c1 must be strictly between 0 and 1, got 'half'"),
        ("c2", 0.0, "c2 must be strictly between 0 and 0.5, got 0.0"),
        ("c2", 0.5, "c2 must be strictly between 0 and 0.5, got 0.5"),
        ("c2", nan, "c2 must be strictly between 0 and 0.5, got nan"),
        ("eta", -0.1, r"eta must be from 0 to 1 \(ends included\), got -0.1"),
        ("eta", 1.1, r"eta must be from 0 to 1 \(ends included\), got 1.1"),
        ("eta", None, r"eta must be from 0 to 1 \(ends included\), got None"),
    ],
)
def test_constants_out_of_range_are_named(name, value, message):
    with pytest.raises(ValueError, match=message):
        DEFAULTS._replace(**{name: value}).checked()
