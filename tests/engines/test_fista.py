from math import sqrt

import numpy as np
import pytest

from random_things import SHAPES, dense, random_factors
from sedil.engines.contract import Effort
from sedil.engines.portable import l1
from sedil.engines.portable.l1 import LassoProblem, soft_threshold, squared_norm

N = 6
GOLDEN = (1 + sqrt(5)) / 2


def problem(n_axes, seed=0):
    rng = np.random.default_rng(seed)
    patch_shape, n_atoms = SHAPES[n_axes]
    return random_factors(patch_shape, n_atoms, rng), rng.standard_normal((*patch_shape, N))


def fista(factors, patches, penalty, tolerance, max_iterations):
    return l1.fista(LassoProblem(factors, patches, penalty), Effort(tolerance, max_iterations))


def relative_gap(factors, patches, codes, penalty):
    return LassoProblem(factors, patches, penalty).relative_gap(codes)


def columns(packed):
    return packed.reshape(-1, packed.shape[-1])


def dense_gap(matrix, sample, code, penalty):
    """Primal minus dual cost of the lasso, with the residual scaled to be feasible as the dual point."""
    residual = sample - matrix @ code
    primal = 0.5 * residual @ residual + penalty * abs(code).sum()
    feasible = residual * min(1, penalty / abs(matrix.T @ residual).max())
    dual = 0.5 * sample @ sample - 0.5 * (sample - feasible) @ (sample - feasible)
    return primal - dual


@pytest.mark.parametrize("penalty", [0.05, 0.5])
@pytest.mark.parametrize("n_axes", SHAPES)
def test_returned_codes_are_optimal_by_an_independent_duality_gap(n_axes, penalty):
    factors, patches = problem(n_axes)
    result = fista(factors, patches, penalty, 1e-8, 20_000)
    matrix, samples, codes = dense(factors), columns(patches), columns(result.codes)
    for sample, code, reported in zip(samples.T, codes.T, result.relative_gap, strict=True):
        gap = dense_gap(matrix, sample, code, penalty) / (0.5 * sample @ sample)
        assert gap <= 1.001e-8
        assert reported == pytest.approx(gap, abs=1e-13)


@pytest.mark.parametrize("n_axes", SHAPES)
def test_returned_codes_satisfy_the_lasso_conditions(n_axes):
    """At the optimum D'(s - Dx) is penalty * sign(x) where x is not zero, and at most penalty elsewhere."""
    factors, patches = problem(n_axes)
    penalty = 0.3
    codes = columns(fista(factors, patches, penalty, 1e-13, 100_000).codes)
    correlation = dense(factors).T @ (columns(patches) - dense(factors) @ codes)
    active = codes != 0
    assert 0 < active.sum() < codes.size
    np.testing.assert_allclose(correlation[active], penalty * np.sign(codes[active]), atol=1e-5)
    assert abs(correlation[~active]).max() <= penalty + 1e-5


@pytest.mark.parametrize("tolerance", [1e-2, 1e-4, 1e-6])
def test_tolerance_is_kept_by_every_sample(tolerance):
    factors, patches = problem(2)
    result = fista(factors, patches, 0.1, tolerance, 20_000)
    assert (result.relative_gap <= tolerance).all()
    recomputed = relative_gap(factors, patches, result.codes, 0.1)
    np.testing.assert_allclose(result.relative_gap, recomputed, atol=1e-14)


@pytest.mark.parametrize("max_iterations", [1, 7, 10, 25])
def test_too_few_iterations_return_what_there_is_with_an_honest_gap(max_iterations):
    factors, patches = problem(2)
    result = fista(factors, patches, 0.01, 1e-12, max_iterations)
    assert result.n_iterations == max_iterations
    assert result.codes.shape == (*SHAPES[2][1], N)
    assert (result.relative_gap > 1e-12).all()
    gaps = relative_gap(factors, patches, result.codes, 0.01)
    np.testing.assert_allclose(result.relative_gap, gaps, rtol=1e-12)


@pytest.mark.parametrize("chosen", [[0], [3], [5, 1], [4, 0, 2]])
def test_code_of_a_sample_does_not_depend_on_the_others(chosen):
    factors, patches = problem(2)
    patches = patches * np.logspace(-1, 1, N)  # samples that need different numbers of iterations
    together = fista(factors, patches, 0.1, 1e-6, 5000)
    apart = fista(factors, patches[..., chosen], 0.1, 1e-6, 5000)
    np.testing.assert_allclose(apart.codes, together.codes[..., chosen], atol=1e-12)


def test_samples_come_back_in_their_order_though_they_finish_at_different_times():
    factors, patches = problem(2)
    patches = patches * np.array([5.0, 0.0, 1.0, 1e-3, 20.0, 0.3])
    result = fista(factors, patches, 0.1, 1e-6, 5000)
    error = columns(patches) - dense(factors) @ columns(result.codes)
    correlation = abs(dense(factors).T @ error).max(axis=0)
    assert (correlation <= 0.1 * 1.05).all()
    assert not result.codes[..., [1, 3]].any()


def plain_fista(matrix, sample, penalty, step, n_iterations):
    """FISTA of Beck and Teboulle, without restarts, with the momentum written out: t_1 = 1."""
    moments = [1.0, GOLDEN, (1 + sqrt(1 + 4 * GOLDEN**2)) / 2]
    old = ahead = np.zeros(matrix.shape[1])
    for k in range(n_iterations):
        value = ahead - step * matrix.T @ (matrix @ ahead - sample)
        new = np.sign(value) * np.maximum(abs(value) - step * penalty, 0)
        weight = (moments[k] - 1) / moments[k + 1] if k + 1 < len(moments) else 0.0
        old, ahead = new, new + weight * (new - old)
    return old


@pytest.mark.parametrize("n_iterations", [1, 2, 3])
def test_first_iterations_are_those_of_beck_and_teboulle(n_iterations):
    factors, patches = problem(1)
    step = 1 / squared_norm(factors)
    codes = fista(factors, patches, 0.05, 1e-15, n_iterations).codes
    for sample, code in zip(patches.T, codes.T, strict=True):
        expected = plain_fista(factors[0], sample, 0.05, step, n_iterations)
        np.testing.assert_allclose(code, expected, atol=1e-14)


def test_third_iteration_uses_the_momentum_0_2817(monkeypatch):
    """(t_2 - 1) / t_3 with t_2 = (1 + sqrt 5) / 2; with a step of 1 the code of one atom follows it."""
    assert (GOLDEN - 1) / ((1 + sqrt(1 + 4 * GOLDEN**2)) / 2) == pytest.approx(0.281753, abs=1e-6)
    monkeypatch.setattr(l1, "squared_norm", lambda factors: 10.0)
    factor, sample, penalty, step = np.ones((1, 1)), np.ones((1, 1)), 1e-9, 0.1
    first = step * (1 - penalty)
    second = first + step * (1 - first - penalty)
    ahead = second + 0.2817535 * (second - first)
    third = ahead + step * (1 - ahead - penalty)
    codes = [fista([factor], sample, penalty, 1e-15, k).codes.item() for k in (1, 2, 3)]
    assert codes == pytest.approx([first, second, third], abs=1e-8)


def test_soft_threshold_is_the_minimum_over_a_grid():
    grid = np.linspace(-4, 4, 80_001)
    for value in (-3.0, -1.2, -0.5, 0.0, 0.3, 0.7, 2.5):
        for threshold in (0.1, 0.7, 1.2):
            best = grid[np.argmin(0.5 * (grid - value) ** 2 + threshold * abs(grid))]
            assert soft_threshold(np.array(value), threshold) == pytest.approx(best, abs=1e-4)


def test_soft_threshold_on_hand_numbers(arrays):
    values = arrays.make([-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0])
    arrays.check(soft_threshold(values, 1.0), [-2, 0, 0, 0, 0, 0, 2])


def test_zero_patch_has_the_zero_code_and_no_gap():
    factors, patches = problem(2)
    patches[..., 2] = 0
    result = fista(factors, patches, 0.1, 1e-6, 1000)
    assert not result.codes[..., 2].any()
    assert result.relative_gap[2] == 0


@pytest.mark.parametrize("n_axes", SHAPES)
def test_penalty_above_the_largest_correlation_gives_zero_and_one_below_does_not(n_axes):
    factors, patches = problem(n_axes)
    largest = abs(dense(factors).T @ columns(patches)).max()
    assert not fista(factors, patches, largest * 1.0001, 1e-9, 1000).codes.any()
    assert fista(factors, patches, largest * 0.99, 1e-9, 1000).codes.any()


@pytest.mark.parametrize("n_axes", SHAPES)
def test_squared_norm_is_that_of_the_dense_matrix_and_never_less(n_axes):
    factors, _ = problem(n_axes)
    exact = np.linalg.norm(dense(factors), 2) ** 2
    assert exact <= squared_norm(factors) <= exact * 1.001


def test_no_sample_is_lost_where_the_gap_overflows():
    factors, patches = problem(1)
    patches[:, 2] *= 1e25
    with np.errstate(over="ignore", invalid="ignore"):
        result = fista(
            [factor.astype(np.float32) for factor in factors], patches.astype(np.float32), 0.1, 1e-4, 20
        )
    assert result.codes.shape == (7, N)
    assert result.relative_gap.shape == (N,)


@pytest.mark.parametrize("n_axes", SHAPES)
def test_every_library_and_precision_agrees_with_numpy(n_axes, arrays):
    factors, patches = problem(n_axes)
    own = fista([*map(arrays.make, factors)], arrays.make(patches), 0.2, 1e-5, 500)
    reference = fista(factors, patches, 0.2, 1e-5, 500)
    arrays.check(own.codes, reference.codes, 1e-10 if arrays.precision == "float64" else 1e-2)
    assert own.relative_gap.dtype == arrays.dtype
