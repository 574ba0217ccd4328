"""The peers solve the same problem, and are left out with a sentence where they are not installed."""

import sys

import numpy as np
import pytest

import sedil
from sedil.engines.portable.l1 import LassoProblem
from sedil.imaging.quality import image_quality
from sedil_studies.bench.cases import cost_gradient
from sedil_studies.bench.setting import SIGMA, Setting, all_patches, noisy_scene
from sedil_studies.peers import packages
from sedil_studies.peers.looks import unstructured
from sedil_studies.peers.packages import SPAMS, MissingPackageError, make_installed
from sedil_studies.peers.sklearn_calls import sklearn_descent, sklearn_lars, sklearn_learn
from sedil_studies.peers.spams_calls import spams_lasso, spams_learn, spams_omp_denoise

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
    monkeypatch.setitem(sys.modules, "spams", None)
    made, sentences = make_installed({"one": lambda: 1, "OMP": SPAMS.load, "two": lambda: 2})
    assert made == {"one": 1, "two": 2}
    sentence = 'OMP is left out, as the package spams-bin is not installed: pip install "sedil[bench]".'
    assert sentences == [sentence]


def test_version_of_a_missing_package_is_an_error():
    absent = packages.Package("no-such-package", "nothing", "pip install it")
    with pytest.raises(MissingPackageError, match="no-such-package is not installed: pip install it"):
        absent.version()


def test_scikit_learn_solves_the_same_problem(task):
    exact = sklearn_lars(*task, PENALTY, threads=1)
    assert largest_gap(task, exact.T) < 1e-4
    near = sklearn_descent(*task, PENALTY, threads=1, tolerance=1e-3)
    assert 1e-8 < largest_gap(task, near.T) <= 1e-3


def test_spams_solves_the_same_problem(task):
    pytest.importorskip("spams", reason="spams-bin is not installed")
    flat, atoms = task
    codes = spams_lasso(flat.astype(np.float64), atoms, PENALTY, threads=1)
    assert largest_gap(task, codes.toarray()) < 1e-6


def test_pipeline_of_spams_denoises(scene):
    pytest.importorskip("spams", reason="spams-bin is not installed")
    atoms = sedil.odct((8, 8), (16, 16)).as_matrix().astype(np.float32)
    result = spams_omp_denoise(scene.noisy, SIGMA, atoms, threads=1)
    ours = sedil.denoise(scene.noisy, SIGMA, sedil.odct((8, 8), (16, 16)), method="pursuit")
    theirs, own = (image_quality(each, scene.clean)[0] for each in (result, ours))
    assert abs(theirs - own) < 0.5
    assert theirs > image_quality(scene.noisy, scene.clean)[0] + 5


def test_peers_learn_dictionaries():
    patches = np.random.default_rng(0).standard_normal((60, 16)).astype(np.float32)
    patches /= np.linalg.norm(patches, axis=1, keepdims=True)
    found = sklearn_learn(patches, 20, 0.1, 30, stops=(1, 4), threads=1)
    assert [look.dictionary.factors[0].shape for look in found] == [(16, 20)] * 2
    assert 0 < found[0].seconds < found[1].seconds
    assert found[1].dictionary.signal_shape == (4, 4)
    pytest.importorskip("spams", reason="spams-bin is not installed")
    assert spams_learn(patches, 20, 0.1, 30, 2, 1).dictionary.factors[0].shape == (16, 20)


def test_atoms_that_were_never_used_are_left_out():
    atoms = np.eye(4)[:, :3] * [1, 0, 2]
    assert unstructured(atoms, 2).n_atoms == (2,)


def test_all_compute_the_same_cost():
    """Fused and portable engine, and JAX where it is installed."""
    outcome = cost_gradient.run(Setting(1, quick=True))
    ours = outcome.measurements[0].figures
    assert len(outcome.measurements) + len(outcome.notes) == 3
    for each in outcome.measurements[1:]:
        assert each.figures == pytest.approx(ours, rel=1e-4)
