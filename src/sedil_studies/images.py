"""The five test images of the paper's table: research data that does not ship with the package."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sedil.image_files.grey_images import read_grey
from sedil_studies.paper import IMAGES

# Of lena and peppers several versions are about; these are the ones whose figures agree with the literature.
FILES = {
    "lena": "lena_ksvdbox.png",
    "barbara": "barbara.png",
    "boat": "boat.png",
    "peppers": "peppers512.png",
    "house": "house.png",
}
_SUBFOLDER = "images/standard"  # where a larger collection keeps them


def read_images(folder: Path, names: Sequence[str] = IMAGES) -> dict[str, np.ndarray]:
    """The clean images by their names in the paper, float64, shape (rows, columns), on the scale 0 to 255.

    Parameters
    ----------
    folder : Path
        A folder with the files of `FILES`, or one that holds them in ``images/standard``.
    names : sequence of str
        Which of them; only these must be there.
    """
    places = [folder, folder / _SUBFOLDER]
    found = {name: _first_file(places, FILES[name]) for name in names}
    missing = [FILES[name] for name, path in found.items() if path is None]
    if missing:
        absent = "test image" if len(missing) == len(names) else _listed(missing, "or")
        raise FileNotFoundError(
            f"There is no {absent} in {places[0]} or {places[1]}: "
            f"give --data a folder that holds {expected_files(names)}."
        )
    return {name: read_grey(path).astype(np.float64) for name, path in found.items() if path is not None}


def read_given_images(folder: Path | None, names: Sequence[str] = IMAGES) -> dict[str, np.ndarray]:
    """The same for a folder that a command may not have been given."""
    if folder is None:
        raise FileNotFoundError(
            f"Give --data, or the environment variable SEDIL_DATA, a folder that holds "
            f"{expected_files(names)}."
        )
    return read_images(folder, names)


def expected_files(names: Sequence[str] = IMAGES) -> str:
    """The names of the files, for people."""
    return _listed([FILES[name] for name in names])


def noisy_image(clean: np.ndarray, image: str, sigma: int, seed: int) -> np.ndarray:
    """The clean image with white Gaussian noise, neither clipped nor rounded; it cannot be written to.

    The noise depends on seed, image and sigma alone, so that every method gets the same pixels.
    """
    rng = np.random.default_rng([seed, IMAGES.index(image), sigma])
    noisy = clean + sigma * rng.standard_normal(clean.shape)
    noisy.flags.writeable = False
    return noisy


def _first_file(places: Sequence[Path], name: str) -> Path | None:
    return next((place / name for place in places if (place / name).is_file()), None)


def _listed(names: Sequence[str], last_word: str = "and") -> str:
    *most, last = names
    return f"{', '.join(most)} {last_word} {last}" if most else last
