import numpy as np
import pytest

import sedil
from random_things import planted, training_patches
from sedil.engines.portable.training import PortableTrainingSet
from sedil.manifold import Point
from sedil.objective import Objective, Weights
from sedil_studies.measures.held_out_cost import held_out_terms

WEIGHTS = Weights(10.0, 0.1, 1e-3)


def test_no_other_codes_nearby_are_cheaper(rng):
    """With a penalty that is nearly quadratic the codes have one minimum, found here by linear algebra."""
    dictionary = sedil.odct((3, 4), (4, 5))
    patches = training_patches(30, (3, 4))
    weights = Weights(1e-6, 0.1 / 1e-6, 0.0)  # 0.1 x^2
    matrix = dictionary.as_matrix()
    gram = matrix.T @ matrix + 0.2 * np.eye(20)
    codes = np.linalg.solve(gram, matrix.T @ patches.reshape(30, -1).T)
    cost = Objective(PortableTrainingSet(patches), weights)
    exact = cost.at(Point(codes.reshape(4, 5, 30), dictionary.factors), 1.0)[0].value
    found = held_out_terms(dictionary, patches, weights, max_iterations=500).total
    assert found == pytest.approx(exact, rel=1e-6)


def test_factors_stay_and_cost_falls(rng):
    dictionary = sedil.odct((4, 4), (6, 6))
    before = [factor.copy() for factor in dictionary.factors]
    patches = training_patches(50, (4, 4))
    costs = [held_out_terms(dictionary, patches, WEIGHTS, max_iterations=n).total for n in (0, 5, 50)]
    assert costs[0] > costs[1] > costs[2]
    for factor, old in zip(dictionary.factors, before, strict=True):
        np.testing.assert_array_equal(factor, old)


def test_dictionary_that_made_the_patches_is_better_than_another(rng):
    true, patches = planted(200, (4, 4), (6, 6), 2, rng)
    other = sedil.odct((4, 4), (6, 6))
    costs = [held_out_terms(each, patches, WEIGHTS).total for each in (true, other)]
    assert costs[0] < 0.8 * costs[1]


def test_engines_agree():
    dictionary = sedil.odct((4, 4), (6, 6))
    patches = training_patches(70, (4, 4)).astype(np.float32)
    fused, portable = (
        held_out_terms(dictionary, patches, WEIGHTS, engine=engine, max_iterations=5)
        for engine in ("fused", "portable")
    )
    np.testing.assert_allclose(fused, portable, rtol=1e-3)


def test_patches_of_another_shape_are_refused():
    with pytest.raises(ValueError, match=r"must have shape \(\.\.\., 4, 4\) for this dictionary"):
        held_out_terms(sedil.odct((4, 4), (6, 6)), np.ones((3, 5, 4)), WEIGHTS)
