from importlib.metadata import PackageNotFoundError

import numpy as np
import pytest
from skimage import data

import sedil
from sedil.imaging.quality import image_quality
from sedil_studies.harness.learned import fingerprint_of_atoms
from sedil_studies.peers import packages
from sedil_studies.table1 import paper, paper_recipe, report, study
from sedil_studies.table1.methods import METHODS, PAPER_RECIPE, Materials, make_methods

SIGMA = 20


@pytest.fixture(scope="module")
def clean():
    return data.camera()[100:148, 200:248].astype(np.float64)


@pytest.fixture(scope="module")
def noisy(clean):
    noisy = clean + SIGMA * np.random.default_rng(0).standard_normal(clean.shape)
    noisy.flags.writeable = False
    return noisy


def made(name, folder, threads=1):
    return make_methods([name], Materials(folder, threads))[0][name]


def test_the_table_has_the_methods_of_the_paper_and_those_past_it():
    assert tuple(METHODS)[:5] == paper.METHODS
    past = ("groups", "quick", "odct-12x12", "separable-12x12", "odct-16x16", "separable-16x16")
    assert tuple(METHODS)[5:] == past
    assert all(report.label(name) != name for name in METHODS)


@pytest.mark.parametrize(
    ("name", "dictionary"),
    [
        ("unstructured", lambda: sedil.shipped_dictionary("unstructured-8x8")),
        ("odct", lambda: sedil.odct((8, 8), (16, 16))),
        ("separable", lambda: sedil.shipped_dictionary("separable-8x8")),
        ("odct-12x12", lambda: sedil.odct((12, 12), (24, 24))),
        ("separable-12x12", lambda: sedil.shipped_dictionary("separable-12x12")),
        ("odct-16x16", lambda: sedil.odct((16, 16), (32, 32))),
        ("separable-16x16", lambda: sedil.shipped_dictionary("separable-16x16")),
    ],
)
def test_dictionaries_go_through_the_denoiser(name, dictionary, noisy, clean, tmp_path):
    result = made(name, tmp_path).ready()(noisy, SIGMA)
    np.testing.assert_array_equal(result, sedil.denoise(noisy, SIGMA, dictionary(), threads=1))
    assert image_quality(result, clean)[0] > image_quality(noisy, clean)[0] + 4


@pytest.mark.parametrize(("name", "method"), [("groups", None), ("quick", "quick")])
def test_methods_of_sedil_are_those_of_the_denoiser(name, method, noisy, clean, tmp_path):
    result = made(name, tmp_path).ready()(noisy, SIGMA)
    np.testing.assert_array_equal(result, sedil.denoise(noisy, SIGMA, method=method, threads=1))
    assert image_quality(result, clean)[0] > image_quality(noisy, clean)[0] + 4


def test_threads_are_passed_on(noisy, tmp_path, monkeypatch):
    told = []
    monkeypatch.setattr(sedil, "denoise", lambda *_, **how: told.append(how["threads"]))
    made("odct", tmp_path, threads=3).ready()(noisy, SIGMA)
    assert told == [3, 3, 3]  # twice to warm up


@pytest.mark.parametrize("name", ["odct", "groups", "quick"])
def test_denoisers_are_warmed_up_off_the_clock(name, tmp_path, monkeypatch):
    sizes = []
    monkeypatch.setattr(sedil, "denoise", lambda noisy, *_, **__: sizes.append(noisy.shape))
    made(name, tmp_path).ready()
    assert sizes == [(32, 32)] * 2


def test_a_dictionary_learned_anew_is_another_setting(tmp_path):
    assert (
        fingerprint_of_atoms(sedil.shipped_dictionary("separable-8x8"))
        in made("separable", tmp_path).settings
    )
    dictionary = sedil.odct((4, 4), 6)
    changed = sedil.SeparableDictionary([f + 1e-3 for f in dictionary.factors], normalize=True)
    assert fingerprint_of_atoms(changed) != fingerprint_of_atoms(dictionary)
    assert fingerprint_of_atoms(sedil.odct((4, 4), 6)) == fingerprint_of_atoms(dictionary)


def test_absent_baselines_are_left_out_with_a_sentence(tmp_path, monkeypatch):
    def version(package):
        raise PackageNotFoundError(package)

    monkeypatch.setattr(packages, "version", version)
    found, sentences = make_methods(["ksvd", "odct", "bm3d"], Materials(tmp_path, 1))
    assert list(found) == ["odct"]
    assert sentences == [
        'ksvd is left out, as the package dictlearn is not installed: pip install "sedil[bench]".',
        'bm3d is left out, as the package bm3d is not installed: pip install "sedil[bench]".',
    ]


def test_bm3d_denoises(noisy, clean, tmp_path):
    pytest.importorskip("bm3d", reason='bm3d is not installed: pip install "sedil[bench]"')
    method = made("bm3d", tmp_path)
    assert method.package.startswith("bm3d 4.")
    result = method.ready()(noisy, SIGMA)
    assert result.shape == clean.shape
    assert image_quality(result, clean)[0] > image_quality(noisy, clean)[0] + 5


@pytest.mark.parametrize("name", ["paper-unstructured", "paper-separable-l1"])
def test_the_recipe_of_the_paper_learns_once(name, noisy, clean, tmp_path, monkeypatch):
    monkeypatch.setattr(paper_recipe, "N_PATCHES", 400)
    monkeypatch.setattr(paper_recipe, "MAX_ITERATIONS", 5)
    method = make_methods([name], Materials(tmp_path, 1), "paper")[0][name]
    result = method.ready()(noisy, SIGMA)
    assert image_quality(result, clean)[0] > image_quality(noisy, clean)[0] + 2
    (file,) = tmp_path.iterdir()
    learned = sedil.load_dictionary(file)
    assert learned.info["preset"] == learned.info["metric"] == "paper"
    coder = "l1" if name.endswith("l1") else None
    again = sedil.denoise(noisy, SIGMA, learned, method=coder, threads=1)
    np.testing.assert_array_equal(result, again)


def test_all_methods_of_the_recipe_have_a_label():
    assert all(report.label(name) != name for name in PAPER_RECIPE)


def test_a_method_of_the_other_recipe_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(study, "read_images", lambda data, names: {})
    with pytest.raises(ValueError, match=r"The recipe paper has no method bm3d: choose among unstructured, "):
        study.reproduce(None, tmp_path, methods=["bm3d"], recipe="paper")
