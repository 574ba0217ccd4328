"""Learning from real photographs, the paper's own kind of data."""

import numpy as np
import pytest

import sedil
from photographs import needs_photographs, photograph

pytestmark = [needs_photographs, pytest.mark.slow]


@pytest.fixture(scope="module")
def patches():
    images = [photograph(name) for name in ("couple", "hill", "man", "jetplane")]
    return sedil.normalize_patches(sedil.sample_patches(images, (8, 8), 4000, random_state=0))


def test_balanced_metric_gets_far_below_the_literal_one(patches):
    """With the paper's weights; benchmarks/metric.py does it with 40,000 patches and 300 iterations."""
    results = {
        metric: sedil.learn(
            patches, 16, preset="paper", metric=metric, max_iterations=150, tolerance=0, random_state=0
        )
        for metric in ("balanced", "paper")
    }
    assert results["balanced"].objective < 0.5 * results["paper"].objective
    for result in results.values():
        costs = result.history["objective"]
        assert np.all(np.isfinite(costs))
        assert np.all(costs[1:] <= np.maximum.accumulate(costs)[:-1])
        for factor in result.dictionary.factors:
            np.testing.assert_allclose(np.linalg.norm(factor, axis=0), 1, atol=1e-6)


def test_learned_dictionary_codes_unseen_images_better_than_the_odct(patches):
    learned = sedil.learn(patches, 16, max_iterations=150, random_state=0).dictionary
    others = [photograph(name) for name in ("lake", "woman_blonde")]
    held_out = sedil.normalize_patches(sedil.sample_patches(others, (8, 8), 500, random_state=1))
    assert _cost(learned, held_out) < 0.97 * _cost(sedil.odct((8, 8), 16).like(held_out), held_out)


def _cost(dictionary, patches, penalty=0.1):
    codes = sedil.sparse_code(dictionary, patches, penalty, tolerance=1e-3)
    return np.sum((dictionary.synthesize(codes) - patches) ** 2) / 2 + penalty * np.abs(codes).sum()
