"""The head and the two clips of the volume experiment: research data that does not ship with the package.

Of the head, the back is learned from and a block of the front is the test; between them lies a part on which
settings were chosen (docs/volumes.md), with a gap of eight slices, a block, on either side. Of the clips, one
is learned from and the middle of the other is the test. The tests are cut out so that all methods take
minutes, not hours.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from sedil.image_files.volume_files import read_volume

CASES = ("head", "runner", "traffic")
SYNTHETIC = "waves"  # a case that needs no data


class Case(NamedTuple):
    """What is learned from, and what is denoised; float32, on the scale 0 to 255, no voxel in both."""

    training: np.ndarray
    test: np.ndarray


class _Source(NamedTuple):
    """The file of a case that is learned from, the file of its test, and the parts that are used of both."""

    training_file: str
    test_file: str
    training: tuple[slice, ...]
    test: tuple[slice, ...]


_HEAD, _RUNNER, _TRAFFIC = "volumes/chris_t1.npz", "video/runner40.npz", "video/traffic48.npz"
_MIDDLE = np.s_[:32, 64:192, 64:192]
_SOURCES = {
    "head": _Source(_HEAD, _HEAD, np.s_[:, :100, :], np.s_[46:142, 156:228, 60:156]),
    "runner": _Source(_TRAFFIC, _RUNNER, np.s_[:, :, :], _MIDDLE),
    "traffic": _Source(_RUNNER, _TRAFFIC, np.s_[:, :, :], _MIDDLE),
}


def read_case(folder: Path, name: str) -> Case:
    """A case of the experiment, one of `CASES`, from a folder with the files that `expected_files` names."""
    source = _SOURCES[name]
    return Case(
        _read(folder, source.training_file)[source.training], _read(folder, source.test_file)[source.test]
    )


def expected_files() -> str:
    """The names of the files, for people."""
    return f"{_HEAD}, {_RUNNER} and {_TRAFFIC}"


def _read(folder: Path, name: str) -> np.ndarray:
    for path in (folder / name, folder / Path(name).name):
        if path.is_file():
            return read_volume(path).pixels.astype(np.float32)
    raise FileNotFoundError(
        f"There is no {name} in {folder}: give --data a folder that holds {expected_files()}."
    )


def noisy_volume(clean: np.ndarray, case: str, sigma: int, seed: int) -> np.ndarray:
    """The clean volume with white Gaussian noise, neither clipped nor rounded; it cannot be written to.

    The noise depends on seed, case and sigma alone, so that every method gets the same voxels.
    """
    rng = np.random.default_rng([seed, (*CASES, SYNTHETIC).index(case), sigma])
    noisy = clean + np.float32(sigma) * rng.standard_normal(clean.shape, dtype=np.float32)
    noisy.flags.writeable = False
    return noisy
