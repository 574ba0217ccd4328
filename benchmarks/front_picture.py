"""Before and after: the picture at the top of the README.

python benchmarks/front_picture.py            # writes results/front.png
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from skimage import data
from skimage.metrics import structural_similarity

import sedil

SIGMA = 25.0
PART = slice(20, 276), slice(80, 460)  # the cat's face
MISSING = 0.8


def main() -> None:
    """Draw it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("results/front.png"))
    output = parser.parse_args().output
    clean = data.cat().astype(np.float32)
    rng = np.random.default_rng(0)
    noisy = clean + SIGMA * rng.standard_normal(clean.shape, np.float32)
    holes = rng.random(clean.shape[:2]) < MISSING
    shown = [
        (f"noise of sigma {SIGMA:g}", noisy),
        (f"{MISSING:.0%} of the pixels missing", with_holes(clean, holes)),
    ]
    sedil.denoise(noisy[:64, :64], SIGMA, channel_axis=-1)  # compiles
    sedil.inpaint(clean[:64, :64], holes[:64, :64], channel_axis=-1)
    began = time.perf_counter()
    shown.append(("sedil.denoise", sedil.denoise(noisy, SIGMA, channel_axis=-1)))
    between = time.perf_counter()
    shown.append(("sedil.inpaint", sedil.inpaint(clean, holes, channel_axis=-1)))
    seconds = [None, None, between - began, time.perf_counter() - between]
    figure, axes = plt.subplots(2, 2, figsize=(9.2, 6.9), layout="constrained")
    for ax, (title, picture), took in zip(axes.flat, shown, seconds, strict=True):
        ax.imshow(np.clip(picture[PART] / 255, 0, 1))
        ax.set_title(in_words(title, picture, clean, took), fontsize=10)
        ax.axis("off")
    figure.savefig(output, dpi=110)


def with_holes(clean: np.ndarray, holes: np.ndarray) -> np.ndarray:
    """The picture with missing pixels in black."""
    return np.where(holes[..., None], 0, clean)


def in_words(title: str, picture: np.ndarray, clean: np.ndarray, seconds: float | None) -> str:
    """A title with PSNR and SSIM over the whole picture, and the time where there is one."""
    psnr = 10 * np.log10(255**2 / np.mean((picture - clean) ** 2))
    ssim = structural_similarity(
        clean, picture, channel_axis=-1, data_range=255, gaussian_weights=True, sigma=1.5,
        use_sample_covariance=False,
    )  # fmt: skip
    took = "" if seconds is None else f", {seconds:.1f} s"
    return f"{title}: {psnr:.1f} dB, SSIM {ssim:.2f}{took}"


if __name__ == "__main__":
    main()
