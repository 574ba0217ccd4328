"""The methods of the table, by name: each takes noisy pixels and sigma and returns clean ones.

No method sees the clean image. All dictionaries go through the same quick denoiser; groups of alike
patches and BM3D are others altogether.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

import sedil
from sedil.choices import DenoisingMethod, ShippedName
from sedil.dictionary import format_shape
from sedil.imaging.image_dictionaries import default_threshold
from sedil_studies.harness.learned import fingerprint_of_atoms
from sedil_studies.harness.meter import Show
from sedil_studies.harness.method import Denoiser, Method
from sedil_studies.harness.sedil_denoisers import groups_method, quick_method, warmed_up
from sedil_studies.peers import block_matching, ksvd
from sedil_studies.peers.packages import BM3D, DICTLEARN, make_installed
from sedil_studies.table1 import paper_recipe

RecipeName = Literal["shipped", "paper"]


class Materials(NamedTuple):
    """What methods are made from: `folder` keeps what they learn, `threads` is how many they may use."""

    folder: Path
    threads: int


def _shipped(name: ShippedName, materials: Materials, is_l1: bool = False) -> Method[Denoiser]:
    dictionary = sedil.shipped_dictionary(name)
    return _over(dictionary, f"{name} ({fingerprint_of_atoms(dictionary)})", materials, is_l1)


def _odct(side: int, materials: Materials, is_l1: bool = False) -> Method[Denoiser]:
    shape, n_atoms = (side, side), (2 * side, 2 * side)
    name = f"ODCT of {format_shape(shape)}, {format_shape(n_atoms)} atoms"
    return _over(sedil.odct(shape, n_atoms), name, materials, is_l1)


def _over(
    dictionary: sedil.SeparableDictionary, name: str, materials: Materials, is_l1: bool
) -> Method[Denoiser]:
    coder = "plain l1" if is_l1 else _coder(dictionary)
    return Method(f"{name}; {coder}", partial(warmed_up, _coding_over(dictionary, materials, is_l1)))


def _coding_over(dictionary: sedil.SeparableDictionary, materials: Materials, is_l1: bool) -> Denoiser:
    method: DenoisingMethod | None = "l1" if is_l1 else None
    return partial(sedil.denoise, dictionary=dictionary, method=method, threads=materials.threads)


def _coder(dictionary: sedil.SeparableDictionary) -> str:
    """How patches are coded; the denoiser may choose the threshold by the dictionary."""
    return f"refit, threshold {default_threshold(dictionary):g}"


def _as_the_paper(n_atoms: tuple[int, ...], materials: Materials, is_l1: bool = False) -> Method[Denoiser]:
    """Over a dictionary that is learned as the paper says."""

    def prepare(show: Show) -> Denoiser:
        learned = paper_recipe.paper_dictionary(materials.folder, n_atoms, show)
        return warmed_up(_coding_over(learned, materials, is_l1), show)

    words = ", ".join(f"{key} {value}" for key, value in paper_recipe.settings(n_atoms).items())
    return Method(f"{words}; {'plain l1' if is_l1 else 'refit'}", prepare)


def _groups(materials: Materials) -> Method[Denoiser]:
    return groups_method(2, materials.threads)


def _quick(materials: Materials) -> Method[Denoiser]:
    return quick_method(2, materials.threads)


def _ksvd(materials: Materials) -> Method[Denoiser]:
    rival = sedil.shipped_dictionary(ksvd.TRAINED_LIKE)  # coded in the same way
    threshold = default_threshold(rival)

    def prepare(show: Show) -> Denoiser:
        learned = ksvd.ksvd_dictionary(materials.folder, show)
        denoise = partial(sedil.denoise, dictionary=learned, threshold=threshold, threads=materials.threads)
        return warmed_up(denoise, show)

    return Method(ksvd_settings(), prepare, DICTLEARN.version())


def ksvd_settings() -> str:
    """How the K-SVD dictionary is learned and used, in words."""
    words = ", ".join(f"{key} {value}" for key, value in ksvd.settings().items())
    return f"K-SVD, {words}; {_coder(sedil.shipped_dictionary(ksvd.TRAINED_LIKE))}"


def _bm3d(materials: Materials) -> Method[Denoiser]:
    denoise = partial(block_matching.bm3d_denoise, threads=materials.threads)
    return Method.at_hand(block_matching.SETTINGS, denoise, BM3D.version())


# In the order of the report: first the paper's, then what lies past it.
METHODS: dict[str, Callable[[Materials], Method[Denoiser]]] = {
    "ksvd": _ksvd,
    "unstructured": partial(_shipped, "unstructured-8x8"),
    "odct": partial(_odct, 8),
    "separable": partial(_shipped, "separable-8x8"),
    "bm3d": _bm3d,
    "groups": _groups,
    "quick": _quick,
    "odct-12x12": partial(_odct, 12),
    "separable-12x12": partial(_shipped, "separable-12x12"),
    "odct-16x16": partial(_odct, 16),
    "separable-16x16": partial(_shipped, "separable-16x16"),
}
# What the paper's way of learning, and of coding, gives beside ours.
PAPER_RECIPE: dict[str, Callable[[Materials], Method[Denoiser]]] = {
    "unstructured": METHODS["unstructured"],
    "paper-unstructured": partial(_as_the_paper, (256,)),
    "odct": METHODS["odct"],
    "separable": METHODS["separable"],
    "paper-separable": partial(_as_the_paper, (16, 16)),
    "unstructured-l1": partial(_shipped, "unstructured-8x8", is_l1=True),
    "paper-unstructured-l1": partial(_as_the_paper, (256,), is_l1=True),
    "odct-l1": partial(_odct, 8, is_l1=True),
    "separable-l1": partial(_shipped, "separable-8x8", is_l1=True),
    "paper-separable-l1": partial(_as_the_paper, (16, 16), is_l1=True),
}
RECIPES = {"shipped": METHODS, "paper": PAPER_RECIPE}


def make_methods(
    names: Sequence[str], materials: Materials, recipe: RecipeName = "shipped"
) -> tuple[dict[str, Method[Denoiser]], list[str]]:
    """The methods of these names that can run, and a sentence for each that cannot."""
    return make_installed({name: partial(RECIPES[recipe][name], materials) for name in names})
