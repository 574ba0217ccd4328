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
from sedil_studies.harness.data_folder import first_file, given_folder, listed
from sedil_studies.harness.denoising_rows import with_noise

CASES = ("head", "runner", "traffic")
SYNTHETIC = "waves"  # a case that needs no data


class Volumes(NamedTuple):
    """What is learned from, and what is denoised; float32, on the scale 0 to 255, no voxel in both."""

    training: np.ndarray
    test: np.ndarray


class _Source(NamedTuple):
    """The file of a case that is learned from, the file of its test, and the parts that are used of both."""

    training_file: str
    test_file: str
    training: tuple[slice, ...]
    test: tuple[slice, ...]


FILES = _HEAD, _RUNNER, _TRAFFIC = "volumes/chris_t1.npz", "video/runner40.npz", "video/traffic48.npz"
_MIDDLE = np.s_[:32, 64:192, 64:192]
_SOURCES = {
    "head": _Source(_HEAD, _HEAD, np.s_[:, :100, :], np.s_[46:142, 156:228, 60:156]),
    "runner": _Source(_TRAFFIC, _RUNNER, np.s_[:, :, :], _MIDDLE),
    "traffic": _Source(_RUNNER, _TRAFFIC, np.s_[:, :, :], _MIDDLE),
}


def read_case(folder: Path | None, name: str) -> Volumes:
    """A case of the experiment, one of `CASES`, from a folder with the files of `FILES`; None is an error."""
    folder = given_folder(folder, listed(FILES))
    source = _SOURCES[name]
    return Volumes(
        _read(folder, source.training_file)[source.training], _read(folder, source.test_file)[source.test]
    )


def _read(folder: Path, name: str) -> np.ndarray:
    found = first_file([folder / name, folder / Path(name).name])
    if found is None:
        raise FileNotFoundError(
            f"There is no {name} in {folder}: give --data a folder that holds {listed(FILES)}."
        )
    return read_volume(found).pixels.astype(np.float32)


def synthetic_case() -> Volumes:
    """A small volume of moving waves, to try the machinery without data."""
    axes = np.meshgrid(*(np.arange(length) for length in (16, 24, 24)), indexing="ij")
    phase = sum(speed * axis for speed, axis in zip((0.3, 0.5, 0.8), axes, strict=True))
    waves = (128 + 60 * np.sin(phase)).astype(np.float32)
    return Volumes(waves[:, :, ::-1], waves)


def time_axis_of(name: str) -> int | None:
    """Along which the frames of a case lie; None if it is no clip."""
    return 0 if name in ("runner", "traffic") else None


def middle(volume: np.ndarray, n_slices: int = 24, side: int = 96) -> np.ndarray:
    """A part in the middle of a volume, for what is slow or only shown."""
    wanted = (n_slices, side, side)
    starts = [max(length - part, 0) // 2 for length, part in zip(volume.shape, wanted, strict=True)]
    return volume[tuple(slice(start, start + part) for start, part in zip(starts, wanted, strict=True))]


def noisy_volume(clean: np.ndarray, case: str, sigma: int, seed: int) -> np.ndarray:
    """The clean volume with noise that depends on seed, case and sigma alone: every method gets the same."""
    return with_noise(clean, sigma, [seed, (*CASES, SYNTHETIC).index(case), sigma], np.float32)
