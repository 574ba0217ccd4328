"""Dictionaries learned as the paper says: four images, 40,000 patches, random start, its weights and metric.

The paper does not name its images; these are the first four that the shipped dictionaries are learned from.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import sedil
from sedil.image_files.grey_images import scikit_image_photographs
from sedil_studies.harness.learned import learned_once
from sedil_studies.harness.meter import Show
from sedil_studies.pretrained import recipes

PATCH_SHAPE = (8, 8)
IMAGES = recipes.IMAGES[:4]
N_PATCHES = 40_000
MAX_ITERATIONS = 500


def settings(n_atoms: Sequence[int]) -> dict[str, Any]:
    """All that decides the dictionary."""
    return {
        "patches": f"{N_PATCHES} of {', '.join(IMAGES)}",
        "atoms": list(n_atoms),
        "start": "random",
        "weights and metric": "the paper's",
        "iterations": MAX_ITERATIONS,
    }


def paper_dictionary(folder: Path, n_atoms: Sequence[int], show: Show) -> sedil.SeparableDictionary:
    """The dictionary in `folder`; it is learned and saved there if it is not, which takes minutes."""
    path = folder / f"paper-{'separable' if len(n_atoms) > 1 else 'unstructured'}.npz"
    return learned_once(path, settings(n_atoms), partial(_learn, n_atoms, show))


def training_patches() -> np.ndarray:
    """Zero mean and unit length."""
    photographs = scikit_image_photographs(IMAGES)
    return sedil.normalize_patches(sedil.sample_patches(photographs, PATCH_SHAPE, N_PATCHES, 0))


def _learn(n_atoms: Sequence[int], show: Show) -> sedil.SeparableDictionary:
    show(0, 1, "learning as the paper does, once")
    patches = training_patches()
    if len(n_atoms) == 1:
        patches = patches.reshape(len(patches), -1)
    result = sedil.learn(
        patches, n_atoms, preset="paper", metric="paper", max_iterations=MAX_ITERATIONS, random_state=0
    )
    return result.dictionary.replace(signal_shape=PATCH_SHAPE)
