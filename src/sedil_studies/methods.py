"""The methods of the table, by name: each takes noisy pixels and sigma and returns clean ones.

No method sees the clean image. All dictionaries go through the same denoiser; BM3D is another one altogether.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

import numpy as np

import sedil
from sedil.arrays import to_numpy
from sedil.dictionary import format_shape
from sedil.imaging.denoise import default_threshold
from sedil.pretrained import NAMES as SHIPPED
from sedil_studies import ksvd

Denoiser = Callable[[np.ndarray, float], np.ndarray]


class Method(NamedTuple):
    """One column of the table.

    Attributes
    ----------
    denoise : from noisy pixels and sigma to clean pixels
    settings : all that decides the result besides versions, in words
    package : the baseline's, with its version; empty for methods of sedil
    prepare : what takes long and is done once, off the clock; it is given a progress callback
    """

    denoise: Denoiser
    settings: str
    package: str = ""
    prepare: Callable[[ksvd.Progress | None], None] | None = None


class Setting(NamedTuple):
    """Where a method runs: `folder` keeps what it learns, `threads` is how many it may use."""

    folder: Path
    threads: int


class MissingPackageError(ImportError):
    """A baseline is not installed."""


def _shipped(name: str, setting: Setting) -> Method:
    dictionary = sedil.shipped_dictionary(name)
    return _over(dictionary, f"{name} ({fingerprint(dictionary)})", setting)


def _odct(side: int, setting: Setting) -> Method:
    shape, n_atoms = (side, side), (2 * side, 2 * side)
    name = f"ODCT of {format_shape(shape)}, {format_shape(n_atoms)} atoms"
    return _over(sedil.odct(shape, n_atoms), name, setting)


def _over(dictionary: sedil.SeparableDictionary, name: str, setting: Setting) -> Method:
    denoise = partial(sedil.denoise, dictionary=dictionary, threads=setting.threads)
    return Method(denoise, f"{name}; {_coder(dictionary)}", prepare=partial(_warm_up, denoise))


def _coder(dictionary: sedil.SeparableDictionary) -> str:
    """How patches are coded; the denoiser may choose the threshold by the dictionary."""
    return f"refit, threshold {default_threshold('refit', dictionary):g}"


def _default(setting: Setting) -> Method:
    atoms = fingerprint(*map(sedil.shipped_dictionary, SHIPPED))  # it chooses among them
    denoise = partial(sedil.denoise, threads=setting.threads)
    return Method(denoise, f"defaults of sedil.denoise ({atoms})", prepare=partial(_warm_up, denoise))


def _ksvd(setting: Setting) -> Method:
    package = installed(ksvd.PACKAGE)
    settings = ", ".join(f"{key} {value}" for key, value in ksvd.recipe().items() if key != ksvd.PACKAGE)
    learned = cache(partial(ksvd.ksvd_dictionary, setting.folder))
    rival = sedil.shipped_dictionary(ksvd.TRAINED_LIKE)  # coded in the same way
    threshold = default_threshold("refit", rival)

    def denoise(noisy: np.ndarray, sigma: float) -> np.ndarray:
        return sedil.denoise(noisy, sigma, learned(), threshold=threshold, threads=setting.threads)

    def prepare(progress: ksvd.Progress | None) -> None:
        ksvd.ksvd_dictionary(setting.folder, progress)
        _warm_up(denoise)

    return Method(denoise, f"K-SVD, {settings}; {_coder(rival)}", package, prepare)


def _bm3d(setting: Setting) -> Method:
    package = installed("bm3d")

    def denoise(noisy: np.ndarray, sigma: float) -> np.ndarray:
        import bm3d

        profile = bm3d.BM3DProfile()
        profile.num_threads = setting.threads
        return bm3d.bm3d(noisy, sigma, profile)

    return Method(denoise, "profile np, both stages", package)


# In the order of the report: first the paper's, then what lies past it.
METHODS: dict[str, Callable[[Setting], Method]] = {
    "ksvd": _ksvd,
    "unstructured": partial(_shipped, "unstructured-8x8"),
    "odct": partial(_odct, 8),
    "separable": partial(_shipped, "separable-8x8"),
    "bm3d": _bm3d,
    "default": _default,
    "odct-12x12": partial(_odct, 12),
    "separable-12x12": partial(_shipped, "separable-12x12"),
    "odct-16x16": partial(_odct, 16),
    "separable-16x16": partial(_shipped, "separable-16x16"),
}


def make_methods(names: list[str], setting: Setting) -> tuple[dict[str, Method], list[str]]:
    """The methods of these names that can run, and a sentence for each that cannot."""
    made, complaints = {}, []
    for name in names:
        try:
            made[name] = METHODS[name](setting)
        except MissingPackageError as error:
            complaints.append(f"{name} is left out, as {error}")
    return made, complaints


def _warm_up(denoise: Denoiser, progress: ksvd.Progress | None = None) -> None:
    """Denoise tiny images, flat and not, so that what is compiled on first use is not on the clock."""
    sigma, ramp = 20.0, np.linspace(0, 1, 32)
    for contrast in (0, 255):
        noise = sigma * np.random.default_rng(0).standard_normal((32, 32))
        denoise(contrast * ramp + noise, sigma)


def fingerprint(*dictionaries: sedil.SeparableDictionary) -> str:
    """A few letters that change with the atoms: a dictionary learned anew is another setting."""
    digest = sha256()
    for factor in (factor for dictionary in dictionaries for factor in dictionary.factors):
        digest.update(np.ascontiguousarray(to_numpy(factor), dtype=np.float32).tobytes())
    return digest.hexdigest()[:8]


def installed(package: str) -> str:
    """Name and version of a baseline package."""
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        raise MissingPackageError(
            f'the package {package} is not installed: pip install "sedil[bench]".'
        ) from None
