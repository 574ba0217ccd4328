import numpy as np
import pytest

import sedil
from sedil_studies.peers import ksvd, packages
from sedil_studies.pretrained.recipes import RECIPES, training_patches
from sedil_studies.table1.methods import Materials, make_methods


@pytest.fixture
def fake(monkeypatch):
    """The number of times that something was learned, without dictlearn."""
    learned = []

    def learn(patches, show):
        assert patches.shape[1] == 64
        learned.append(len(patches))
        atoms = np.random.default_rng(0).standard_normal((64, 256))
        return sedil.SeparableDictionary([atoms], normalize=True, signal_shape=(8, 8))

    monkeypatch.setattr(packages, "version", lambda package: "1.0")
    monkeypatch.setattr(ksvd, "learn_ksvd", learn)
    return learned


def test_dictionary_is_learned_once_and_kept(fake, tmp_path):
    first = ksvd.ksvd_dictionary(tmp_path)
    again = ksvd.ksvd_dictionary(tmp_path)
    assert len(fake) == 1
    np.testing.assert_array_equal(first.factors[0], again.factors[0])


def test_it_is_trained_on_the_patches_of_the_unstructured_dictionary(fake, tmp_path):
    ksvd.ksvd_dictionary(tmp_path)
    assert fake == [len(training_patches(RECIPES["unstructured-8x8"]))]


@pytest.mark.parametrize("change", ["N_COEFFICIENTS", "N_ITERATIONS"])
def test_another_recipe_is_learned_anew(fake, tmp_path, monkeypatch, change):
    ksvd.ksvd_dictionary(tmp_path)
    monkeypatch.setattr(ksvd, change, 3)
    ksvd.ksvd_dictionary(tmp_path)
    assert len(fake) == 2


def test_ksvd_is_prepared_before_it_denoises(fake, tmp_path, monkeypatch):
    method = make_methods(["ksvd"], Materials(tmp_path, 1))[0]["ksvd"]
    denoise = method.ready()
    assert (tmp_path / ksvd.FILE).exists()
    denoise(np.zeros((9, 9)) + np.arange(9.0), 1)
    assert len(fake) == 1
    assert "coefficients 6, iterations" in method.settings
    assert method.package == "dictlearn 1.0"


@pytest.fixture
def dictlearn():
    return pytest.importorskip("dictlearn", reason='dictlearn is not installed: pip install "sedil[bench]"')


def test_ksvd_fits_the_patches_better_than_it_began(dictlearn, monkeypatch):
    monkeypatch.setattr(ksvd, "N_ITERATIONS", 3)
    patches = training_patches(RECIPES["unstructured-8x8"])[:1500]
    told = []
    dictionary = ksvd.learn_ksvd(patches, lambda *what: told.append(what))
    assert (dictionary.patch_shape, dictionary.n_atoms) == ((64,), (256,))
    assert dictionary.signal_shape == (8, 8)
    assert told == [(done, 4, "learning K-SVD, once") for done in range(4)]
    first = ksvd.first_atoms()
    codes = dictlearn.sparse_encode(patches, first, algorithm="omp", n_nonzero_coefs=ksvd.N_COEFFICIENTS)
    began = np.sqrt(np.mean((codes @ first - patches) ** 2))
    assert dictionary.info["error"] < 0.9 * began
    assert sedil.denoise(np.zeros((9, 9)) + np.arange(9.0), 1, dictionary).shape == (9, 9)
