"""Denoise one large picture in a process of its own, and tell its time and its memory.

Usage: python -m sedil_studies.bench.cases.large_child TILE.npy METHOD SIDE THREADS REPEATS
The picture is the tile again and again, with noise; prints a line of JSON.
"""

from __future__ import annotations

import json
import sys
from time import perf_counter
from typing import Any, cast

import numpy as np

import sedil
from sedil.choices import DenoisingMethod
from sedil_studies.bench.setting import SIGMA
from sedil_studies.measures.memory import peak_memory, reset_peak

_SMALL = 64  # side of the picture that everything is compiled with


def large_picture(tile: np.ndarray, side: int) -> np.ndarray:
    """The tile repeated to a square of this side, with noise, float32."""
    times = [-(-side // length) for length in tile.shape]
    picture = np.random.default_rng(0).standard_normal((side, side), dtype=np.float32)
    picture *= np.float32(SIGMA)
    picture += np.tile(tile, times)[:side, :side]
    return picture


def measure(
    tile: np.ndarray, method: DenoisingMethod, side: int, threads: int, repeats: int
) -> dict[str, Any]:
    """Seconds of each repetition, and bytes of the whole process at the peak."""
    sedil.denoise(large_picture(tile, _SMALL), SIGMA, method=method, threads=threads)
    picture = large_picture(tile, side)
    reset_peak()
    seconds = []
    for _ in range(repeats):
        began = perf_counter()
        sedil.denoise(picture, SIGMA, method=method, threads=threads)
        seconds.append(perf_counter() - began)
    return {"seconds": seconds, "peak_bytes": peak_memory()}


def main(arguments: list[str]) -> None:
    """Run as the command line says."""
    file, method, *numbers = arguments
    sys.stdout.write(json.dumps(measure(np.load(file), cast("DenoisingMethod", method), *map(int, numbers))))


if __name__ == "__main__":
    main(sys.argv[1:])
