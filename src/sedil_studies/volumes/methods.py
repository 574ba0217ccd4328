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
from sedil_studies.harness.learned import learned_once, weights_for_unit_patches
from sedil_studies.harness.meter import Show, learning_shown, silent
from sedil_studies.harness.method import Denoiser, Method
from sedil_studies.harness.sedil_denoisers import groups_method, quick_method
from sedil_studies.peers import block_matching
from sedil_studies.peers.packages import BM4D, make_installed


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


class Materials(NamedTuple):
    """What methods are made from.

    Attributes
    ----------
    training : the volume to learn from
    file : of what was learned
    recipe : how it is learned
    threads : how many methods may use
    time_axis : that along which the frames of a clip lie
    """

    training: np.ndarray
    file: Path
    recipe: Recipe
    threads: int
    time_axis: int | None = None


def learned_dictionary(materials: Materials, show: Show = silent) -> sedil.SeparableDictionary:
    """The dictionary of three factors in the file; it is learned and saved there if it is not."""
    return learned_once(
        materials.file,
        [list(materials.recipe), fingerprint(materials.training)],
        lambda: learn_factors(materials.training, materials.recipe, materials.threads, show),
    )


def learn_factors(
    volume: np.ndarray, recipe: Recipe, threads: int, show: Show = silent
) -> sedil.SeparableDictionary:
    """Three factors from blocks of a volume, beginning with the ODCT."""
    blocks = sedil.sample_patches([volume], recipe.patch_shape, recipe.n_patches, 0)
    return sedil.learn(
        sedil.normalize_patches(blocks),
        recipe.atoms,
        initial="odct",
        **weights_for_unit_patches(recipe.scale, recipe.coherence, prod(recipe.patch_shape), recipe.atoms),
        max_iterations=recipe.iterations,
        random_state=0,
        progress=learning_shown(show, "learning three factors, once"),
        threads=threads,
    ).dictionary


def _by_slices(materials: Materials) -> Method[Denoiser]:
    """Slice after slice by the quick method for pictures, threads over the pixels of each."""

    def denoise(noisy: np.ndarray, sigma: float) -> np.ndarray:
        return np.stack(
            [sedil.denoise(each, sigma, method="quick", threads=materials.threads) for each in noisy]
        )

    return Method.at_hand("sedil.denoise of each slice along the first axis, method quick", denoise)


def _odct(materials: Materials) -> Method[Denoiser]:
    dictionary = sedil.odct(materials.recipe.patch_shape, materials.recipe.atoms)
    return Method.at_hand(f"ODCT of {_size(materials.recipe)}", _denoiser(materials, dictionary))


def _learned(materials: Materials) -> Method[Denoiser]:
    return Method(
        f"three factors of {_size(materials.recipe)}, learned: {_words(materials)}",
        lambda show: _denoiser(materials, learned_dictionary(materials, show)),
    )


def _denoiser(materials: Materials, dictionary: sedil.SeparableDictionary) -> Denoiser:
    return partial(
        sedil.denoise, dictionary=dictionary, stride=materials.recipe.stride, threads=materials.threads
    )


def _quick(materials: Materials) -> Method[Denoiser]:
    return quick_method(3, materials.threads)


def _groups(materials: Materials) -> Method[Denoiser]:
    return groups_method(3, materials.threads, time_axis=materials.time_axis)


def _bm4d(materials: Materials) -> Method[Denoiser]:
    return Method.at_hand(block_matching.SETTINGS, block_matching.bm4d_denoise, BM4D.version())


METHODS: dict[str, Callable[[Materials], Method[Denoiser]]] = {
    "slices": _by_slices,
    "odct": _odct,
    "learned": _learned,
    "quick": _quick,
    "groups": _groups,
    "bm4d": _bm4d,
}


def make_methods(materials: Materials) -> tuple[dict[str, Method[Denoiser]], list[str]]:
    """The methods that can run, and a sentence for each that cannot."""
    return make_installed({name: partial(make, materials) for name, make in METHODS.items()})


def _size(recipe: Recipe) -> str:
    return f"{format_shape(recipe.patch_shape)}, {format_shape(recipe.atoms)} atoms, stride {recipe.stride}"


def _words(materials: Materials) -> str:
    recipe = materials.recipe
    return (
        f"{recipe.n_patches} blocks, {recipe.iterations} iterations, rho {recipe.scale:g} n/E, coherence "
        f"{recipe.coherence:g}, data {fingerprint(materials.training)[-8:]}"
    )
