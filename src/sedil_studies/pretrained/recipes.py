"""What the shipped dictionaries are learned from, and how.

The training data are patches of photographs that scikit-image carries, all in the public domain or under
CC0 (`IMAGES`), and plane waves for the stripes that photographs show too rarely (`plane_waves`).
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np

import sedil
from sedil.image_files.grey_images import scikit_image_photographs
from sedil_studies.harness.learned import weights_for_unit_patches
from sedil_studies.pretrained.plane_waves import plane_waves

IMAGES = ("astronaut", "camera", "coffee", "rocket", "cat", "brick", "grass", "gravel", "coins")
N_PATCHES = 40_000
MAX_ITERATIONS = 1500
SCALE = 4.0  # rho as a multiple of n/E
COHERENCE = 0.3  # kappa as a multiple of E over the number of pairs of atoms, 30 times the default of `learn`


class Recipe(NamedTuple):
    """What differs between the dictionaries; benchmarks/recipes.py shows how all constants were chosen."""

    patch_shape: tuple[int, ...]
    n_atoms: tuple[int, ...]
    waves: float = 0.05  # share of plane waves among the training patches
    axes: tuple[int, ...] | None = None  # which learned factor serves each axis; default each its own

    @property
    def weights(self) -> dict[str, Any]:
        """Of the cost, Eq. (16)."""
        return weights_for_unit_patches(SCALE, COHERENCE, prod(self.patch_shape), self.n_atoms)


RECIPES = {
    "separable-8x8": Recipe((8, 8), (16, 16)),
    "separable-12x12": Recipe((12, 12), (24, 24)),
    "separable-16x16": Recipe((16, 16), (32, 32)),
    "unstructured-8x8": Recipe((8, 8), (256,), waves=0.1),
    # For volumes: along the third axis edges look as they do along the first (docs/volumes.md).
    "separable-8x8x8": Recipe((8, 8), (12, 12), axes=(0, 0, 1)),
}


def training_patches(recipe: Recipe) -> np.ndarray:
    """Patches of photographs and plane waves, zero mean and unit length, in the shape that is learned."""
    n_waves = round(recipe.waves * N_PATCHES)
    photographs = sedil.sample_patches(
        scikit_image_photographs(IMAGES), recipe.patch_shape, N_PATCHES - n_waves, 0
    )
    waves = plane_waves(recipe.patch_shape, n_waves, 1)
    patches = sedil.normalize_patches(np.concatenate([photographs, waves]))
    return patches if len(recipe.n_atoms) > 1 else patches.reshape(len(patches), -1)


def provenance(name: str) -> dict[str, Any]:
    """What a shipped file says of how it was made, besides what `sedil.learn` says."""
    recipe = {key: value for key, value in RECIPES[name]._asdict().items() if value is not None}
    return {
        "name": name,
        "images": [f"skimage.data.{image}" for image in IMAGES],
        "recipe": {key: list(value) if isinstance(value, tuple) else value for key, value in recipe.items()},
        "command": f"python -m sedil_studies.pretrained {name}",
    }
