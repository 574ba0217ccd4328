import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_things import unit_columns
from sedil import spheres

SHAPE = (5, 4)
SEEDS = st.integers(0, 2**32 - 1)
STEPS = st.floats(-10, 10)


def column_dots(left, right):
    return (left * right).sum(axis=0)


def transport(tangent, point, direction, step):
    return spheres.Circles.along(point, direction).carry(step, tangent)[0]


def point_and_tangents(seed, count=1, shape=SHAPE):
    rng = np.random.default_rng(seed)
    point = unit_columns(shape, rng)
    return point, *(spheres.project(point, rng.standard_normal(shape)) for _ in range(count))


@pytest.mark.parametrize("shape", [(5, 4), (2, 9), (1, 3), (7, 1)])
def test_random_point_is_on_the_manifold(shape, rng):
    point = spheres.random_point(shape, rng)
    assert point.shape == shape
    assert spheres.explain_violation(point, tolerance=1e-14) is None


def test_random_points_are_uniform_on_the_sphere(rng):
    columns = spheres.random_point((3, 20_000), rng)
    np.testing.assert_allclose(columns @ columns.T / 20_000, np.eye(3) / 3, atol=0.01)
    np.testing.assert_allclose(columns.mean(axis=1), 0, atol=0.02)


@given(seed=SEEDS)
def test_projection_is_tangent_and_idempotent(seed):
    point, tangent = point_and_tangents(seed)
    np.testing.assert_allclose(column_dots(point, tangent), 0, atol=1e-14)
    np.testing.assert_allclose(spheres.project(point, tangent), tangent, atol=1e-14)


@given(seed=SEEDS)
def test_projection_is_orthogonal(seed):
    point, tangent = point_and_tangents(seed)
    matrix = np.random.default_rng([seed, 1]).standard_normal(SHAPE)
    removed = matrix - spheres.project(point, matrix)
    np.testing.assert_allclose(column_dots(removed, tangent), 0, atol=1e-13)


@given(seed=SEEDS, step=STEPS)
def test_geodesic_stays_on_the_manifold(seed, step):
    point, direction = point_and_tangents(seed)
    assert spheres.explain_violation(spheres.geodesic(point, direction, step), tolerance=1e-14) is None


@given(seed=SEEDS, step=st.floats(-3, 3))
def test_geodesic_is_the_great_circle_of_equation_25(seed, step):
    point, direction = point_and_tangents(seed)
    for column, (d, h) in enumerate(zip(point.T, direction.T, strict=True)):
        speed = np.linalg.norm(h)
        expected = d * np.cos(step * speed) + h * np.sin(step * speed) / speed
        reached = spheres.geodesic(point, direction, step)[:, column]
        np.testing.assert_allclose(reached, expected, atol=1e-13)


def test_geodesic_starts_at_the_point_with_the_velocity_of_the_direction():
    point, direction = point_and_tangents(3)
    np.testing.assert_allclose(spheres.geodesic(point, direction, 0.0), point, atol=1e-15)
    tiny = 1e-6
    ahead, behind = spheres.geodesic(point, direction, tiny), spheres.geodesic(point, direction, -tiny)
    np.testing.assert_allclose((ahead - behind) / (2 * tiny), direction, atol=1e-9)


def test_column_without_speed_stays_and_keeps_what_is_carried():
    point, direction, tangent = point_and_tangents(4, count=2)
    direction[:, 1] = 0
    np.testing.assert_allclose(spheres.geodesic(point, direction, 2.5)[:, 1], point[:, 1], atol=1e-15)
    assert np.array_equal(transport(tangent, point, direction, 2.5)[:, 1], tangent[:, 1])


def test_opposite_point_is_reached_after_half_a_turn():
    point, direction = point_and_tangents(5, shape=(3, 1))
    half_turn = np.pi / np.linalg.norm(direction)
    np.testing.assert_allclose(spheres.geodesic(point, direction, half_turn), -point, atol=1e-14)


@given(seed=SEEDS, step=STEPS)
def test_transport_is_tangent_at_the_end_and_keeps_inner_products(seed, step):
    point, direction, first, second = point_and_tangents(seed, count=3)
    end = spheres.geodesic(point, direction, step)
    carried = [transport(tangent, point, direction, step) for tangent in (first, second)]
    for tangent in carried:
        np.testing.assert_allclose(column_dots(end, tangent), 0, atol=1e-13)
    np.testing.assert_allclose(column_dots(*carried), column_dots(first, second), atol=1e-12)


@given(seed=SEEDS, step=st.floats(-3, 3))
def test_transport_of_the_direction_is_the_velocity_at_the_end(seed, step):
    point, direction = point_and_tangents(seed)
    tiny = 1e-6
    ahead = spheres.geodesic(point, direction, step + tiny)
    behind = spheres.geodesic(point, direction, step - tiny)
    velocity = (ahead - behind) / (2 * tiny)
    np.testing.assert_allclose(transport(direction, point, direction, step), velocity, atol=1e-8)


def test_transport_leaves_what_is_orthogonal_to_the_direction():
    point, direction, tangent = point_and_tangents(6, count=2)
    unit = direction / np.linalg.norm(direction, axis=0)
    sideways = tangent - unit * column_dots(unit, tangent)
    np.testing.assert_allclose(transport(sideways, point, direction, 1.7), sideways, atol=1e-14)


@pytest.mark.parametrize("step", [0.3, 0.001])
@pytest.mark.parametrize("turning", [False, True], ids=["along one great circle", "turning at every step"])
def test_norms_and_tangency_hold_to_1e_12_after_10_000_steps(turning, step, rng):
    point, direction, carried = point_and_tangents(7, count=2)
    lengths = column_dots(carried, carried)
    for _ in range(10_000):
        end = spheres.geodesic(point, direction, step)
        carried = transport(carried, point, direction, step)
        direction = transport(direction, point, direction, step)
        point = end
        if turning:
            direction = spheres.project(point, rng.standard_normal(SHAPE))
    assert spheres.explain_violation(point, tolerance=1e-12) is None
    np.testing.assert_allclose(column_dots(point, carried), 0, atol=1e-12)
    np.testing.assert_allclose(column_dots(point, direction), 0, atol=1e-12)
    np.testing.assert_allclose(column_dots(carried, carried), lengths, rtol=1e-11)


def test_rounding_of_float32_does_not_build_up_over_10_000_small_steps():
    """Long steps correct the norm by themselves, small ones do not."""
    point, direction = (array.astype(np.float32) for array in point_and_tangents(7))
    for _ in range(10_000):
        end = spheres.geodesic(point, direction, 0.001)
        direction = transport(direction, point, direction, 0.001)
        point = end
    assert spheres.explain_violation(point, tolerance=2e-7) is None
    np.testing.assert_allclose(column_dots(point, direction), 0, atol=2e-5)


@pytest.mark.parametrize(
    ("matrix", "why"),
    [
        (np.ones(3), "a factor is a matrix, got 1 axes"),
        (np.ones((2, 2, 2)), "a factor is a matrix, got 3 axes"),
        (np.array([[1.0, np.nan], [0.0, 1.0]]), "it contains NaN or infinite entries"),
        (np.array([[1.0, np.inf], [0.0, 1.0]]), "it contains NaN or infinite entries"),
        (np.array([[1.0, 2.0], [0.0, 0.0]]), "column 1 has length 2, not 1"),
        (np.array([[0.5, 1.0], [0.0, 0.0]]), "column 0 has length 0.5, not 1"),
    ],
)
def test_explain_violation_says_why(matrix, why):
    assert spheres.explain_violation(matrix) == why


def test_explain_violation_is_silent_on_the_manifold_and_obeys_its_tolerance():
    assert spheres.explain_violation(np.eye(3)) is None
    off = np.eye(3) * (1 + 1e-4)
    assert spheres.explain_violation(off, tolerance=1e-3) is None
    assert "length 1.0001" in spheres.explain_violation(off)


@given(SEEDS, st.floats(0, 1))
def test_direction_to_leads_to_the_end_by_the_shorter_way(seed, share):
    point, direction = point_and_tangents(seed)
    direction *= 3.1 / np.linalg.norm(direction, axis=0).max()  # less than half a turn
    end = spheres.geodesic(point, direction, share)
    np.testing.assert_allclose(spheres.direction_to(point, end), share * direction, atol=1e-10)


def test_direction_to_itself_and_to_the_opposite_is_zero():
    point = np.eye(3)
    np.testing.assert_array_equal(spheres.direction_to(point, point), 0)
    np.testing.assert_array_equal(spheres.direction_to(point, -point), 0)


def test_every_library_and_precision_agrees_with_numpy(arrays):
    point, direction, tangent = point_and_tangents(8, count=2)
    direction[:, 2] = 0
    own_point, own_direction, own_tangent = map(arrays.make, (point, direction, tangent))
    arrays.check(spheres.normalize(3 * own_point), point)
    arrays.check(spheres.project(own_point, own_tangent), tangent)
    arrays.check(spheres.geodesic(own_point, own_direction, 0.7), spheres.geodesic(point, direction, 0.7))
    arrays.check(
        transport(own_tangent, own_point, own_direction, 0.7),
        transport(tangent, point, direction, 0.7),
    )
    end = spheres.geodesic(point, direction, 0.7)
    arrays.check(spheres.direction_to(own_point, arrays.make(end)), spheres.direction_to(point, end))
    assert spheres.explain_violation(own_point) is None
    assert "has length 2, not 1" in spheres.explain_violation(2 * own_point)
