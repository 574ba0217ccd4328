"""The photographs of the study: research data that does not ship with the package.

Settings of `sedil.denoise` were chosen on neither: of the Berkeley parts, on those whose number 25 divides.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sedil.image_files.grey_images import read_grey
from sedil.image_files.picture_files import read_picture
from sedil_studies.harness.data_folder import first_file, given_folder, listed
from sedil_studies.harness.denoising_rows import with_noise

COLOUR, GREY = "images/colour/kodak24", "images/train/kodak24"
PARTS = "images/train/bsd400_180x180.npz"
FILES = (f"{COLOUR}/kodim01.png to kodim24.png", f"the same in grey in {GREY}", PARTS)
_KODAK = tuple(f"kodim{number:02d}" for number in range(1, 25))
_NUMBERS = tuple(range(7, 400, 20))  # of the parts; 25 divides none of them


def read_colour(folder: Path | None, n_images: int | None = None) -> dict[str, np.ndarray]:
    """Kodak's photographs by name, the first ones or all, (rows, columns, 3), on the scale 0 to 255."""
    folder = given_folder(folder, listed(FILES))
    return {
        name: read_picture(_found(folder, f"{COLOUR}/{name}.png")).pixels.astype(np.float64)
        for name in _KODAK[:n_images]
    }


def read_grey_photographs(folder: Path | None, n_images: int | None = None) -> dict[str, np.ndarray]:
    """Kodak's in grey and the parts, the first ones or all of each, on the scale 0 to 255."""
    folder = given_folder(folder, listed(FILES))
    kodak = {
        name: read_grey(_found(folder, f"{GREY}/{name}.png")).astype(np.float64) for name in _KODAK[:n_images]
    }
    with np.load(_found(folder, PARTS)) as content:
        parts = content["images"]
    return kodak | {f"bsd-{k:03d}": parts[k].astype(np.float64) for k in _NUMBERS[:n_images]}


def _found(folder: Path, name: str) -> Path:
    found = first_file([folder / name])
    if found is None:
        raise FileNotFoundError(
            f"There is no {name} in {folder}: give --data a folder that holds {listed(FILES)}."
        )
    return found


def noisy_photograph(clean: np.ndarray, name: str, sigma: int, seed: int) -> np.ndarray:
    """The clean photograph with noise of seed, name and sigma alone: the same for all methods."""
    return with_noise(clean, sigma, [seed, *name.encode(), sigma])
