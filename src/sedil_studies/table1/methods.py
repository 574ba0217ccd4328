"""The methods of the table, by name: each takes noisy pixels and sigma and returns clean ones.

No method sees the clean image. All dictionaries go through the same quick denoiser; groups of alike
patches and BM3D are others altogether.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import sedil
from sedil.choices import ShippedName
from sedil.dictionary import format_shape
from sedil.imaging.image_dictionaries import default_threshold
from sedil_studies.harness.learned import fingerprint_of_atoms
from sedil_studies.harness.meter import Show
from sedil_studies.harness.method import Denoiser, Method
from sedil_studies.harness.sedil_denoisers import groups_method, quick_method, warmed_up
from sedil_studies.peers import block_matching, ksvd
from sedil_studies.peers.packages import BM3D, DICTLEARN, make_installed


class Materials(NamedTuple):
    """What methods are made from: `folder` keeps what they learn, `threads` is how many they may use."""

    folder: Path
    threads: int


def _shipped(name: ShippedName, materials: Materials) -> Method[Denoiser]:
    dictionary = sedil.shipped_dictionary(name)
    return _over(dictionary, f"{name} ({fingerprint_of_atoms(dictionary)})", materials)


def _odct(side: int, materials: Materials) -> Method[Denoiser]:
    shape, n_atoms = (side, side), (2 * side, 2 * side)
    name = f"ODCT of {format_shape(shape)}, {format_shape(n_atoms)} atoms"
    return _over(sedil.odct(shape, n_atoms), name, materials)


def _over(dictionary: sedil.SeparableDictionary, name: str, materials: Materials) -> Method[Denoiser]:
    denoise = partial(sedil.denoise, dictionary=dictionary, threads=materials.threads)
    return Method(f"{name}; {_coder(dictionary)}", partial(warmed_up, denoise))


def _coder(dictionary: sedil.SeparableDictionary) -> str:
    """How patches are coded; the denoiser may choose the threshold by the dictionary."""
    return f"refit, threshold {default_threshold(dictionary):g}"


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


def make_methods(names: Sequence[str], materials: Materials) -> tuple[dict[str, Method[Denoiser]], list[str]]:
    """The methods of these names that can run, and a sentence for each that cannot."""
    return make_installed({name: partial(METHODS[name], materials) for name in names})
