"""The pictures of the study: research data that does not ship with the package.

Settings of `sedil.denoise` were chosen on other cameras' photographs, and on synthetic noise.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from sedil.image_files.picture_files import read_picture
from sedil_studies.colour.data import COLOUR
from sedil_studies.harness.data_folder import given_folder

CHANNEL_LEVELS = (40, 20, 30)  # of red, green and blue
PHOTOGRAPHS = "images/realnoise/cc15"
_NOISY, _MEAN = "_real.png", "_mean.png"


class CameraPairs(NamedTuple):
    """Photographs by name: single shots, and means of hundreds of them, which count as clean."""

    noisy: dict[str, np.ndarray]
    clean: dict[str, np.ndarray]


def read_pairs(folder: Path | None, n_images: int | None = None) -> CameraPairs:
    """Single shots as they are in their files, and their means as float64, the first ones or all."""
    place = given_folder(folder, f"{PHOTOGRAPHS}, {COLOUR} and the five test images") / PHOTOGRAPHS
    shots = sorted(place.glob(f"*{_NOISY}"))[:n_images]
    if not shots:
        raise FileNotFoundError(f"There is no photograph *{_NOISY} in {place}: give --data another folder.")
    names = [shot.name.removesuffix(_NOISY) for shot in shots]
    clean = {name: read_picture(place / f"{name}{_MEAN}").pixels.astype(np.float64) for name in names}
    return CameraPairs(
        {name: read_picture(shot).pixels for name, shot in zip(names, shots, strict=True)}, clean
    )


def uneven_channels(clean: np.ndarray, name: str, sigma: int, seed: int) -> np.ndarray:
    """Noise of other levels in each channel, whatever `sigma` a method is told."""
    noise = np.random.default_rng([seed, *name.encode(), *CHANNEL_LEVELS]).standard_normal(clean.shape)
    noisy: np.ndarray = clean + np.array(CHANNEL_LEVELS) * noise
    noisy.flags.writeable = False
    return noisy


def counted_photons(clean: np.ndarray, name: str, peak: int, seed: int) -> np.ndarray:
    """Counts of at most about `peak` photons a pixel, on the scale 0 to 255 of the clean image."""
    rng = np.random.default_rng([seed, *name.encode(), peak])
    counts: np.ndarray = rng.poisson(clean * (peak / 255)) * photon_gain(peak)
    counts.flags.writeable = False
    return counts


def photon_gain(peak: float) -> float:
    """What a photon adds to a pixel on the scale 0 to 255."""
    return 255 / peak
