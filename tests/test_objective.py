from math import inf, log

import numpy as np
import pytest

from random_things import SHAPES, dense_barrier, dense_cost_terms, random_point, random_tangent, unit_columns
from sedil import objective
from sedil.arrays import unpack
from sedil.engines.portable.training import PortableTrainingSet, log_slope, sparsity
from sedil.manifold import Geodesic, Point
from sedil.objective import Objective, Weights
from taylor import assert_second_order

N = 4
WEIGHTS = {
    "data": Weights(3.0, 0.0, 0.0),
    "sparsity": Weights(20.0, 0.3, 0.0),
    "coherence": Weights(3.0, 0.0, 0.7),
    "whole": Weights(20.0, 0.3, 0.7),
}


def cost_of(patches, weights, mask=None):
    """The cost for packed patches."""
    return Objective(PortableTrainingSet(unpack(patches), None if mask is None else unpack(mask)), weights)


def random_patches(n_axes, rng):
    return rng.standard_normal((*SHAPES[n_axes][0], N))


def random_cost(n_axes, weights, rng):
    """A cost for random patches, and a random point of it."""
    return cost_of(random_patches(n_axes, rng), weights), random_point(n_axes, N, rng)


def only(tangent, block):
    """The tangent vector that moves one block: 0 is the codes, k the factor of axis k - 1."""
    return Point.from_blocks(
        *(part if k == block else np.zeros_like(part) for k, part in enumerate(tangent.blocks()))
    )


def euclidean_gradient(cost, point):
    found = cost.at(point, 1.0)[1]
    return Point(found.gradient, found.factor_gradients)


def check_gradient(cost, point, direction, gradient=None):
    """At the start of a geodesic, where a run begins, and at the end of one that led there."""
    gradient = gradient or euclidean_gradient(cost, point)
    blocks = zip(gradient.blocks(), direction.blocks(), strict=True)
    derivative = sum(float((slope * part).sum()) for slope, part in blocks)
    geodesic = Geodesic(point, direction)
    assert_second_order(lambda step: cost.along(geodesic, step).value, derivative)
    arrived = cost.gradient(cost.along(geodesic, 0.0), np.zeros_like(point.codes), 1.0)
    pairs = zip((arrived.gradient, *arrived.factor_gradients), gradient.blocks(), strict=True)
    for found, expected in pairs:
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


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
def test_taylor_test_refuses_a_gradient_that_is_off_by_one_percent_in_one_block(block, rng):
    cost, point = random_cost(2, WEIGHTS["whole"], rng)
    right = euclidean_gradient(cost, point).blocks()
    wrong = Point.from_blocks(*(part * (1.01 if k == block else 1) for k, part in enumerate(right)))
    with pytest.raises(AssertionError, match="a wrong gradient"):
        check_gradient(cost, point, only(random_tangent(point, rng), block), wrong)


@pytest.mark.parametrize("name", WEIGHTS)
@pytest.mark.parametrize("n_axes", SHAPES)
def test_terms_are_the_dense_formulas_of_equation_16(n_axes, name, rng):
    patches, point = random_patches(n_axes, rng), random_point(n_axes, N, rng)
    evaluation, _ = cost_of(patches, WEIGHTS[name]).at(point, 1.0)
    expected = dense_cost_terms(point.factors, point.codes, patches, WEIGHTS[name])
    np.testing.assert_allclose(evaluation.terms, expected, rtol=1e-12)
    assert evaluation.value == evaluation.terms.total == pytest.approx(sum(expected), rel=1e-14)


@pytest.mark.parametrize("n_axes", SHAPES)
def test_every_library_and_precision_agrees_with_numpy(n_axes, arrays, rng):
    patches, point = random_patches(n_axes, rng), random_point(n_axes, N, rng)
    own_point = Point.from_blocks(*map(arrays.make, point.blocks()))
    own, own_slope = cost_of(arrays.make(patches), WEIGHTS["whole"]).at(own_point, 0.5)
    reference, slope = cost_of(patches, WEIGHTS["whole"]).at(point, 0.5)
    np.testing.assert_allclose(own.terms, reference.terms, rtol=10 * arrays.tolerance)
    assert all(type(term) is float for term in own.terms)
    arrays.check(own_slope.gradient, slope.gradient, 10 * arrays.tolerance)
    for block, expected in zip(own_slope.factor_gradients, slope.factor_gradients, strict=True):
        arrays.check(block, expected, 10 * arrays.tolerance)


def test_sparsity_and_its_slope_on_hand_numbers():
    codes = np.array([[0.0, 1.0], [2.0, -3.0]])
    assert sparsity(codes, 2.0) == pytest.approx((log(3) + log(9) + log(19)) / 2, rel=1e-15)
    np.testing.assert_allclose(log_slope(codes, 2.0), [[0, 4 / 3], [8 / 9, -12 / 19]], rtol=1e-15)


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
    assert cost_of(patches, Weights(1.0, 0.1, 1e-9)).along(Geodesic(point, point), 0.0).value == inf
    assert cost_of(patches, Weights(1.0, 0.1, 0.0)).at(point, 1.0)[0].terms.coherence == 0


def test_gradient_at_coinciding_atoms_is_finite_where_coherence_has_no_weight():
    twice = np.array([[1.0, 1.0], [0.0, 0.0]])
    cost = cost_of(np.zeros((2, N)), Weights(1.0, 0.1, 0.0))
    gradient = euclidean_gradient(cost, Point(np.ones((2, N)), (twice,)))
    assert all(np.isfinite(block).all() for block in gradient.blocks())


def test_sums_over_float32_are_taken_in_float64():
    values = np.array([[2.0**12, 1.0]], np.float32)
    cost = cost_of(np.zeros((1, 2), np.float32), Weights(1.0, 0.0, 0.0))
    evaluation, slope = cost.at(Point(values, (np.ones((1, 1), np.float32),)), 0.5)
    assert evaluation.value == (2**24 + 1) / 4
    assert slope.new_squared == 2**24 + 1


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_axes", SHAPES)
def test_gradient_with_missing_entries_passes_the_taylor_test(n_axes, seed):
    rng = np.random.default_rng(seed)
    patches, point = random_patches(n_axes, rng), random_point(n_axes, N, rng)
    mask = rng.random(patches.shape) < 0.4
    cost = cost_of(np.where(mask, 0, patches), WEIGHTS["whole"], mask)
    check_gradient(cost, point, random_tangent(point, rng))


def test_missing_entries_do_not_count(rng):
    patches, point = random_patches(2, rng), random_point(2, N, rng)
    known = rng.random(patches.shape) < 0.6
    error = np.einsum("ia,jb,abn->ijn", *point.factors, point.codes) - patches
    masked, _ = cost_of(np.where(known, patches, 0), WEIGHTS["data"], ~known).at(point, 1.0)
    assert masked.terms.data == pytest.approx((error[known] ** 2).sum() / (2 * N))


def test_evaluations_are_counted_and_gradients_are_not(rng):
    cost, point = random_cost(2, WEIGHTS["whole"], rng)
    assert cost.n_evaluations == 0
    cost.at(point, 1.0)
    assert cost.n_evaluations == 1
    evaluation = cost.along(Geodesic(point, random_tangent(point, rng)), 0.1)
    cost.gradient(evaluation, point.codes, 1.0)
    assert cost.n_evaluations == 2


def test_evaluation_modifies_nothing(rng):
    cost, point = random_cost(3, WEIGHTS["whole"], rng)
    tangent = random_tangent(point, rng)
    for block in (*point.blocks(), *tangent.blocks()):
        block.flags.writeable = False
    cost.at(point, 1.0)
    cost.gradient(cost.along(Geodesic(point, tangent), 0.1), tangent.codes, 1.0)


@pytest.mark.parametrize("n_axes", SHAPES)
def test_products_at_the_end_of_a_geodesic_are_those_of_the_gradients(n_axes, rng):
    cost, point = random_cost(n_axes, WEIGHTS["whole"], rng)
    direction, old = random_tangent(point, rng), rng.standard_normal(point.codes.shape)
    found = cost.gradient(cost.along(Geodesic(point, direction), 0.3), old, 0.5)
    np.testing.assert_allclose(found.codes, point.codes + 0.3 * direction.codes)
    assert found.new_squared == pytest.approx((found.gradient**2).sum())
    assert found.new_dot_old == pytest.approx((found.gradient * old).sum())
    assert found.direction_dot_new == pytest.approx((found.gradient * direction.codes).sum())
