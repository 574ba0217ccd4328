"""What a change of the settings of groups does: the figures of docs/groups.md on them, on guide and contrast.

The pictures are not those of any table: parts of classic photographs and of crops, a part of the head, and
clips made of photographs: a thing that passes a camera at rest, a slow pan, a zoom.

python benchmarks/group_settings.py --data DATA           # writes results/group-settings.csv
"""

import argparse
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import numpy as np
from rows import write_rows
from scipy.ndimage import shift, zoom
from skimage.io import imread
from skimage.metrics import structural_similarity

import sedil
from sedil.image_files.volume_files import read_volume
from sedil.imaging import group_denoising, group_guide, groups, lost_contrast

SIGMAS, SIGMAS_OF_VOLUMES, SIGMAS_OF_CLIPS = (5, 10, 20, 30, 50), (10, 20, 40), (10, 40)
CLASSICS = "couple", "hill", "man", "lake", "woman_blonde", "walkbridge", "fingerprint", "jetplane"
PART = slice(100, 400)
CROPS = range(0, 400, 50)
HEAD, PART_OF_HEAD = "volumes/chris_t1.npz", np.s_[46:142, 108:148, 60:156]
N_FRAMES, SIDE, GRAIN = 20, 96, 1.0  # of the clips; cameras make a little noise of their own
GREY, VOLUME = groups.group_settings((512, 512)), groups.group_settings((99, 99, 99))


def settings(**changes) -> dict:
    return {"settings": GREY._replace(**changes)}


def of_volumes(**changes) -> dict:
    return {"settings": VOLUME._replace(**changes)}


def of_clips(**changes) -> dict:
    return {"clip": groups._CLIP._replace(**changes)}


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
    "guide 8x8, 2 apart": {"guide": ("separable-8x8", 8, 2)},
    "guide 12x12, 3 apart": {"guide": ("separable-12x12", 12, 3)},
    "no guide": {"guide": None},
    "contrast as it is": {"contrast": 0.0},
    "more contrast": {"contrast": 0.1},
}
CHANGES_OF_VOLUMES = {
    "as it is": {},
    "2 voxels apart": of_volumes(strides=(2, 2, 2)),
    "32 members": of_volumes(n_members=32),
    "48 members": of_volumes(n_members=48),
    "window 11x11x11": of_volumes(window=(11, 11, 11)),
    "2 apart, 32 members, window 11x11x11": of_volumes(strides=(2, 2, 2), n_members=32, window=(11, 11, 11)),
    "four passes": of_volumes(n_passes=4),
    "six passes": of_volumes(n_passes=6),
    "contrast as it is": {"contrast": 0.0},
}
CHANGES_OF_CLIPS = {
    "as it is": {},
    "window 9x17x17": of_clips(window=(9, 17, 17)),
    "window 17x17x17": of_clips(window=(17, 17, 17)),
    "window 25x11x11": of_clips(window=(25, 11, 11)),
    "64 members": of_clips(n_members=64),
    "six passes": of_clips(n_passes=6),
    "ten passes": of_clips(n_passes=10),
    "1x5x5 apart": of_clips(strides=(1, 5, 5)),
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
        return mock.patch.dict(groups._USUAL, {len(value.patch_shape): value})
    if name == "clip":
        return mock.patch.object(groups, "_CLIP", value)
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


def head(data: Path) -> dict[str, np.ndarray]:
    """Between what is learned from and what is tested."""
    whole = read_volume(data / HEAD).pixels.astype(np.float32)
    return {"head": (whole * (255 / whole.max()))[PART_OF_HEAD]}


def clips(data: Path) -> dict[str, np.ndarray]:
    """Frames along the first axis."""
    lake, man, couple, hill = (
        imread(data / "images" / "train" / f"{name}.png").astype(np.float32)
        for name in ("lake", "man", "couple", "hill")
    )
    at_rest = np.stack([lake[200 : 200 + SIDE, 150 : 150 + SIDE]] * N_FRAMES)
    for number, frame in enumerate(at_rest):
        first = 5 * number - 30
        seen = slice(max(first, 0), max(min(first + 32, SIDE), 0))
        frame[40:80, seen] = man[180:220, 200:232][:, seen.start - first : seen.stop - first]
    pan = [shift(couple[150:326, 150:326], (0.4 * n, -1.3 * n), mode="nearest") for n in range(N_FRAMES)]
    zooms = [zoom(hill[200:316, 200:316], 1 + 0.01 * n) for n in range(N_FRAMES)]
    made = {"at rest": at_rest, "pan": np.stack([_middle(each) for each in pan])}
    made["zoom"] = np.stack([_middle(each) for each in zooms])
    rng = np.random.default_rng(5)
    return {name: clip + GRAIN * rng.standard_normal(clip.shape) for name, clip in made.items()}


def _middle(frame: np.ndarray) -> np.ndarray:
    first = [(length - SIDE) // 2 for length in frame.shape]
    return frame[first[0] : first[0] + SIDE, first[1] : first[1] + SIDE]


class Measured(NamedTuple):
    """What is made of a noisy picture, and on how much time of the processor."""

    psnr: float
    ssim: float
    seconds: float


def measure(clean: np.ndarray, sigma: float, seed: int, time_axis: int | None = None) -> Measured:
    clean = clean.astype(np.float32)
    noise = np.random.default_rng(seed).standard_normal(clean.shape, np.float32)
    began = time.process_time()
    estimate = sedil.denoise(clean + sigma * noise, sigma, time_axis=time_axis)
    seconds = time.process_time() - began
    psnr = 10 * np.log10(255**2 / np.mean((estimate - clean) ** 2))
    ssim = structural_similarity(
        clean, estimate, data_range=255, gaussian_weights=True, sigma=1.5, use_sample_covariance=False
    )
    return Measured(float(psnr), float(ssim), seconds)


def compare(
    kind: str,
    shown: dict[str, np.ndarray],
    changes: dict[str, dict],
    sigmas: tuple[int, ...],
    time_axis: int | None = None,
) -> Iterator[dict]:
    """A row for each change and sigma: means over all that is shown."""
    usual: dict[int, Measured] = {}
    sedil.denoise(next(iter(shown.values()))[:40, :40], 10, time_axis=time_axis)  # compiled
    for change, constants in changes.items():
        print(f"{kind:10}{change:40}", end="", flush=True)
        for sigma in sigmas:
            with changed(constants):
                found = [measure(clean, sigma, seed, time_axis) for seed, clean in enumerate(shown.values())]
            mean = Measured(*np.mean(found, axis=0).tolist())
            own = usual.setdefault(sigma, mean)
            print(f"{mean.psnr - own.psnr:+8.3f}", end="", flush=True)
            yield {
                "of": kind,
                "change": change,
                "sigma": sigma,
                "psnr": round(mean.psnr, 3),
                "ssim": round(mean.ssim, 4),
                "processor_seconds": round(mean.seconds, 2),
            }
        print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--output", type=Path, default=Path("results/group-settings.csv"))
    arguments = parser.parse_args()
    rows = [
        *compare("volume", head(arguments.data), CHANGES_OF_VOLUMES, SIGMAS_OF_VOLUMES),
        *compare("clips", clips(arguments.data), CHANGES_OF_CLIPS, SIGMAS_OF_CLIPS, time_axis=0),
        *compare("pictures", pictures(arguments.data), CHANGES, SIGMAS),
    ]
    write_rows(arguments.output, rows)


if __name__ == "__main__":
    main()
