from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import sedil
from random_things import SHAPES, random_dictionary, random_factors, random_point
from sedil.dictionary import SeparableDictionary
from sedil.engines.contract import CodesGradient, Trial
from sedil.engines.portable.training import PortableTrainingSet
from sedil.learning import conjugate_gradient
from sedil.learning.conjugate_gradient import advance, hybrid_beta, start
from sedil.learning.line_search import LineSearch
from sedil.manifold import Geodesic, Point, ProductManifold, negate
from sedil.objective import Objective, Weights

CONSTANTS = LineSearch()


def beta(new_squared, new_dot_old, direction_dot_new, direction_dot_old):
    return hybrid_beta(
        new_squared=new_squared,
        new_dot_old=new_dot_old,
        direction_dot_new=direction_dot_new,
        direction_dot_old=direction_dot_old,
    )


@pytest.mark.parametrize(
    ("products", "expected"),
    [
        ((6.0, 2.0, 1.0, -1.0), 2.0),  # HS = 4/2 is below DY = 6/2
        ((6.0, -2.0, 1.0, -1.0), 3.0),  # HS = 8/2 is above DY = 6/2, which limits it
        ((6.0, 9.0, 1.0, -1.0), 0.0),  # HS = -3/2 is cut at zero
        ((6.0, 2.0, 1.0, 1.0), 0.0),  # denominator zero: restart
        ((6.0, 2.0, -3.0, -1.0), 0.0),  # denominator negative: HS = -2, DY = -3
        ((0.0, 0.0, 1.0, -1.0), 0.0),  # gradient zero
        ((6.0, 0.0, 1.0, -2.0), 2.0),  # HS = DY
    ],
)
def test_hybrid_beta_on_hand_numbers(products, expected):
    assert beta(*products) == expected


def test_hybrid_beta_is_equation_33_for_vectors(rng):
    for _ in range(100):
        new, old, direction = rng.standard_normal((3, 4))
        z = new - old
        hs, dy = new @ z / (direction @ z), new @ new / (direction @ z)
        found = beta(new @ new, new @ old, direction @ new, direction @ old)
        assert found == pytest.approx(max(0, min(hs, dy)), rel=1e-10)


def cost_and_manifold(n_axes, rng, n=8, weights=None):
    patches = PortableTrainingSet(rng.standard_normal((n, *SHAPES[n_axes][0])))
    return Objective(patches, weights or Weights(5.0, 0.1, 0.05)), ProductManifold(1 / n, (1.0,) * n_axes)


def inner(geometry, left, right):
    """Eq. (24) for whole tangent vectors."""
    return geometry.inner(np.vdot(left.codes, right.codes), left.factors, right.factors)


def value_and_gradient(cost, geometry, point):
    """The cost and its Riemannian gradient."""
    evaluation, found = cost.at(point, geometry.codes_weight)
    slopes = geometry.gradient_of_factors(point.factors, found.factor_gradients)
    return evaluation.value, Point(found.gradient, slopes)


@pytest.mark.parametrize("n_axes", SHAPES)
def test_start_has_the_negative_gradient_as_direction_and_the_cost_as_reference(n_axes, rng):
    cost, geometry = cost_and_manifold(n_axes, rng)
    point = random_point(n_axes, 8, rng)
    state = start(cost, geometry, point)
    assert state.reference == (value_and_gradient(cost, geometry, point)[0], 1.0)
    assert state.gradient_norm**2 == pytest.approx(inner(geometry, state.gradient, state.gradient))
    for d, g in zip(state.direction.blocks(), state.gradient.blocks(), strict=True):
        np.testing.assert_array_equal(d, -g)


@pytest.mark.parametrize("n_axes", SHAPES)
def test_one_iteration_follows_algorithm_2_line_by_line(n_axes, rng):
    cost, geometry = cost_and_manifold(n_axes, rng)
    old = start(cost, geometry, random_point(n_axes, 8, rng))
    for _ in range(3):
        new = advance(cost, geometry, old, CONSTANTS)
        slope = inner(geometry, old.gradient, old.direction)
        assert slope < 0
        geodesic = Geodesic(old.point, old.direction)
        codes = old.point.codes + new.step_size * old.direction.codes
        reached = Point(codes, geodesic.factors_at(new.step_size))
        value, gradient = value_and_gradient(cost, geometry, reached)
        assert new.terms.total == pytest.approx(value, rel=1e-14)
        assert value <= old.reference.value + CONSTANTS.c2 * new.step_size * slope

        factors = geodesic.carry(new.step_size, old.direction.factors, old.gradient.factors)
        direction, last = (
            Point(tangent.codes, own)
            for tangent, own in zip((old.direction, old.gradient), factors, strict=True)
        )
        z = Point.from_blocks(*(a - b for a, b in zip(gradient.blocks(), last.blocks(), strict=True)))
        hs = inner(geometry, gradient, z) / inner(geometry, direction, z)
        dy = inner(geometry, gradient, gradient) / inner(geometry, direction, z)
        weight = max(0, min(hs, dy))
        for block, g, h in zip(new.direction.blocks(), gradient.blocks(), direction.blocks(), strict=True):
            np.testing.assert_allclose(block, -g + weight * h, atol=1e-10)
        assert new.reference == old.reference.including(value, CONSTANTS.eta)
        assert new.iteration == old.iteration + 1
        old = new


@pytest.mark.parametrize("n_axes", SHAPES)
def test_gradient_and_direction_are_tangent_after_many_iterations(n_axes, rng):
    cost, geometry = cost_and_manifold(n_axes, rng)
    state = start(cost, geometry, random_point(n_axes, 8, rng))
    for _ in range(50):
        state = advance(cost, geometry, state, CONSTANTS)
    for factor, gradient, direction in zip(
        state.point.factors, state.gradient.factors, state.direction.factors, strict=True
    ):
        np.testing.assert_allclose((factor**2).sum(axis=0), 1, atol=1e-12)
        np.testing.assert_allclose((factor * gradient).sum(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose((factor * direction).sum(axis=0), 0, atol=1e-12)


def test_direction_that_climbs_is_replaced_by_steepest_descent(rng):
    cost, geometry = cost_and_manifold(2, rng)
    fresh = start(cost, geometry, random_point(2, 8, rng))
    climbing = replace(fresh, direction=fresh.gradient, slope=-fresh.slope)
    restarted, straight = (advance(cost, geometry, state, CONSTANTS) for state in (climbing, fresh))
    for name in ("point", "direction"):
        blocks = getattr(restarted, name).blocks(), getattr(straight, name).blocks()
        for found, expected in zip(*blocks, strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-12)


def test_direction_that_brings_no_progress_is_replaced_by_steepest_descent(rng, monkeypatch):
    cost, geometry = cost_and_manifold(2, rng)
    fresh = start(cost, geometry, random_point(2, 8, rng))
    slopes = []
    original = conjugate_gradient.search

    def search(evaluate, reference, slope, first_size, constants):
        slopes.append(slope)
        return None if len(slopes) == 1 else original(evaluate, reference, slope, first_size, constants)

    monkeypatch.setattr(conjugate_gradient, "search", search)
    state = advance(cost, geometry, fresh, CONSTANTS)
    assert slopes[1:] == [pytest.approx(-(fresh.gradient_norm**2))]
    assert state.terms.total < fresh.terms.total


def test_no_progress_in_any_direction_gives_none(rng, monkeypatch):
    cost, geometry = cost_and_manifold(2, rng)
    fresh = start(cost, geometry, random_point(2, 8, rng))
    monkeypatch.setattr(conjugate_gradient, "search", lambda *arguments: None)
    assert advance(cost, geometry, fresh, CONSTANTS) is None


def test_zero_gradient_gives_none():
    eye = np.eye(2)
    cost = Objective(PortableTrainingSet(np.ones((3, 2))), Weights(1.0, 0.0, 0.0))
    state = start(cost, ProductManifold(1.0, (1.0,)), Point(np.ones((2, 3)), (eye,)))
    assert state.gradient_norm == 0
    assert advance(cost, ProductManifold(1.0, (1.0,)), state, CONSTANTS) is None


def test_convex_problem_is_solved(rng):
    """A quadratic of condition number 100 in the codes alone."""
    target = rng.standard_normal((6, 1))
    cost = Objective(Quadratic(np.logspace(0, -1, 6), target), Weights(1.0, 0.0, 0.0))
    geometry = ProductManifold(1.0, ())
    state = start(cost, geometry, Point(np.zeros((6, 1)), ()))
    for _ in range(400):
        state = advance(cost, geometry, state, CONSTANTS) or state
    np.testing.assert_allclose(state.point.codes, target, atol=1e-5)


class Quadratic:
    """1/2 sum (scale (x - target))^2, in the place of an engine's patches; there are no factors."""

    def __init__(self, scales, target):
        self.scales, self.target = scales[:, None], target

    def cost_along(self, factors, codes, direction, step, penalty):
        codes = codes + step * direction
        error = self.scales * (codes - self.target)
        return Trial(0.5 * float((error**2).sum()), 0.0, (codes, direction, error))

    def gradient_after(self, trial, gradient, penalty, codes_weight):
        codes, direction, error = trial.memory
        new = self.scales * error / codes_weight
        return CodesGradient(codes, new, (), *(np.vdot(new, other) for other in (new, gradient, direction)))

    def cost_and_gradient(self, factors, codes, penalty, codes_weight, spare):
        trial = self.cost_along(factors, codes, 0 * codes, 0.0, penalty)
        return trial, self.gradient_after(trial, 0 * codes, penalty, codes_weight)

    def turn(self, gradient, direction, beta):
        return beta * direction - gradient


@pytest.mark.parametrize("n_axes", SHAPES)
def test_cost_falls_to_a_stationary_point(n_axes, rng):
    cost, geometry = cost_and_manifold(n_axes, rng)
    state = first = start(cost, geometry, random_point(n_axes, 8, rng))
    for _ in range(1500):
        if state.gradient_norm < 1e-7 * first.gradient_norm:
            break
        state = advance(cost, geometry, state, CONSTANTS)
    assert state.gradient_norm < 1e-7 * first.gradient_norm
    assert state.terms.total < 0.5 * first.terms.total


def test_negated_start_is_as_good(rng):
    """The cost does not see the signs of codes and atoms, so neither may the run."""
    cost, geometry = cost_and_manifold(1, rng)
    point = random_point(1, 8, rng)
    one, other = start(cost, geometry, point), start(cost, geometry, negate(point))
    for _ in range(10):
        one, other = (advance(cost, geometry, state, CONSTANTS) for state in (one, other))
    assert one.terms == pytest.approx(other.terms, rel=1e-10)
    np.testing.assert_allclose(one.point.codes, -other.point.codes, atol=1e-9)


# Against pymanopt

SEEDS = [0, 2, 4, 5]
WEIGHTS = {"sparsity_scale": 0.3, "sparsity_weight": 0.5, "coherence_weight": 1.0}


def pymanopt_problem(patches, sizes):
    """Eq. (16) on pymanopt's manifold, with the gradients of autograd."""
    pymanopt = pytest.importorskip("pymanopt", reason="pymanopt is not installed: no comparison with it")
    anp = pytest.importorskip("autograd.numpy", reason="autograd is not installed: no comparison")
    rho, lam, kappa = WEIGHTS.values()
    n = patches.shape[0]
    codes_shape, *factor_shapes = sizes
    blocks = [pymanopt.manifolds.Oblique(*shape) for shape in factor_shapes]
    manifold = pymanopt.manifolds.Product([pymanopt.manifolds.Euclidean(*codes_shape), *blocks])

    @pymanopt.function.autograd(manifold)
    def cost(codes, a, b):
        error = anp.einsum("hi,nij,wj->nhw", a, codes, b) - patches
        value = anp.sum(error**2) / (2 * n) + lam / n * anp.sum(anp.log(1 + rho * codes**2))
        for factor in (a, b):
            off_diagonal = anp.dot(factor.T, factor) * (1 - anp.eye(factor.shape[1]))
            value = value - kappa / 2 * anp.sum(anp.log(1 - off_diagonal**2))
        return value

    return pymanopt.Problem(manifold, cost)


@cache
def learned(seed):
    """A tiny problem: patches, the point that learning starts from, and what is learned."""
    rng = np.random.default_rng(seed)
    patches = rng.standard_normal((6, 3, 3))
    first = SeparableDictionary(random_factors((3, 3), (4, 4), rng))
    settings = WEIGHTS | {"initial": first, "tolerance": 0, "gradient_tolerance": 1e-9}
    settings |= {"dtype": "float64"}
    start, end = (sedil.learn(patches, (4, 4), max_iterations=count, **settings) for count in (0, 8000))
    return patches, [start.codes, *start.dictionary.factors], end


@pytest.mark.parametrize("seed", SEEDS)
def test_minimum_is_that_of_pymanopt_from_the_same_start(seed):
    patches, start_point, result = learned(seed)
    problem = pymanopt_problem(patches, [block.shape for block in start_point])
    from pymanopt.optimizers import ConjugateGradient

    optimizer = ConjugateGradient(
        verbosity=0, max_iterations=2000, min_gradient_norm=1e-8, min_step_size=1e-14
    )
    other = optimizer.run(problem, initial_point=start_point)
    assert result.objective == pytest.approx(other.cost, rel=1e-6)
    for mine, theirs in zip(result.dictionary.factors, other.point[1:], strict=True):
        np.testing.assert_allclose(abs(mine.T @ theirs).max(axis=1), 1, atol=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_pymanopt_agrees_on_the_cost_and_that_the_gradient_vanishes(seed):
    patches, start_point, result = learned(seed)
    problem = pymanopt_problem(patches, [block.shape for block in start_point])
    end_point = [result.codes, *result.dictionary.factors]
    assert problem.cost(end_point) == pytest.approx(result.objective, rel=1e-13)
    lengths = [
        problem.manifold.norm(point, problem.riemannian_gradient(point)) for point in (start_point, end_point)
    ]
    assert lengths[1] < 1e-6 * lengths[0]


def test_one_axis_agrees_with_the_general_code(rng):
    """A second factor of one row and one atom changes nothing: the paper's B = 1."""
    dictionary = random_dictionary(1, rng)
    patches = rng.standard_normal((10, 5))
    settings = WEIGHTS | {"max_iterations": 20, "metric": "paper", "dtype": "float64"}
    flat = sedil.learn(patches, 7, initial=dictionary, **settings)
    with_one = SeparableDictionary([dictionary.factors[0], np.ones((1, 1))])
    deep = sedil.learn(patches[:, :, None], (7, 1), initial=with_one, **settings)
    np.testing.assert_allclose(deep.dictionary.factors[0], flat.dictionary.factors[0], atol=1e-9)
    np.testing.assert_allclose(deep.codes[..., 0], flat.codes, atol=1e-9)
