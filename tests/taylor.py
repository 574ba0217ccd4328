"""The Taylor test: with a right gradient the error of the linear model falls with the square of the step."""

import numpy as np

STEPS = np.logspace(-3, -5, 9)


def remainder_slope(value_along, derivative):
    """Slope of ``ln |f(t) - f(0) - t f'(0)|`` over ln t; 2 for the right derivative, near 1 for a wrong one.

    Parameters
    ----------
    value_along : the function t -> f at the point reached after t.
    derivative : the claimed derivative of it at 0.
    """
    start = value_along(0.0)
    errors = [abs(value_along(step) - start - step * derivative) for step in STEPS]
    return np.polyfit(np.log(STEPS), np.log(errors), 1)[0]


def assert_second_order(value_along, derivative):
    slope = remainder_slope(value_along, derivative)
    assert abs(slope - 2) <= 0.05, f"slope {slope:.3f} of the Taylor remainder, not 2: a wrong gradient"
