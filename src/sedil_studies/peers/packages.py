"""The packages of peers: nobody needs them to use sedil, and those that are not installed are left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple, TypeVar

from sedil_studies.harness.method import Denoiser, Method

T = TypeVar("T")
DenoiserMakers = Mapping[str, Callable[[int], Method[Denoiser]]]  # from the number of threads


class MissingPackageError(ImportError):
    """A peer is not installed."""


class Package(NamedTuple):
    """A package by the name it is installed by, the module it is imported as, and how it is installed."""

    name: str
    module: str
    remedy: str = 'pip install "sedil[bench]"'

    def version(self) -> str:
        """Name and version; an error if it is not installed."""
        try:
            return f"{self.name} {version(self.name)}"
        except PackageNotFoundError:
            raise self._missing() from None

    def load(self) -> Any:
        """The module; an error if it is not installed."""
        try:
            return import_module(self.module)
        except ImportError:
            raise self._missing() from None

    def _missing(self) -> MissingPackageError:
        return MissingPackageError(f"the package {self.name} is not installed: {self.remedy}.")


BM3D = Package("bm3d", "bm3d")
BM4D = Package("bm4d", "bm4d")
DICTLEARN = Package("dictlearn", "dictlearn")
SPAMS = Package("spams-bin", "spams")
JAX = Package("jax", "jax", "pip install jax")
SCIKIT_LEARN = Package("scikit-learn", "sklearn", "pip install scikit-learn")
SCIKIT_IMAGE = Package("scikit-image", "skimage", "pip install scikit-image")


def make_installed(makers: Mapping[str, Callable[[], T]]) -> tuple[dict[str, T], list[str]]:
    """What each maker makes, by its name, and a sentence for each whose package is not installed."""
    made, sentences = {}, []
    for name, maker in makers.items():
        try:
            made[name] = maker()
        except MissingPackageError as error:
            sentences.append(f"{name} is left out, as {error}")
    return made, sentences


def make_for_threads(makers: DenoiserMakers, threads: int) -> tuple[dict[str, Method[Denoiser]], list[str]]:
    """The denoisers that can run on so many threads, and a sentence for each that cannot."""
    return make_installed({name: partial(make, threads) for name, make in makers.items()})
