"""The solvers of the portable engine, called by themselves."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import sedil
from random_things import SHAPES, random_dictionary, training_patches, unit_columns
from sedil.arrays import pack
from sedil.engines.contract import Effort, PursuitCoding
from sedil.engines.portable.l1 import FISTA_CHECK, LassoProblem, admm, fista, refit
from sedil.engines.portable.omp import pursuit


def test_admm_takes_fewer_iterations_than_fista_for_large_penalties():
    dictionary = sedil.odct((8, 8), 16)
    problem = LassoProblem(dictionary.factors, pack(training_patches(50, (8, 8))), 3.0)
    effort = Effort(1e-4, 2000)
    assert admm(problem, effort).n_iterations < 0.7 * fista(problem, effort).n_iterations


@pytest.mark.parametrize("n_axes", SHAPES)
def test_warm_start_at_the_solution_is_done_at_the_first_look(n_axes):
    dictionary = random_dictionary(n_axes, np.random.default_rng(n_axes))
    patches = training_patches(12, dictionary.patch_shape, seed=1)
    problem = LassoProblem(dictionary.factors, pack(patches), 0.3)
    # smaller than asked for below: FISTA may lose a little at first
    cold = fista(problem, Effort(1e-8, 10000))
    warm = fista(problem, Effort(1e-6, 10000), initial=cold.codes)
    assert cold.n_iterations > FISTA_CHECK
    assert warm.n_iterations == FISTA_CHECK
    assert_allclose(warm.codes, cold.codes, atol=1e-2)


def test_refit_survives_dependent_atoms_and_many_iterations(rng):
    """Supports larger than the patch: in float32 plain conjugate gradients end far too large."""
    factors = [factor.astype(np.float32) for factor in sedil.odct((12, 12), 24).factors]
    patches = 10 * np.cumsum(rng.standard_normal((12, 12, 60)), axis=0).astype(np.float32)
    problem = LassoProblem(factors, patches, 1.0)
    support = (rng.random((24, 24, 60)) < 0.5).astype(np.float32)
    codes = refit(problem, support, max_iterations=400)
    lengths = [np.linalg.norm(array, axis=(0, 1)) for array in (problem.residual(codes), patches)]
    assert np.all(lengths[0] <= 1.001 * lengths[1])


def test_pursuit_with_room_for_more_atoms_than_there_are_takes_each_once(rng):
    factors = [unit_columns((8, 2), rng)]
    patches = rng.standard_normal((8, 5))
    expected, *_ = np.linalg.lstsq(factors[0], patches, rcond=None)
    assert_allclose(pursuit(factors, patches, PursuitCoding(1e-6, 4)), expected, atol=1e-10)
