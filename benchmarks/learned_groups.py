"""What a dictionary learned for groups does in place of each group's own factors, or mixed with them.

Groups of alike patches of clean photographs are signals of three axes: rows, columns and members. A
dictionary with three factors is learned from them as from any other signals. One pass over the same groups of
noisy photographs then shrinks the codes of each group over its own two factors, over the learned three, over
cosines, or takes the mean of two results.

python benchmarks/learned_groups.py --data DATA           # writes results/learned-groups.csv
"""

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from rows import write_rows
from skimage.io import imread

import sedil
from sedil.engines.contract import Shrinkage
from sedil.engines.portable.grouping import shrink

SIDE, MEMBERS, WINDOW, STRIDE = 6, 32, 39, 4
GROUP = SIDE, SIDE, MEMBERS
ATOMS = 9, 9, 48
SHRINKAGE = Shrinkage(strength=0.58, mean_strength=0.0, smooth_steps=2)
SIGMAS = 10, 20, 50
# In standard deviations of the noise: what own factors are shrunk for, and the penalty of codes. Each way is
# judged by its best one.
LEVELS = 1.2, 1.4, 1.6
PENALTIES = 2.5, 3.0, 3.5
CROPS_TO_LEARN_FROM = range(3, 203, 5)
PICTURES = "couple", "hill", "man", "fingerprint"
PART = slice(64, 320)


def corners_of_groups(guide: np.ndarray, stride: int) -> np.ndarray:
    """Of the members of the groups of an image, (n, MEMBERS, 2)."""
    return sedil.match_patches(guide, SIDE, MEMBERS, window=WINDOW, stride=stride).matches


def gather(image: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Groups, (n, SIDE, SIDE, MEMBERS), of the patches at these corners."""
    patches = np.lib.stride_tricks.sliding_window_view(image, (SIDE, SIDE))
    return np.moveaxis(patches[corners[..., 0], corners[..., 1]], 1, -1)


def put_back(groups: np.ndarray, corners: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """The image whose pixels are the means of the members that cover them."""
    total, count = np.zeros(shape), np.zeros(shape)
    for y in range(SIDE):
        for x in range(SIDE):
            at = corners[..., 0] + y, corners[..., 1] + x
            np.add.at(total, at, groups[:, y, x])
            np.add.at(count, at, 1)
    return total / count


def learn_for_groups(crops: np.ndarray) -> sedil.SeparableDictionary:
    """From groups without their mean member, as it is kept apart in all that follows."""
    groups = np.concatenate([gather(crop, corners_of_groups(crop, SIDE)[::4]) for crop in crops])
    groups = groups - groups.mean(axis=-1, keepdims=True)
    contrast = groups.std(axis=(1, 2, 3))
    groups = groups[contrast > np.median(contrast)]
    patches = sedil.normalize_patches(groups.astype(np.float32))
    return sedil.learn(patches, ATOMS, initial="odct", max_iterations=150, random_state=0).dictionary


def shrink_own(groups: np.ndarray, sigma: float) -> np.ndarray:
    """Over the two factors that each group learns for itself."""
    members_first = np.moveaxis(groups, -1, 1).reshape(len(groups), MEMBERS, 1, SIDE * SIDE)
    cleaned = shrink(members_first, np.full(len(groups), sigma**2, groups.dtype), SHRINKAGE)
    return np.moveaxis(cleaned.reshape(len(groups), MEMBERS, SIDE, SIDE), 1, -1)


def shrink_over(
    dictionary: sedil.SeparableDictionary, groups: np.ndarray, sigma: float, penalty: float
) -> np.ndarray:
    """Over the three factors of one dictionary for all."""
    mean = groups.mean(axis=-1, keepdims=True)
    codes = sedil.sparse_code(dictionary, groups - mean, penalty * sigma, method="refit", tolerance=1e-2)
    return mean + dictionary.synthesize(codes)


def psnr(estimate: np.ndarray, clean: np.ndarray) -> float:
    return float(10 * np.log10(255**2 / np.mean((estimate - clean) ** 2)))


def measure(clean: np.ndarray, sigma: float, dictionaries: dict, seed: int) -> dict[str, tuple[float, float]]:
    """PSNR and seconds of each way, by its name."""
    noisy = (clean + sigma * np.random.default_rng(seed).standard_normal(clean.shape)).astype(np.float32)
    corners = corners_of_groups(sedil.denoise(noisy, sigma, method="quick"), STRIDE)
    groups = gather(noisy, corners)
    estimates, seconds = {}, {}

    def clean_by(key: str, way: Callable[[], np.ndarray]) -> None:
        began = time.perf_counter()
        estimates[key] = way()
        seconds[key] = time.perf_counter() - began

    clean_by("all passes", lambda: sedil.denoise(noisy, sigma))
    for level in LEVELS:
        own = partial(shrink_own, groups, level * sigma)
        clean_by(f"own factors, level {level}", lambda own=own: put_back(own(), corners, clean.shape))
    for name, dictionary in dictionaries.items():
        for penalty in PENALTIES:
            over = partial(shrink_over, dictionary, groups, sigma, penalty)
            clean_by(f"{name}, penalty {penalty}", lambda over=over: put_back(over(), corners, clean.shape))
    first = estimates["all passes"]
    found = {key: (psnr(estimate, clean), seconds[key]) for key, estimate in estimates.items()}
    for key, other in estimates.items():
        found[f"mean with all passes: {key}"] = (
            psnr((first + other) / 2, clean),
            sum(seconds[each] for each in {"all passes", key}),
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--output", type=Path, default=Path("results/learned-groups.csv"))
    arguments = parser.parse_args()
    folder = arguments.data / "images" / "train"
    with np.load(folder / "bsd400_180x180.npz") as file:
        crops = next(iter(file.values()))[list(CROPS_TO_LEARN_FROM)].astype(np.float32)
    dictionaries = {"learned three factors": learn_for_groups(crops), "cosines": sedil.odct(GROUP, GROUP)}
    rows = []
    for sigma in SIGMAS:
        for seed, name in enumerate(PICTURES):
            clean = imread(folder / f"{name}.png")[PART, PART].astype(np.float32)
            found = measure(clean, sigma, dictionaries, seed)
            rows += [
                {
                    "sigma": sigma,
                    "picture": name,
                    "groups": key,
                    "psnr": round(value, 3),
                    "seconds": round(t, 2),
                }
                for key, (value, t) in found.items()
            ]
        for key in found:
            mine = [row["psnr"] for row in rows if row["sigma"] == sigma and row["groups"] == key]
            print(f"sigma {sigma:3}  {key:45} {np.mean(mine):.3f} dB", flush=True)
    write_rows(arguments.output, rows)


if __name__ == "__main__":
    main()
