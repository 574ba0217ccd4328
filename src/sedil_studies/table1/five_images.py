"""The five test images of the paper's table: research data that does not ship with the package."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sedil.image_files.grey_images import read_grey
from sedil_studies.harness.data_folder import first_file, given_folder, listed
from sedil_studies.harness.denoising_rows import with_noise
from sedil_studies.table1.paper import IMAGES

# Of lena and peppers several versions are about; these are the ones whose figures agree with the literature.
FILES = {
    "lena": "lena_ksvdbox.png",
    "barbara": "barbara.png",
    "boat": "boat.png",
    "peppers": "peppers512.png",
    "house": "house.png",
}
_SUBFOLDER = "images/standard"  # where a larger collection keeps them


def read_images(folder: Path | None, names: Sequence[str] = IMAGES) -> dict[str, np.ndarray]:
    """The clean images by their names in the paper, float64, shape (rows, columns), on the scale 0 to 255.

    Parameters
    ----------
    folder : Path or None
        A folder with the files of `FILES`, or one that holds them in ``images/standard``; None is an error.
    names : sequence of str
        Which of them; only these must be there.
    """
    expected = listed([FILES[name] for name in names])
    folder = given_folder(folder, expected)
    below = folder / _SUBFOLDER
    found = {name: first_file([folder / FILES[name], below / FILES[name]]) for name in names}
    missing = [FILES[name] for name, path in found.items() if path is None]
    if missing:
        absent = "test image" if len(missing) == len(names) else listed(missing, "or")
        raise FileNotFoundError(
            f"There is no {absent} in {folder} or {below}: give --data a folder that holds {expected}."
        )
    return {name: read_grey(path).astype(np.float64) for name, path in found.items() if path is not None}


def noisy_image(clean: np.ndarray, image: str, sigma: int, seed: int) -> np.ndarray:
    """The clean image with noise that depends on seed, image and sigma alone: every method gets the same."""
    return with_noise(clean, sigma, [seed, IMAGES.index(image), sigma])
