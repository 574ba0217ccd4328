"""Why the quick denoiser averages patches of four dictionaries and mixes in some of the noisy image.

Usage: python benchmarks/together.py --data DATA   (about ten minutes on two cores)
Writes results/together.csv: mean PSNR on the three groups of validation pictures of recipes.py, for each
dictionary alone, for several together, and for other shares of grain. Several together are averaged as whole
results or, as `denoise` does, patch by patch.
"""

import argparse
from pathlib import Path

import numpy as np
from recipes import CLASSIC, KODAK, SIGMAS, middle, striped_regions
from rows import write_rows

import sedil
from sedil.image_files.grey_images import read_grey
from sedil.imaging import patch_denoising
from sedil.imaging.image_dictionaries import Vote, plan_cleaning
from sedil.imaging.patch_averages import CleaningOptions, PatchCounter, sums_over_patches
from sedil.imaging.quality import image_quality

SIDE = 192
GRAINS = (0.0, patch_denoising._GRAIN, 0.035)
OPTIONS = CleaningOptions(None, 5e8, None, PatchCounter(lambda progress: None, 0))
SHIPPED = {side: sedil.shipped_dictionary(f"separable-{side}x{side}") for side in (8, 12, 16)}
VOTES = {
    "8": Vote(SHIPPED[8]),
    "12": Vote(SHIPPED[12]),
    "16": Vote(SHIPPED[16]),
    "16/2": Vote(SHIPPED[16], 2),
    "odct 8": Vote(sedil.odct((8, 8), 16)),
    "odct 12": Vote(sedil.odct((12, 12), 24)),
    "odct 16": Vote(sedil.odct((16, 16), 32)),
    "odct 16/2": Vote(sedil.odct((16, 16), 32), 2),
}
TOGETHER = [
    ("12", "16/2"),
    ("8", "12", "16/2"),
    ("8", "12", "16"),
    ("8", "12", "16/2", "odct 12"),
    ("8", "12", "16/2", "odct 16/2"),  # the quick method
    ("8", "12", "16", "odct 16"),
    ("odct 8", "odct 12", "odct 16/2"),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds images/train")
    parser.add_argument("--output", type=Path, default=Path("results/together.csv"))
    arguments = parser.parse_args()
    groups = pictures(arguments.data / "images/train")
    rows = []
    for sigma in SIGMAS:
        rows += [row for name, images in groups.items() for row in measure(name, images, sigma)]
        write_rows(arguments.output, rows)
        print("noise", sigma, "done", flush=True)


def pictures(folder: Path) -> dict[str, list]:
    regions = striped_regions(np.load(folder / "bsd400_180x180.npz")["images"].astype(np.float32))
    return {
        "classic": [middle(read_grey(folder / f"{name}.png"), SIDE) for name in CLASSIC],
        "kodak": [middle(read_grey(folder / f"kodak24/kodim{number:02d}.png"), SIDE) for number in KODAK],
        "stripes": list(regions),
    }


def measure(group: str, images: list, sigma: float) -> list[dict]:
    noise = np.random.default_rng(1)
    quality: dict[tuple, list[float]] = {}
    for image in images:
        noisy = image + sigma * noise.standard_normal(image.shape).astype(np.float32)
        for key, estimate in estimates(noisy, sigma):
            quality.setdefault(key, []).append(image_quality(estimate, image)[0])
    columns = "dictionaries", "averaged", "grain"
    return [
        {
            "group": group,
            "sigma": sigma,
            **dict(zip(columns, key, strict=True)),
            "psnr": round(np.mean(values), 3),
        }
        for key, values in quality.items()
    ]


def estimates(noisy: np.ndarray, sigma: float):
    sums = {name: weighted_sums(noisy, vote, sigma) for name, vote in VOTES.items()}
    for names in [(name,) for name in VOTES] + TOGETHER:
        parts = [sums[name] for name in names]
        by_patch = sum(part[0] for part in parts) / sum(part[1] for part in parts)
        whole = np.mean([part[0] / part[1] for part in parts], axis=0)
        for averaged, estimate in {"patches": by_patch, "results": whole}.items():
            if averaged == "patches" or len(names) > 1:
                for grain in GRAINS:
                    patch_denoising._GRAIN = grain
                    yield (
                        (" + ".join(names), averaged, grain),
                        patch_denoising._with_grain(estimate, noisy, sigma),
                    )


def weighted_sums(noisy: np.ndarray, vote: Vote, sigma: float) -> tuple:
    cleaning = plan_cleaning(vote, noisy, "refit", sigma, None, 1)
    total, weight = sums_over_patches(noisy, cleaning, OPTIONS)
    return vote.strides**2 * total, vote.strides**2 * weight


if __name__ == "__main__":
    main()
