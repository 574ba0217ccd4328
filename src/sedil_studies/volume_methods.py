"""The methods of the volume experiment: each takes a noisy volume and sigma and returns a clean one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from pathlib import Path
from typing import NamedTuple

import numpy as np

import sedil
from sedil.dictionary import format_shape
from sedil.learning.checkpoint import fingerprint
from sedil.progress import Progress as LearningProgress
from sedil_studies.methods import Method, MissingPackageError, installed
from sedil_studies.methods import fingerprint as fingerprint_of_atoms

Tell = Callable[[int, int], None]  # iterations done and in all


class Recipe(NamedTuple):
    """How the dictionary of three factors is learned and used; all chosen on validation (docs/volumes.md)."""

    side: int = 8
    n_atoms: int = 12
    n_patches: int = 5000  # 512 entries each, for 288 numbers to be learned
    iterations: int = 1000
    scale: float = 4.0  # rho as a multiple of n/E
    coherence: float = 0.3  # kappa as a multiple of E over the number of pairs of atoms
    stride: int = 2

    @property
    def patch_shape(self) -> tuple[int, ...]:
        """A cube."""
        return (self.side,) * 3

    @property
    def atoms(self) -> tuple[int, ...]:
        """As many along each axis."""
        return (self.n_atoms,) * 3


class Workshop(NamedTuple):
    """What methods are made of: the volume to learn from, the file of what was learned, and the threads."""

    training: np.ndarray
    file: Path
    recipe: Recipe
    threads: int


def learned_dictionary(shop: Workshop, tell: Tell | None = None) -> sedil.SeparableDictionary:
    """The dictionary of three factors in the shop's file; it is learned and saved there if it is not."""
    wanted = [list(shop.recipe), fingerprint(shop.training)]
    if shop.file.exists():
        saved = sedil.load_dictionary(shop.file)
        if saved.info.get("made_for") == wanted:
            return saved
    learned = learn_factors(shop.training, shop.recipe, shop.threads, tell)
    learned.info.update(made_for=wanted)
    learned.save(shop.file)
    return learned


def learn_factors(
    volume: np.ndarray, recipe: Recipe, threads: int, tell: Tell | None = None
) -> sedil.SeparableDictionary:
    """Three factors from blocks of a volume, beginning with the ODCT."""
    blocks = sedil.sample_patches([volume], recipe.patch_shape, recipe.n_patches, 0)
    scale = recipe.scale * prod(recipe.patch_shape)  # E = 1: the blocks have unit length
    n_pairs = sum(count * (count - 1) // 2 for count in recipe.atoms)

    def show(progress: LearningProgress) -> None:
        if tell:
            tell(progress.done, recipe.iterations)

    return sedil.learn(
        sedil.normalize_patches(blocks),
        recipe.atoms,
        initial="odct",
        sparsity_scale=scale,
        sparsity_weight=1 / scale,
        coherence_weight=recipe.coherence / n_pairs,
        max_iterations=recipe.iterations,
        random_state=0,
        progress=show,
        threads=threads,
    ).dictionary


def _by_slices(shop: Workshop) -> Method:
    """Slice after slice by the default for pictures, threads over the pixels of each."""

    def denoise(noisy: np.ndarray, sigma: float) -> np.ndarray:
        return np.stack([sedil.denoise(each, sigma, threads=shop.threads) for each in noisy])

    return Method(denoise, "sedil.denoise of each slice along the first axis, its defaults")


def _odct(shop: Workshop) -> Method:
    dictionary = sedil.odct(shop.recipe.patch_shape, shop.recipe.atoms)
    denoise = partial(sedil.denoise, dictionary=dictionary, stride=shop.recipe.stride, threads=shop.threads)
    return Method(denoise, f"ODCT of {_size(shop.recipe)}")


def _learned(shop: Workshop) -> Method:
    def denoise(noisy: np.ndarray, sigma: float) -> np.ndarray:
        dictionary = learned_dictionary(shop)
        return sedil.denoise(noisy, sigma, dictionary, stride=shop.recipe.stride, threads=shop.threads)

    def prepare(tell: Tell | None) -> None:
        learned_dictionary(shop, tell)

    return Method(denoise, f"three factors of {_size(shop.recipe)}, learned: {_words(shop)}", prepare=prepare)


def _default(shop: Workshop) -> Method:
    atoms = fingerprint_of_atoms(sedil.shipped_dictionary("separable-8x8x8"))
    settings = f"sedil.denoise of the volume, its defaults ({atoms})"
    return Method(partial(sedil.denoise, threads=shop.threads), settings)


def _bm4d(shop: Workshop) -> Method:
    package = installed("bm4d")

    def denoise(noisy: np.ndarray, sigma: float) -> np.ndarray:
        import bm4d

        return bm4d.bm4d(noisy, sigma)

    return Method(denoise, "profile np, both stages", package)


METHODS: dict[str, Callable[[Workshop], Method]] = {
    "slices": _by_slices,
    "odct": _odct,
    "learned": _learned,
    "default": _default,
    "bm4d": _bm4d,
}


def make_methods(shop: Workshop) -> tuple[dict[str, Method], list[str]]:
    """The methods that can run, and a sentence for each that cannot."""
    made, complaints = {}, []
    for name, make in METHODS.items():
        try:
            made[name] = make(shop)
        except MissingPackageError as error:
            complaints.append(f"{name} is left out, as {error}")
    return made, complaints


def _size(recipe: Recipe) -> str:
    return f"{format_shape(recipe.patch_shape)}, {format_shape(recipe.atoms)} atoms, stride {recipe.stride}"


def _words(shop: Workshop) -> str:
    recipe = shop.recipe
    return (
        f"{recipe.n_patches} blocks, {recipe.iterations} iterations, rho {recipe.scale:g} n/E, coherence "
        f"{recipe.coherence:g}, data {fingerprint(shop.training)[-8:]}"
    )
