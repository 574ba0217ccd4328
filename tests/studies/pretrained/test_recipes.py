"""The shipped dictionaries are what the recipes in the code make."""

import subprocess
import sys

import numpy as np
import pytest

import sedil
from sedil.pretrained import FOR_VOLUMES, NAMES
from sedil_studies.pretrained import making, recipes
from sedil_studies.pretrained.plane_waves import plane_waves
from sedil_studies.pretrained.recipes import MAX_ITERATIONS, RECIPES, provenance, training_patches

SHIPPED = NAMES + FOR_VOLUMES


def test_every_shipped_dictionary_has_a_recipe():
    assert set(RECIPES) == set(SHIPPED)


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_file_was_made_by_the_recipe_in_the_code(name):
    info, recipe = sedil.shipped_dictionary(name).info, RECIPES[name]
    expected = provenance(name)
    assert {key: info[key] for key in ("name", "images", "recipe")} == {
        key: expected[key] for key in ("name", "images", "recipe")
    }
    assert {key: info[key] for key in recipe.weights} == pytest.approx(recipe.weights)
    assert info["start"] == "odct 0"
    assert info["n_iterations"] <= MAX_ITERATIONS
    assert (info["n_iterations"] == MAX_ITERATIONS) == (info["stop_reason"] == "max_iterations reached")


@pytest.mark.parametrize("name", ["separable-8x8", "unstructured-8x8"])
def test_training_patches_are_as_many_as_the_file_says(name):
    """Flat ones are left out, so that the number depends on photographs, seeds and the share of waves."""
    assert len(training_patches(RECIPES[name])) == sedil.shipped_dictionary(name).info["n_patches"]


def test_training_patches_end_in_plane_waves(monkeypatch):
    monkeypatch.setattr(recipes, "N_PATCHES", 200)
    patches = training_patches(RECIPES["unstructured-8x8"])
    waves = sedil.normalize_patches(plane_waves((8, 8), 20, 1)).reshape(20, 64)
    np.testing.assert_allclose(patches[-20:], waves, atol=1e-6)


@pytest.mark.parametrize("name", ["separable-8x8", "separable-8x8x8"])
def test_dictionary_is_made_and_saved_with_its_provenance(name, tmp_path, monkeypatch):
    monkeypatch.setattr(recipes, "N_PATCHES", 200)
    monkeypatch.setattr(making, "MAX_ITERATIONS", 2)
    making.make(name, tmp_path)
    made, shipped = sedil.load_dictionary(tmp_path / f"{name}.npz"), sedil.shipped_dictionary(name)
    assert (made.patch_shape, made.n_atoms) == (shipped.patch_shape, shipped.n_atoms)
    assert {key: made.info[key] for key in provenance(name)} == provenance(name)
    assert made.signal_shape == shipped.signal_shape


def test_unknown_name_lists_the_known_ones():
    done = subprocess.run(
        [sys.executable, "-m", "sedil_studies.pretrained", "best"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert "'best' is not one of the shipped dictionaries separable-8x8, " in done.stderr
