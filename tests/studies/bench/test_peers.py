"""The peers solve the same problem, and are left out with a sentence where they are not installed."""

import numpy as np
import pytest

import sedil
from sedil.engines.portable.lasso import LassoProblem
from sedil.imaging.quality import image_quality
from sedil_studies.bench import cost, peers
from sedil_studies.bench.setting import SIGMA, Setting, all_patches, noisy_scene

PENALTY = 30.0


@pytest.fixture(scope="module")
def scene():
    return noisy_scene(Setting(1, quick=True))


@pytest.fixture(scope="module")
def task(scene):
    """Flat patches, and an unstructured dictionary."""
    patches = all_patches(scene.noisy, 8)[::37]
    return patches.reshape(len(patches), -1), sedil.odct((8, 8), (16, 16)).as_matrix()


def largest_gap(task, codes):
    flat, atoms = task
    problem = LassoProblem([atoms], flat.T.astype(np.float64), PENALTY)
    return problem.relative_gap(np.asarray(codes, np.float64)).max()


def test_missing_package_is_left_out_with_a_sentence(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "spams", None)
    made, sentences = peers.installed([lambda: 1, peers.spams_version, lambda: 2])
    assert made == [1, 2]
    assert sentences == ['spams-bin is left out, as it is not installed: pip install "sedil[bench]".']


def test_scikit_learn_solves_the_same_problem(task):
    exact = peers.sklearn_lars(*task, PENALTY, threads=1)
    assert largest_gap(task, exact.T) < 1e-4
    near = peers.sklearn_descent(*task, PENALTY, threads=1, tolerance=1e-3)
    assert 1e-8 < largest_gap(task, near.T) <= 1e-3


def test_spams_solves_the_same_problem(task):
    pytest.importorskip("spams", reason="spams-bin is not installed")
    flat, atoms = task
    codes = peers.spams_lasso(flat.astype(np.float64), atoms, PENALTY, threads=1)
    assert largest_gap(task, codes.toarray()) < 1e-6


def test_pipeline_of_spams_denoises(scene):
    pytest.importorskip("spams", reason="spams-bin is not installed")
    atoms = sedil.odct((8, 8), (16, 16)).as_matrix().astype(np.float32)
    result = peers.spams_omp_denoise(scene.noisy, SIGMA, atoms, threads=1)
    ours = sedil.denoise(scene.noisy, SIGMA, sedil.odct((8, 8), (16, 16)), method="pursuit")
    theirs, own = (image_quality(each, scene.clean)[0] for each in (result, ours))
    assert abs(theirs - own) < 0.5
    assert theirs > image_quality(scene.noisy, scene.clean)[0] + 5


def test_peers_learn_dictionaries():
    patches = np.random.default_rng(0).standard_normal((60, 16)).astype(np.float32)
    patches /= np.linalg.norm(patches, axis=1, keepdims=True)
    found = peers.sklearn_learn(patches, 20, 0.1, 30, stops=(1, 4), threads=1)
    assert [look.atoms.shape for look in found] == [(16, 20)] * 2
    assert 0 < found[0].seconds < found[1].seconds
    dictionary = peers.unstructured(found[1].atoms, 4)
    assert dictionary.info["signal_shape"] == [4, 4]
    pytest.importorskip("spams", reason="spams-bin is not installed")
    assert peers.spams_learn(patches, 20, 0.1, 30, 2, 1).atoms.shape == (16, 20)


def test_atoms_that_were_never_used_are_left_out():
    atoms = np.eye(4)[:, :3] * [1, 0, 2]
    assert peers.unstructured(atoms, 2).n_atoms == (2,)


def test_all_compute_the_same_cost():
    """Fused and portable engine, and JAX where it is installed."""
    outcome = cost.run(Setting(1, quick=True))
    ours = outcome.measurements[0].figures
    assert len(outcome.measurements) + len(outcome.notes) == 3
    for each in outcome.measurements[1:]:
        assert each.figures == pytest.approx(ours, rel=1e-4)
