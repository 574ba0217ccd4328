"""Gaussian codes: the conditional mean against the dense formula."""

import numpy as np
import pytest

import sedil
from random_things import random_factors
from sedil.coding.prior import GaussianPrior, LaplacePrior, conditional_mean
from sedil.engines.contract import Effort

EXACT = Effort(1e-10, 500)


def make_prior(rng, dictionary, n_components, noise=0.3):
    return GaussianPrior(
        mean=rng.standard_normal(dictionary.patch_shape),
        components=rng.standard_normal((n_components, *dictionary.patch_shape)),
        variances=rng.random(dictionary.n_atoms) + 0.1,
        noise=noise,
    )


def dense_mean(dictionary, prior, rest, missing):
    """The textbook formula with the full covariance."""
    atoms = dictionary.as_matrix()
    components = prior.components.reshape(-1, prior.mean.size)
    covariance = components.T @ components + (atoms * prior.variances.ravel()) @ atoms.T
    known = ~missing.ravel()
    inner = covariance[np.ix_(known, known)] + prior.noise**2 * np.eye(known.sum())
    return (covariance[:, known] @ np.linalg.solve(inner, rest.ravel()[known])).reshape(rest.shape)


@pytest.mark.parametrize("n_components", [0, 3])
@pytest.mark.parametrize("shared", [True, False])
def test_conditional_mean_is_that_of_the_full_covariance(rng, n_components, shared):
    dictionary = sedil.SeparableDictionary(random_factors((5, 4), (7, 6), rng))
    prior = make_prior(rng, dictionary, n_components)
    rest, missing = rng.standard_normal((3, 5, 4)), rng.random((3, 5, 4)) < 0.4
    if shared:
        missing = np.broadcast_to(missing[0], missing.shape)
    rest = np.where(missing, 0, rest)
    known = (~missing[:1] if shared else ~missing).astype(float)
    found = conditional_mean(dictionary.factors, prior, rest, known, EXACT)
    for k in range(len(rest)):
        np.testing.assert_allclose(found[k], dense_mean(dictionary, prior, rest[k], missing[k]), atol=1e-7)


def test_each_signal_is_solved_on_its_own(rng):
    dictionary = sedil.SeparableDictionary(random_factors((5, 4), (7, 6), rng))
    prior = make_prior(rng, dictionary, 2)
    rest = rng.standard_normal((4, 5, 4)) * np.array([1, 1e3, 0, 1])[:, None, None]
    known = np.ones_like(rest)
    together = conditional_mean(dictionary.factors, prior, rest, known, Effort(1e-3, 50))
    alone = conditional_mean(dictionary.factors, prior, rest[:1], known[:1], Effort(1e-3, 50))
    np.testing.assert_allclose(together[:1], alone, rtol=1e-5)
    assert np.isfinite(together).all()
    assert not together[2].any()


def test_numbers_stored_are_counted(rng):
    dictionary = sedil.SeparableDictionary(random_factors((5, 4), (7, 6), rng))
    assert make_prior(rng, dictionary, 3).n_numbers == 20 + 3 * 20 + 42 + 1
    assert LaplacePrior(np.zeros((5, 4)), np.ones((7, 6)), 1.0).n_numbers == 20 + 42 + 1
