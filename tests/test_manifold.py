import numpy as np
import pytest

from random_things import random_point, random_tangent
from sedil import spheres
from sedil.manifold import Geodesic, Point, ProductManifold, negate

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
    found = weighted.inner(np.vdot(left.codes, right.codes), left.factors, right.factors)
    assert found == pytest.approx(expected, abs=1e-14)


def test_inner_product_of_float32_is_summed_in_float64():
    factor = np.array([[2.0**12, 1.0]], np.float32)
    assert ProductManifold(1.0, (1.0,)).inner(0.0, [factor], [factor]) == 2**24 + 1


@pytest.mark.parametrize(("codes_weight", "factor_weight"), [(1.0, 1.0), (0.01, 7.0)])
def test_gradient_represents_the_derivative_in_its_metric(n_axes, codes_weight, factor_weight, rng):
    geometry = manifold(n_axes, codes_weight, factor_weight)
    point = random_point(n_axes, N, rng)
    euclidean = [rng.standard_normal(factor.shape) for factor in point.factors]
    tangent = random_tangent(point, rng).factors
    gradient = geometry.gradient_of_factors(point.factors, euclidean)
    derivative = manifold(n_axes).inner(0.0, euclidean, tangent)
    assert geometry.inner(0.0, gradient, tangent) == pytest.approx(derivative, rel=1e-12)
    for factor, block in zip(point.factors, gradient, strict=True):
        np.testing.assert_allclose((factor * block).sum(axis=0), 0, atol=1e-13)


def test_geodesic_moves_factors_on_their_spheres(n_axes, rng):
    point = random_point(n_axes, N, rng)
    direction = random_tangent(point, rng)
    end = Geodesic(point, direction).factors_at(0.4)
    for k in range(n_axes):
        np.testing.assert_array_equal(end[k], spheres.geodesic(point.factors[k], direction.factors[k], 0.4))


def test_transport_carries_each_factor(n_axes, rng):
    point = random_point(n_axes, N, rng)
    direction, tangent = random_tangent(point, rng), random_tangent(point, rng)
    (carried,) = Geodesic(point, direction).carry(0.4, tangent.factors)
    for k in range(n_axes):
        np.testing.assert_array_equal(
            carried[k],
            spheres.Circles.along(point.factors[k], direction.factors[k]).carry(0.4, tangent.factors[k])[0],
        )


def test_transport_keeps_inner_products_in_any_metric(n_axes, rng):
    geometry = manifold(n_axes, 0.3, 11.0)
    point = random_point(n_axes, N, rng)
    direction, left, right = (random_tangent(point, rng) for _ in range(3))
    carried = Geodesic(point, direction).carry(1.3, left.factors, right.factors)
    before = geometry.inner(0.0, left.factors, right.factors)
    assert geometry.inner(0.0, *carried) == pytest.approx(before, abs=1e-14)


def test_negate_acts_block_by_block():
    point = Point(np.array([1.0, 2.0]), (np.array([[3.0]]),))
    assert [block.tolist() for block in negate(point).blocks()] == [[-1.0, -2.0], [[-3.0]]]
