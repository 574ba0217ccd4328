"""Rows of studies of noise: images or volumes x noise levels x seeds x methods."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sedil.imaging.quality import image_quality
from sedil_studies.harness.method import Denoiser, Method
from sedil_studies.harness.row_kind import RowKind
from sedil_studies.harness.running import Study

AddNoise = Callable[[np.ndarray, str, int, int], np.ndarray]  # from clean pixels, name, sigma and seed


class DenoisingRow(NamedTuple):
    """One method on one noisy image.

    Attributes
    ----------
    image, sigma, seed, method : what was run
    psnr, ssim : of the unrounded result, on the scale 0 to 255
    seconds : of the method alone
    threads : it was given
    settings : of the method
    sedil, baseline, numpy : versions; `baseline` names its package, and is empty for methods of sedil
    commit : of the code that made it
    """

    image: str
    sigma: int
    seed: int
    method: str
    psnr: float
    ssim: float
    seconds: float
    threads: int
    settings: str
    sedil: str
    baseline: str
    numpy: str
    commit: str = ""


DENOISING = RowKind(
    DenoisingRow,
    cell=("image", "sigma", "seed", "method"),
    made_with=("settings", "sedil", "baseline", "numpy"),
)


def denoising_study(
    file: Path,
    images: Mapping[str, np.ndarray],
    methods: Mapping[str, Mapping[str, Method[Denoiser]]],
    add_noise: AddNoise,
    *,
    sigmas: tuple[int, ...],
    n_seeds: int,
    threads: int,
    channel_axis: int | None = None,
) -> Study[DenoisingRow, Denoiser]:
    """Every method on every image at every noise level; first all images and levels of the first seed.

    Parameters
    ----------
    file : Path
        The results file. Rows in it with the same settings and versions are not run again.
    images : mapping
        Clean images by name; no method sees them.
    methods : mapping
        For each image, methods by name.
    add_noise : callable
        Makes the noisy image, the same for all methods.
    sigmas, n_seeds
        Noise levels; the seeds of the noise are 0, 1, ...
    threads : int
        What the methods were given, for the record.
    channel_axis : int, optional
        Of images in colour.
    """

    def measure(row: DenoisingRow, denoise: Denoiser) -> DenoisingRow:
        return _measured(row, images[row.image], denoise, add_noise, channel_axis)

    plan = [
        DENOISING.planned(
            image=image,
            sigma=sigma,
            seed=seed,
            method=name,
            threads=threads,
            settings=method.settings,
            baseline=method.package,
        )
        for seed in range(n_seeds)
        for image in images
        for sigma in sigmas
        for name, method in methods[image].items()
    ]
    return Study(
        "denoising",
        file,
        DENOISING,
        plan,
        lambda row: methods[row.image][row.method],
        measure,
        words=lambda row: f"{row.image}, sigma {row.sigma}, seed {row.seed}: {row.method}",
        work=lambda row: images[row.image].size,
    )


def _measured(
    row: DenoisingRow, clean: np.ndarray, denoise: Denoiser, add_noise: AddNoise, channel_axis: int | None
) -> DenoisingRow:
    """Add noise, denoise, compare."""
    noisy = add_noise(clean, row.image, row.sigma, row.seed)
    began = time.perf_counter()
    result = denoise(noisy, row.sigma)
    seconds = time.perf_counter() - began
    psnr, ssim = image_quality(result, clean, channel_axis)
    return row._replace(psnr=round(psnr, 4), ssim=round(ssim, 5), seconds=round(seconds, 3))


def figures_in_words(row: DenoisingRow | None) -> str:
    """PSNR and SSIM for a table; nothing where there is no row."""
    return "" if row is None else f"{row.psnr:.2f} / {row.ssim:.3f}"


def with_noise(clean: np.ndarray, sigma: int, seeds: list[int], dtype: type = np.float64) -> np.ndarray:
    """Clean pixels with white Gaussian noise, neither clipped nor rounded; they cannot be written to."""
    noise = np.random.default_rng(seeds).standard_normal(clean.shape, dtype=dtype)
    noisy = clean + dtype(sigma) * noise
    noisy.flags.writeable = False
    return noisy
