"""Statistics of codes, learned from signals that have them."""

import numpy as np
import pytest

import sedil
from random_things import random_factors
from sedil.learning.prior_learning import (
    codes_covariance,
    covariance_of,
    learn_gaussian_prior,
    learn_laplace_prior,
)


@pytest.fixture
def dictionary(rng):
    return sedil.SeparableDictionary(random_factors((4, 3), (6, 5), rng))


def signals_of(dictionary, rng, n, variances):
    codes = rng.standard_normal((n, *dictionary.n_atoms)) * np.sqrt(variances)
    return 5 + dictionary.synthesize(codes)


def test_covariance_of_independent_codes(rng, dictionary):
    variances = rng.random(dictionary.n_atoms)
    atoms = dictionary.as_matrix()
    expected = (atoms * variances.ravel()) @ atoms.T
    np.testing.assert_allclose(codes_covariance(dictionary.factors, variances), expected, atol=1e-12)


def test_gaussian_prior_explains_the_covariance(rng, dictionary):
    variances = rng.random(dictionary.n_atoms) ** 4 * 20
    signals = signals_of(dictionary, rng, 20_000, variances)
    prior = learn_gaussian_prior(dictionary, signals, 0.1, n_components=0, n_iterations=100)
    learned = codes_covariance(dictionary.factors, prior.variances)
    true = codes_covariance(dictionary.factors, variances)
    assert np.linalg.norm(learned - true) < 0.1 * np.linalg.norm(true)
    np.testing.assert_allclose(prior.mean, 5, atol=0.2)


def test_each_iteration_raises_the_likelihood(rng, dictionary):
    signals = signals_of(dictionary, rng, 500, rng.random(dictionary.n_atoms))
    rest = (signals - signals.mean(axis=0)).reshape(len(signals), -1)
    sample = rest.T @ rest / len(rest)

    def likelihood(n_iterations):
        prior = learn_gaussian_prior(dictionary, signals, 0.1, n_components=2, n_iterations=n_iterations)
        components = prior.components.reshape(2, -1)
        whole = components.T @ components + codes_covariance(dictionary.factors, prior.variances)
        whole += 0.01 * np.eye(len(whole))
        return -np.linalg.slogdet(whole)[1] - np.trace(np.linalg.solve(whole, sample))

    values = [likelihood(n) for n in range(5)]
    assert (np.diff(values) > 0).all()


def test_components_are_the_principal_ones(rng, dictionary):
    signals = rng.standard_normal((300, 4, 3)) * np.array([9, 3, 1, 1])[:, None]
    prior = learn_gaussian_prior(dictionary, signals, 1.0, n_components=3, n_iterations=0)
    lengths = np.linalg.norm(prior.components.reshape(3, -1), axis=1)
    np.testing.assert_allclose(lengths, 9, rtol=0.15)
    assert np.abs(prior.components[:, 1:]).max() < 2


def test_scales_follow_the_codes(rng, dictionary):
    variances = np.full(dictionary.n_atoms, 1e-4)
    variances[:2] = 25
    prior = learn_laplace_prior(dictionary, signals_of(dictionary, rng, 200, variances), 0.05, threads=1)
    assert prior.scales[:2].mean() > 2 * prior.scales[2:].mean()
    assert (prior.scales > 0).all()


def test_covariance_is_not_made_indefinite_by_rounding(rng):
    """Fewer rows than entries: all but a few eigenvalues are zero, and float32 would make some negative."""
    rows = (100 * rng.standard_normal((40, 1)) * np.exp(rng.standard_normal(300))).astype(np.float32)
    smallest, largest = np.linalg.eigvalsh(covariance_of(rows))[[0, -1]]
    assert smallest > -1e-13 * largest
    rounded = (rows.T @ rows / np.float32(len(rows))).astype(np.float64)
    assert np.linalg.eigvalsh(rounded)[0] < -1e-9 * largest


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"noise": 0}, "noise must be a finite positive number, got 0."),
        (
            {"noise": 1, "n_components": 12},
            "12 signals of 12 entries have at most 11 components, got n_components=12: use fewer, or more",
        ),
    ],
)
def test_mistakes(rng, dictionary, arguments, message):
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        learn_gaussian_prior(dictionary, rng.standard_normal((12, 4, 3)), **arguments)
