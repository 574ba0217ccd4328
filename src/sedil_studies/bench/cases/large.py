"""Large pictures: time and memory of denoising against the number of pixels, each size in its own process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import sedil
from sedil_studies.bench.results import Bar, Findings, Measurement, named
from sedil_studies.bench.setting import SIGMA, Setting, noisy_scene

_SIDES, _QUICK_SIDES = (512, 1024, 2048, 4096), (128, 256, 512)
_REPEATS = {512: 7, 1024: 5, 2048: 3}  # else once
METHODS = {"groups": "sedil", "quick": "sedil quick"}  # of `sedil.denoise`, and their names here
_MOST_MEMORY = 1.5e9
_MOST_EXPONENT = 1.05


def run(setting: Setting) -> Findings:
    """Denoise by groups and by the quick method."""
    scene = noisy_scene(setting)
    found = []
    with TemporaryDirectory() as folder:
        tile = Path(folder) / "tile.npy"
        np.save(tile, scene.clean)
        for method in METHODS:
            for side in _QUICK_SIDES if setting.quick else _SIDES:
                setting.tell(f"{method}, {side}x{side}")
                repeats = setting.choose(_REPEATS.get(side, 1), 1)
                found.append(_measure(tile, method, side, setting.threads, repeats))
    words = f"{scene.name}, repeated to squares, sigma {SIGMA:g}"
    return Findings(words, found, _bars(found), ["Memory is that of the whole process at its peak."])


def exponent(measurements: list[Measurement]) -> float:
    """Slope of the time against the number of pixels, both as logarithms, by least squares."""
    pixels = [2 * np.log(each.size) for each in measurements]
    return float(np.polyfit(pixels, [np.log(each.median) for each in measurements], 1)[0])


def _bars(found: list[Measurement]) -> list[Bar]:
    return [bar for name in METHODS.values() for bar in _bars_of(name, named(found, name))]


def _bars_of(name: str, mine: list[Measurement]) -> list[Bar]:
    largest = mine[-1]
    peak = (largest.peak_bytes or 0) / 1e9
    side = int(largest.size)
    words = f"{name}: exponent of the time in the number of pixels"
    return [
        Bar(f"{name}: GB at the peak, {side}x{side}", peak, _MOST_MEMORY / 1e9, at_least=False),
        Bar(words, exponent(mine), _MOST_EXPONENT, at_least=False),
    ]


def _measure(tile: Path, method: str, side: int, threads: int, repeats: int) -> Measurement:
    program = [sys.executable, "-m", "sedil_studies.bench.cases.large_child"]
    arguments = map(str, (tile, method, side, threads, repeats))
    done = subprocess.run([*program, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"Denoising {side}x{side} pixels failed: {done.stderr.strip().splitlines()[-1:]}")
    told = json.loads(done.stdout)
    return Measurement(
        METHODS[method],
        tuple(told["seconds"]),
        f"sedil {sedil.__version__}",
        size=side,
        peak_bytes=told["peak_bytes"],
        figures={"microseconds per pixel": 1e6 * float(np.median(told["seconds"])) / side**2},
    )
