"""Why the quick method leaves sparse codes for cosines where noise is weak: time and PSNR of both.

Usage: python benchmarks/weak_noise.py --data DATA   (about ten minutes on two cores)
Writes results/weak-noise.csv: for each picture and noise level the processor time and PSNR of sparse codes
alone, of cosines alone, and of the method, which chooses between them by the range of the noisy picture. The
pictures are parts of photographs that are not among the test images, a very textured one, a page of text, a
drawing of flat shapes, and the whole 512x512 camera for the time.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from recipes import CLASSIC, KODAK, middle
from rows import write_rows
from skimage import data, draw

import sedil
from sedil.image_files.grey_images import read_grey
from sedil.imaging import denoise
from sedil.imaging.quality import image_quality
from sedil.imaging.weak_noise import weakness

SIDE = 128
SIGMAS = (20, 10, 9, 8, 7, 5, 3, 2, 1, 0.5)
WAYS = {"sparse": lambda *noise: 0.0, "cosines": lambda *noise: 1.0, "quick": weakness}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds images/train")
    parser.add_argument("--output", type=Path, default=Path("results/weak-noise.csv"))
    arguments = parser.parse_args()
    sedil.denoise(data.camera()[200:264, 200:264], 20, method="quick")  # compiles
    rows = []
    for name, picture in pictures(arguments.data / "images/train").items():
        rows += [measure(name, picture.astype(np.float32), sigma) for sigma in SIGMAS]
        write_rows(arguments.output, rows)
        print(name, "done", flush=True)


def pictures(folder: Path) -> dict[str, np.ndarray]:
    names = [*CLASSIC, "fingerprint", "baboon", *(f"kodak24/kodim{number:02d}" for number in KODAK)]
    photographs = {Path(name).name: middle(read_grey(folder / f"{name}.png"), SIDE) for name in names}
    others = {"page": middle(data.page(), SIDE), "shapes": shapes()}
    return {"whole camera": data.camera(), **photographs, **others}


def shapes() -> np.ndarray:
    picture = np.full((SIDE, SIDE), 100.0)
    picture[draw.disk((50, 45), 30)] = 180
    picture[70:120, 60:110] = 40
    picture[draw.polygon((10, 40, 60), (80, 120, 85))] = 220
    return picture


def measure(name: str, picture: np.ndarray, sigma: float) -> dict:
    noise = np.random.default_rng(1).standard_normal(picture.shape).astype(np.float32)
    noisy = picture + np.float32(sigma) * noise
    row = {"picture": name, "sigma": sigma, "noisy psnr": round(image_quality(noisy, picture)[0], 2)}
    row["cosines' share"] = round(weakness(float(np.ptp(noisy)), sigma, 2), 2)
    for way, rule in WAYS.items():
        denoise.weakness = rule
        start = time.process_time()
        estimate = sedil.denoise(noisy, sigma, method="quick")
        row[f"{way} seconds"] = round(time.process_time() - start, 2)
        row[f"{way} psnr"] = round(image_quality(estimate, picture)[0], 3)
    return row


if __name__ == "__main__":
    main()
