"""Why the default denoiser lets two dictionaries vote and mixes in some of the noisy image.

Usage: python benchmarks/together.py --data DATA
Writes results/together.csv: mean PSNR of ten photographs that are neither trained nor tested on, for each
shipped dictionary alone, for means of their results, and for other shares of grain.
"""

import argparse
from pathlib import Path

import numpy as np
from rows import write_rows

import sedil
from sedil.imaging import denoise
from sedil.imaging.images import read_grey
from sedil.imaging.quality import image_quality

SIGMAS = (2, 5, 10, 20, 50)
CLASSIC = ("lake", "hill", "jetplane", "woman_darkhair", "couple", "man")
KODAK = (8, 4, 19, 13)
GRAINS = (0.0, 0.015, 0.025, 0.035)
SIDE = 200
PAIR = ("12x12", "16x16 at stride 2")
TRIPLE = ("8x8", *PAIR)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds images/train")
    parser.add_argument("--output", type=Path, default=Path("results/together.csv"))
    arguments = parser.parse_args()
    folder = arguments.data / "images/train"
    files = [folder / f"{name}.png" for name in CLASSIC]
    files += [folder / f"kodak24/kodim{number:02d}.png" for number in KODAK]
    images = [read_grey(file)[:SIDE, :SIDE].astype(np.float32) for file in files]
    rows = [row for sigma in SIGMAS for row in measure(images, sigma)]
    write_rows(arguments.output, rows)


def measure(images: list, sigma: float):
    noise = np.random.default_rng(1)
    noisy = [image + sigma * noise.standard_normal(image.shape).astype(np.float32) for image in images]
    for grain in GRAINS:
        denoise._GRAIN = grain
        results = {name: [clean(image, sigma, name) for image in noisy] for name in settings()}
        candidates = {name: [name] for name in settings()} | {" + ".join(t): t for t in (PAIR, TRIPLE)}
        for name, parts in candidates.items():
            means = [
                np.mean(images_of, axis=0) for images_of in zip(*(results[p] for p in parts), strict=True)
            ]
            quality = [image_quality(mean, image)[0] for mean, image in zip(means, images, strict=True)]
            row = {"sigma": sigma, "grain": grain, "dictionaries": name, "psnr": round(np.mean(quality), 3)}
            print(row, flush=True)
            yield row


def settings() -> dict[str, tuple]:
    shipped = {side: sedil.shipped_dictionary(f"separable-{side}") for side in ("8x8", "12x12", "16x16")}
    alone = {side: (dictionary, 1) for side, dictionary in shipped.items()}
    odct = {"ODCT 12x12": (sedil.odct((12, 12), (24, 24)), 1)}
    return alone | {"16x16 at stride 2": (shipped["16x16"], 2)} | odct


def clean(image: np.ndarray, sigma: float, name: str) -> np.ndarray:
    dictionary, stride = settings()[name]
    return sedil.denoise(image, sigma, dictionary, stride=stride)


if __name__ == "__main__":
    main()
