import numpy as np
import pytest

from random_things import random_point, random_tangent
from sedil import spheres
from sedil.manifold import Geodesic, Point, ProductManifold, combine, negate

N = 3


def manifold(n_axes, codes_weight=1.0, factor_weight=1.0):
    return ProductManifold(codes_weight, (factor_weight,) * n_axes)


@pytest.fixture(params=[1, 2, 3, 4])
def n_axes(request):
    return request.param


def test_blocks_and_from_blocks_are_inverse(n_axes, rng):
    point = random_point(n_axes, N, rng)
    assert len(point.blocks()) == n_axes + 1
    assert Point.from_blocks(*point.blocks()) == point


def test_inner_product_is_the_weighted_sum_of_traces(n_axes, rng):
    point = random_point(n_axes, N, rng)
    left, right = random_tangent(point, rng), random_tangent(point, rng)
    expected = 5 * np.vdot(left.codes, right.codes) + sum(
        (k + 1) * np.trace(a.T @ b) for k, (a, b) in enumerate(zip(left.factors, right.factors, strict=True))
    )
    weighted = ProductManifold(5.0, tuple(float(k + 1) for k in range(n_axes)))
    assert weighted.inner(left, right) == pytest.approx(expected, abs=1e-14)


def test_inner_product_of_float32_is_summed_in_float64():
    tangent = Point(np.array([2.0**12, 1.0], np.float32), ())
    assert ProductManifold(1.0, ()).inner(tangent, tangent) == 2**24 + 1


@pytest.mark.parametrize(("codes_weight", "factor_weight"), [(1.0, 1.0), (0.01, 7.0)])
def test_gradient_represents_the_derivative_in_its_metric(n_axes, codes_weight, factor_weight, rng):
    geometry = manifold(n_axes, codes_weight, factor_weight)
    point = random_point(n_axes, N, rng)
    euclidean = Point.from_blocks(*(rng.standard_normal(block.shape) for block in point.blocks()))
    tangent = random_tangent(point, rng)
    gradient = geometry.riemannian_gradient(point, euclidean)
    derivative = manifold(n_axes).inner(euclidean, tangent)
    assert geometry.inner(gradient, tangent) == pytest.approx(derivative, rel=1e-12)
    for factor, block in zip(point.factors, gradient.factors, strict=True):
        np.testing.assert_allclose((factor * block).sum(axis=0), 0, atol=1e-13)


def test_geodesic_moves_codes_straight_and_factors_on_their_spheres(n_axes, rng):
    point = random_point(n_axes, N, rng)
    direction = random_tangent(point, rng)
    end = Geodesic(point, direction).at(0.4)
    np.testing.assert_allclose(end.codes, point.codes + 0.4 * direction.codes)
    for k in range(n_axes):
        np.testing.assert_array_equal(
            end.factors[k], spheres.geodesic(point.factors[k], direction.factors[k], 0.4)
        )


def test_transport_leaves_codes_and_carries_each_factor(n_axes, rng):
    point = random_point(n_axes, N, rng)
    direction, tangent = random_tangent(point, rng), random_tangent(point, rng)
    (carried,) = Geodesic(point, direction).carry(0.4, tangent)
    assert carried.codes is tangent.codes
    for k in range(n_axes):
        np.testing.assert_array_equal(
            carried.factors[k],
            spheres.Circles.along(point.factors[k], direction.factors[k]).carry(0.4, tangent.factors[k])[0],
        )


def test_transport_keeps_inner_products_in_any_metric(n_axes, rng):
    geometry = manifold(n_axes, 0.3, 11.0)
    point = random_point(n_axes, N, rng)
    direction, left, right = (random_tangent(point, rng) for _ in range(3))
    carried = Geodesic(point, direction).carry(1.3, left, right)
    assert geometry.inner(*carried) == pytest.approx(geometry.inner(left, right), abs=1e-14)


def test_combine_and_negate_act_block_by_block():
    left = Point(np.array([1.0, 2.0]), (np.array([[3.0]]),))
    right = Point(np.array([10.0, 20.0]), (np.array([[30.0]]),))
    assert [block.tolist() for block in combine(left, 0.1, right).blocks()] == [[2.0, 4.0], [[6.0]]]
    assert [block.tolist() for block in negate(left).blocks()] == [[-1.0, -2.0], [[-3.0]]]
