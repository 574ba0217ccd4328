"""What a run of the benchmark was asked for, and the pictures that it works on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sedil.dictionary import format_shape
from sedil.image_files.grey_images import read_grey, scikit_image_photographs
from sedil.imaging.patches import sample_patches
from sedil_studies.bench.timing import Tell
from sedil_studies.table1.five_images import read_images

SIGMA = 20.0
PORTABLE = "sedil, portable engine"  # a contestant of several cases
_QUICK_SIDE = 128
_IMAGE = "lena"
_TRAINING = ("couple", "man", "lake", "jetplane")
_VALIDATION = "hill"
# Photographs inside the scikit-image package, for those who have no data.
_OWN_IMAGE, _OWN_TRAINING, _OWN_VALIDATION = "camera", ("astronaut", "rocket", "brick", "cat"), "coffee"


class Setting(NamedTuple):
    """How to run.

    Attributes
    ----------
    threads : that every contestant is given
    quick : small sizes and few repetitions: to see that all works
    data : folder with the pictures, as that of ``sedil reproduce``; without it scikit-image's serve
    tell : called with a few words before each step
    """

    threads: int
    quick: bool = False
    data: Path | None = None
    tell: Tell = lambda words: None

    def choose(self, full: int, quick: int) -> int:
        """The number for this kind of run."""
        return quick if self.quick else full


class Scene(NamedTuple):
    """A clean picture with noise added, float32."""

    name: str
    clean: np.ndarray
    noisy: np.ndarray

    @property
    def words(self) -> str:
        """What it is, for the report."""
        return f"{self.name}, {format_shape(self.clean.shape)}, sigma {SIGMA:g}"


def noisy_scene(setting: Setting) -> Scene:
    """The picture that is denoised: lena, or camera without data; its middle if quick."""
    if setting.data is None:
        clean = scikit_image_photographs([_OWN_IMAGE])[0]
        return _with_noise(f"{_OWN_IMAGE} of scikit-image", clean, setting)
    return _with_noise(_IMAGE, read_images(setting.data, [_IMAGE])[_IMAGE], setting)


def validation_scene(setting: Setting) -> Scene:
    """The picture that judges learned dictionaries."""
    if setting.data is None:
        clean = scikit_image_photographs([_OWN_VALIDATION])[0]
        return _with_noise(f"{_OWN_VALIDATION} of scikit-image", clean, setting)
    return _with_noise(_VALIDATION, _read_training(setting.data, [_VALIDATION])[0], setting)


def training_images(setting: Setting) -> tuple[str, list[np.ndarray]]:
    """The pictures that are learned from, and their names."""
    if setting.data is None:
        return f"{', '.join(_OWN_TRAINING)} of scikit-image", scikit_image_photographs(_OWN_TRAINING)
    return ", ".join(_TRAINING), _read_training(setting.data, _TRAINING)


def all_patches(image: np.ndarray, side: int) -> np.ndarray:
    """All overlapping patches without their means, float32, shape (n, side, side)."""
    windows = np.lib.stride_tricks.sliding_window_view(image.astype(np.float32), (side, side))
    patches = windows.reshape(-1, side, side)
    return patches - patches.mean(axis=(1, 2), keepdims=True)


def random_patches(image: np.ndarray, side: int, count: int) -> np.ndarray:
    """So many patches at random places without their means, float32, shape (count, side, side)."""
    patches = sample_patches([image.astype(np.float32)], (side, side), count, random_state=0)
    return patches - patches.mean(axis=(1, 2), keepdims=True)


def some(patches: np.ndarray, count: int) -> np.ndarray:
    """So many patches, drawn at random; all of them, if there are fewer."""
    rng = np.random.default_rng(0)
    return patches[np.sort(rng.permutation(len(patches))[:count])]


def _with_noise(name: str, clean: np.ndarray, setting: Setting) -> Scene:
    if setting.quick:
        top, left = ((side - _QUICK_SIDE) // 2 for side in clean.shape)
        clean = clean[top : top + _QUICK_SIDE, left : left + _QUICK_SIDE]
    clean = clean.astype(np.float32)
    noise = np.random.default_rng(0).standard_normal(clean.shape, dtype=np.float32)
    return Scene(name, clean, clean + np.float32(SIGMA) * noise)


def _read_training(folder: Path, names: Sequence[str]) -> list[np.ndarray]:
    paths = [folder / "images/train" / f"{name}.png" for name in names]
    missing = [str(path) for path in paths if not path.is_file()]
    if missing:
        raise FileNotFoundError(f"There is no {', '.join(missing)}: leave --data out or give another folder.")
    return [read_grey(path) for path in paths]
