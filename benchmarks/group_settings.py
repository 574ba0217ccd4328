"""What a change of the settings of groups does: the figures of docs/groups.md on them, on guide and contrast.

The pictures are not those of any table: parts of classic photographs and of crops.

python benchmarks/group_settings.py --data DATA           # writes results/group-settings.csv
"""

import argparse
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from unittest import mock

import numpy as np
from rows import write_rows
from skimage.io import imread
from skimage.metrics import structural_similarity

import sedil
from sedil.imaging import group_denoising, group_guide, groups, lost_contrast

SIGMAS = 5, 10, 20, 30, 50
CLASSICS = "couple", "hill", "man", "lake", "woman_blonde", "walkbridge", "fingerprint", "jetplane"
PART = slice(100, 400)
CROPS = range(0, 400, 50)
GREY = groups.group_settings((512, 512))


def settings(**changes) -> dict:
    return {"settings": GREY._replace(**changes)}


def shrinkage(**changes) -> dict:
    return settings(shrinkage=GREY.shrinkage._replace(**changes))


CHANGES = {
    "as it is": {},
    "patches 7x7": settings(patch_shape=(7, 7)),
    "patches 8x8": settings(patch_shape=(8, 8)),
    "strength 0.50": shrinkage(strength=0.50),
    "strength 0.54": shrinkage(strength=0.54),
    "mean members as they are": shrinkage(mean_strength=0.0),
    "mean members shrunk by 0.7": shrinkage(mean_strength=0.7),
    "mean members shrunk by 1.3": shrinkage(mean_strength=1.3),
    "3 pixels apart": settings(strides=(3, 3)),
    "six passes": settings(n_passes=6),
    "new matches in every pass": {"match_every": 1},
    "guide 8x8, 2 apart": {"guide": ("separable-8x8", 8, 2)},
    "guide 12x12, 3 apart": {"guide": ("separable-12x12", 12, 3)},
    "no guide": {"guide": None},
    "contrast as it is": {"contrast": 0.0},
    "more contrast": {"contrast": 0.1},
}


@contextmanager
def changed(change: dict) -> Iterator[None]:
    """The constants of the package, changed for a while."""
    with ExitStack() as stack:
        for name, value in change.items():
            stack.enter_context(_patch(name, value))
        yield


def _patch(name: str, value):
    if name == "settings":
        return mock.patch.dict(groups._USUAL, {2: value})
    if name == "match_every":
        return mock.patch.object(group_denoising, "_MATCH_EVERY", value)
    if name == "contrast":
        return mock.patch.object(lost_contrast, "ERROR", value)
    if value is None:
        return mock.patch.object(group_denoising, "plan_guide", return_value="noisy")
    shipped, side, stride = value
    return mock.patch.multiple(group_guide, _NAME=shipped, _SIDE=side, _STRIDE=stride)


def pictures(data: Path) -> dict[str, np.ndarray]:
    folder = data / "images" / "train"
    found = {name: imread(folder / f"{name}.png")[PART, PART] for name in CLASSICS}
    with np.load(folder / "bsd400_180x180.npz") as file:
        crops = next(iter(file.values()))
    return found | {f"crop {number}": crops[number] for number in CROPS}


def measure(clean: np.ndarray, sigma: float, seed: int) -> tuple[float, float]:
    """PSNR and SSIM of what is made of a noisy picture."""
    clean = clean.astype(np.float32)
    noise = np.random.default_rng(seed).standard_normal(clean.shape, np.float32)
    estimate = sedil.denoise(clean + sigma * noise, sigma)
    psnr = 10 * np.log10(255**2 / np.mean((estimate - clean) ** 2))
    ssim = structural_similarity(
        clean, estimate, data_range=255, gaussian_weights=True, sigma=1.5, use_sample_covariance=False
    )
    return float(psnr), float(ssim)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--output", type=Path, default=Path("results/group-settings.csv"))
    arguments = parser.parse_args()
    shown = pictures(arguments.data)
    rows, usual = [], {}
    for change, constants in CHANGES.items():
        for sigma in SIGMAS:
            with changed(constants):
                found = np.array([measure(shown[name], sigma, seed) for seed, name in enumerate(shown)])
            psnr, ssim = found.mean(axis=0).tolist()
            usual.setdefault(sigma, (psnr, ssim))
            rows.append({"change": change, "sigma": sigma, "psnr": round(psnr, 3), "ssim": round(ssim, 4)})
        mine = rows[-len(SIGMAS) :]
        print(f"{change:30}", *(f"{row['psnr'] - usual[row['sigma']][0]:+.3f}" for row in mine), flush=True)
    write_rows(arguments.output, rows)


if __name__ == "__main__":
    main()
