from math import inf, log

import numpy as np
import pytest

from random_things import SHAPES, dense_barrier, dense_cost_terms, random_point, random_tangent, unit_columns
from sedil import objective
from sedil.manifold import Geodesic, Point, ProductManifold
from sedil.objective import Objective, Weights
from taylor import assert_second_order

N = 4
WEIGHTS = {
    "data": Weights(3.0, 0.0, 0.0),
    "sparsity": Weights(20.0, 0.3, 0.0),
    "coherence": Weights(3.0, 0.0, 0.7),
    "whole": Weights(20.0, 0.3, 0.7),
}


def random_cost(n_axes, weights, rng):
    """A cost for random patches, and a random point of it."""
    patches = rng.standard_normal((*SHAPES[n_axes][0], N))
    return Objective(patches, weights), random_point(n_axes, N, rng)


def only(tangent, block):
    """The tangent vector that moves one block: 0 is the codes, k the factor of axis k - 1."""
    return Point.from_blocks(
        *(part if k == block else np.zeros_like(part) for k, part in enumerate(tangent.blocks()))
    )


def check_gradient(cost, point, direction):
    geometry = ProductManifold(1.0, (1.0,) * len(point.factors))
    derivative = geometry.inner(cost.at(point).gradient(), direction)
    assert_second_order(lambda step: cost.at(Geodesic(point, direction).at(step)).value, derivative)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["data", "sparsity", "whole"])
@pytest.mark.parametrize("n_axes", SHAPES)
def test_gradient_in_the_codes_passes_the_taylor_test(n_axes, name, seed):
    rng = np.random.default_rng(seed)
    cost, point = random_cost(n_axes, WEIGHTS[name], rng)
    check_gradient(cost, point, only(random_tangent(point, rng), 0))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["data", "coherence", "whole"])
@pytest.mark.parametrize(("n_axes", "axis"), [(n, k) for n in SHAPES for k in range(n)])
def test_gradient_in_each_factor_passes_the_taylor_test(n_axes, axis, name, seed):
    rng = np.random.default_rng(seed)
    cost, point = random_cost(n_axes, WEIGHTS[name], rng)
    check_gradient(cost, point, only(random_tangent(point, rng), axis + 1))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", WEIGHTS)
@pytest.mark.parametrize("n_axes", SHAPES)
def test_gradient_in_everything_at_once_passes_the_taylor_test(n_axes, name, seed):
    rng = np.random.default_rng(seed)
    cost, point = random_cost(n_axes, WEIGHTS[name], rng)
    check_gradient(cost, point, random_tangent(point, rng))


@pytest.mark.parametrize("block", [0, 1, 2])
def test_taylor_test_refuses_a_gradient_that_is_off_by_one_percent_in_one_block(block, rng, monkeypatch):
    cost, point = random_cost(2, WEIGHTS["whole"], rng)
    right = cost.at(point).gradient().blocks()
    wrong = Point.from_blocks(*(part * (1.01 if k == block else 1) for k, part in enumerate(right)))
    monkeypatch.setattr(objective.Evaluation, "gradient", lambda self: wrong)
    with pytest.raises(AssertionError, match="a wrong gradient"):
        check_gradient(cost, point, only(random_tangent(point, rng), block))


@pytest.mark.parametrize("name", WEIGHTS)
@pytest.mark.parametrize("n_axes", SHAPES)
def test_terms_are_the_dense_formulas_of_equation_16(n_axes, name, rng):
    cost, point = random_cost(n_axes, WEIGHTS[name], rng)
    evaluation = cost.at(point)
    expected = dense_cost_terms(point.factors, point.codes, cost.patches, WEIGHTS[name])
    np.testing.assert_allclose(evaluation.terms, expected, rtol=1e-12)
    assert evaluation.value == evaluation.terms.total == pytest.approx(sum(expected), rel=1e-14)


@pytest.mark.parametrize("n_axes", SHAPES)
def test_every_library_and_precision_agrees_with_numpy(n_axes, arrays, rng):
    cost, point = random_cost(n_axes, WEIGHTS["whole"], rng)
    own_point = Point.from_blocks(*map(arrays.make, point.blocks()))
    own = Objective(arrays.make(cost.patches), cost.weights).at(own_point)
    reference = cost.at(point)
    np.testing.assert_allclose(own.terms, reference.terms, rtol=10 * arrays.tolerance)
    assert all(type(term) is float for term in own.terms)
    for block, expected in zip(own.gradient().blocks(), reference.gradient().blocks(), strict=True):
        arrays.check(block, expected, 10 * arrays.tolerance)


def test_sparsity_and_its_slope_on_hand_numbers():
    codes = np.array([[0.0, 1.0], [2.0, -3.0]])
    assert objective.sparsity(codes, 2.0) == pytest.approx((log(3) + log(9) + log(19)) / 2, rel=1e-15)
    np.testing.assert_allclose(objective.log_slope(codes, 2.0), [[0, 4 / 3], [8 / 9, -12 / 19]], rtol=1e-15)


def test_coherence_and_its_gradient_on_hand_numbers():
    factor = np.array([[1.0, 0.6], [0.0, 0.8]])
    assert objective.coherence(factor) == pytest.approx(-log(1 - 0.36), rel=1e-14)
    slope = 2 * 0.6 / (1 - 0.36)
    np.testing.assert_allclose(objective.coherence_gradient(factor), slope * factor[:, ::-1], rtol=1e-14)
    assert objective.mutual_coherence(factor) == pytest.approx(0.6, rel=1e-15)


def test_total_coherence_is_the_sum_over_the_factors(rng):
    factors = [unit_columns((4, 6), rng), unit_columns((3, 3), rng), unit_columns((5, 1), rng)]
    expected = sum(dense_barrier(factor) for factor in factors)
    assert objective.total_coherence(factors) == pytest.approx(expected, rel=1e-12)


def test_single_atom_and_orthogonal_atoms_have_no_coherence():
    assert objective.coherence(np.array([[1.0], [0.0]])) == 0
    assert objective.coherence(np.eye(3)) == 0
    assert objective.mutual_coherence(np.array([[1.0], [0.0]])) == 0


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("sign", [1, -1])
def test_coherence_is_infinite_once_two_atoms_coincide(sign, seed, arrays):
    """In float32 too, where the length of a column is 1 only to 6e-8."""
    factor = unit_columns((8, 3), np.random.default_rng(seed))
    factor[:, 2] = sign * factor[:, 0]
    assert objective.coherence(arrays.make(factor)) == inf
    assert 1 - 1e-6 <= objective.mutual_coherence(arrays.make(factor)) <= 1


@pytest.mark.parametrize("angle", [1e-8, 1e-9])
def test_coherence_is_infinite_for_atoms_that_float64_cannot_tell_apart(angle):
    assert objective.coherence(np.array([[1.0, np.cos(angle)], [0.0, np.sin(angle)]])) == inf


def test_coherence_is_finite_for_atoms_that_are_merely_close():
    angle = 1e-5
    factor = np.array([[1.0, np.cos(angle)], [0.0, np.sin(angle)]])
    assert objective.coherence(factor) == pytest.approx(-2 * log(angle), rel=1e-6)


def test_cost_is_infinite_at_coinciding_atoms_unless_coherence_has_no_weight():
    twice = np.array([[1.0, 1.0], [0.0, 0.0]])
    point = Point(np.ones((2, N)), (twice,))
    patches = np.zeros((2, N))
    assert Objective(patches, Weights(1.0, 0.1, 1e-9)).at(point).value == inf
    assert Objective(patches, Weights(1.0, 0.1, 0.0)).at(point).terms.coherence == 0


def test_gradient_at_coinciding_atoms_is_finite_where_coherence_has_no_weight():
    twice = np.array([[1.0, 1.0], [0.0, 0.0]])
    cost = Objective(np.zeros((2, N)), Weights(1.0, 0.1, 0.0))
    gradient = cost.at(Point(np.ones((2, N)), (twice,))).gradient()
    assert all(np.isfinite(block).all() for block in gradient.blocks())


def test_sums_over_float32_are_taken_in_float64():
    values = np.array([[2.0**12, 1.0]], np.float32)
    cost = Objective(np.zeros((1, 2), np.float32), Weights(1.0, 0.0, 0.0))
    assert cost.at(Point(values, (np.ones((1, 1), np.float32),))).value == (2**24 + 1) / 4


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_axes", SHAPES)
def test_gradient_with_missing_entries_passes_the_taylor_test(n_axes, seed):
    rng = np.random.default_rng(seed)
    cost, point = random_cost(n_axes, WEIGHTS["whole"], rng)
    cost.known = (rng.random(cost.patches.shape) < 0.6).astype(float)
    check_gradient(cost, point, random_tangent(point, rng))


def test_missing_entries_do_not_count(rng):
    cost, point = random_cost(2, WEIGHTS["data"], rng)
    known = rng.random(cost.patches.shape) < 0.6
    error = np.einsum("ia,jb,abn->ijn", *point.factors, point.codes) - cost.patches
    masked = Objective(np.where(known, cost.patches, 0), cost.weights, known.astype(float)).at(point)
    assert masked.terms.data == pytest.approx((error[known] ** 2).sum() / (2 * N))


def test_evaluations_are_counted_and_gradients_are_not(rng):
    cost, point = random_cost(2, WEIGHTS["whole"], rng)
    assert cost.n_evaluations == 0
    evaluation = cost.at(point)
    evaluation.gradient()
    evaluation.gradient()
    assert cost.n_evaluations == 1
    cost.at(point)
    assert cost.n_evaluations == 2


def test_evaluation_modifies_nothing(rng):
    cost, point = random_cost(3, WEIGHTS["whole"], rng)
    for block in (*point.blocks(), cost.patches):
        block.flags.writeable = False
    cost.at(point).gradient()
