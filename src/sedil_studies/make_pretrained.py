"""Learn the shipped dictionaries anew: ``python -m sedil_studies.make_pretrained NAME...`` (default: all).

The training data are patches of photographs that scikit-image carries, all in the public domain or under
CC0 (`IMAGES`), and plane waves for the stripes that photographs show too rarely (`sedil_studies.textures`).
A run takes two to fifteen minutes on two cores.
"""

from __future__ import annotations

import sys
from math import prod
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console

import sedil
from sedil.image_files.grey_images import scikit_image_photographs
from sedil_studies.textures import plane_waves

FOLDER = Path(sedil.__file__).parent / "pretrained"
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


def make(name: str, folder: Path = FOLDER) -> sedil.LearningResult:
    """Learn one dictionary and save it with its provenance."""
    recipe = RECIPES[name]
    scale = SCALE * prod(recipe.patch_shape)  # E = 1: the patches have unit length
    n_pairs = sum(count * (count - 1) // 2 for count in recipe.n_atoms)
    result = sedil.learn(
        training_patches(recipe),
        recipe.n_atoms,
        initial="odct",
        sparsity_scale=scale,
        sparsity_weight=1 / scale,
        coherence_weight=COHERENCE / n_pairs,
        max_iterations=MAX_ITERATIONS,
        random_state=0,
        progress=True,
    )
    dictionary = result.dictionary
    if recipe.axes is not None:
        factors = [dictionary.factors[axis] for axis in recipe.axes]
        dictionary = sedil.SeparableDictionary(factors, info=dictionary.info)
    dictionary.info.update(
        name=name,
        images=[f"skimage.data.{image}" for image in IMAGES],
        recipe=recipe._asdict(),
        command=f"python -m sedil_studies.make_pretrained {name}",
        signal_shape=list(recipe.patch_shape if recipe.axes is None else dictionary.patch_shape),
        sedil=sedil.__version__,
    )
    dictionary.save(folder / f"{name}.npz")
    return result


def main() -> None:
    """Make the dictionaries named on the command line, or all."""
    console = Console(highlight=False)
    for name in sys.argv[1:] or RECIPES:
        console.print(f"{name}: {RECIPES[name]}")
        console.print(str(make(name)), markup=False, soft_wrap=True)


if __name__ == "__main__":
    main()
