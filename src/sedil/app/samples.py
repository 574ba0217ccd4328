"""Pictures and a volume to try the page with: scikit-image carries or computes them, the noise is ours."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from sedil.files import write_picture

SIGMA = 25.0
NAMES = ("cat", "camera", "coffee")


class Sample(NamedTuple):
    """What is clean, and a file of the same with noise."""

    name: str
    clean: np.ndarray
    noisy: Path


def write_samples(folder: Path) -> list[Sample]:
    """Photographs with noise of level `SIGMA`."""
    from skimage import data

    samples = []
    for name in NAMES:
        clean, file = getattr(data, name)(), folder / f"{name}.png"
        write_picture(file, with_noise(clean))
        samples.append(Sample(name, clean, file))
    return samples


def write_volume_sample(folder: Path) -> Sample:
    """A computed foam, 32 slices of 96x96."""
    from scipy.ndimage import gaussian_filter
    from skimage import data

    foam = data.binary_blobs(96, blob_size_fraction=0.15, n_dim=3, volume_fraction=0.6, rng=0)[:32]
    clean = (180 * gaussian_filter(foam.astype(float), 0.7) + 30).astype(np.uint8)
    file = folder / "foam.npy"
    np.save(file, with_noise(clean))
    return Sample("foam", clean, file)


def with_noise(clean: np.ndarray) -> np.ndarray:
    """Eight bits again, as a camera would give them."""
    noise = np.random.default_rng(0).standard_normal(clean.shape)
    return np.rint(clean + SIGMA * noise).clip(0, 255).astype(np.uint8)


def scratches(shape: tuple[int, ...]) -> np.ndarray:
    """Strokes across a picture, True where it is painted over."""
    rows, columns = np.ogrid[: shape[0], : shape[1]]
    down, across = rows / shape[0], columns / shape[1]
    width = 4 / min(shape[:2])
    curves = (
        down - 0.3 - 0.08 * np.sin(9 * across),
        down - 0.75 + 0.1 * np.sin(6 * across),
        across - 0.35 - 0.15 * down,
        across - 0.7 + 0.2 * down**2,
    )
    return np.any([np.abs(curve) < width for curve in curves], axis=0)
