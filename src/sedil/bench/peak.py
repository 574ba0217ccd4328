"""How much of the machine's multiply-adds the coding kernel uses, and step by step what it loses.

From the innermost product with nothing to fetch (the peak), over short sums, the products of a block in
cache and a whole iteration, to `sedil.sparse_code`. All count the multiply-adds of the products alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

import sedil
from sedil.bench.machine import fma_peak, rates
from sedil.bench.results import Bar, Measurement, Outcome
from sedil.bench.scaling import ITERATIONS, code_all_iterations
from sedil.bench.setting import Setting, noisy_scene, random_patches
from sedil.bench.timing import Contestant, race
from sedil.coding.fista import CHECK_EVERY

_SIDES = (8, 12, 16)
_WANTED = 0.25
_SPEED, _SHARE = "GFLOP/s", "share of the peak"


def run(setting: Setting) -> Outcome:
    """Rates of all stages, for the sizes of the shipped dictionaries."""
    peak = fma_peak(setting.threads)
    scene = noisy_scene(setting)
    found = [_measurement("multiply-adds alone", 0, [peak], 1.0, peak)]
    for side in _SIDES[:1] if setting.quick else _SIDES:
        setting.tell(f"patches of {side}x{side}")
        found += _stages(setting, side, scene.noisy, peak)
    last = next(each for each in found if each.contestant.startswith("sedil.sparse_code") and each.size == 8)
    bars = [Bar("of the multiply-add peak in sedil.sparse_code, 8x8", last.figures[_SHARE], _WANTED)]
    notes = [
        f"Seconds are per operation. The peak, {peak / 1e9:.0f} GFLOP/s on {setting.threads} threads, is "
        "measured in this run, with all numbers in registers and the first-level cache.",
        "A stage contains those above it: what lies between two of them is the price of the step.",
    ]
    return Outcome(scene.words, found, bars, notes)


def _stages(setting: Setting, side: int, image: np.ndarray, peak: float) -> list[Measurement]:
    from sedil.bench.kernels import block_loops, tile_loop
    from sedil.engines.fused.blocks import WIDTH

    dictionary = sedil.odct((side, side), (2 * side, 2 * side)).like(image)
    once = WIDTH * product_flops(dictionary.patch_shape, dictionary.n_atoms)  # synthesis and analysis
    tiles = [[tile_loop(terms) for _ in range(setting.threads)] for terms in (side, 2 * side)]
    blocks = [block_loops(dictionary.factors) for _ in range(setting.threads)]
    stages: dict[str, tuple[list[Callable[[int], None]], float]] = {
        f"sums of {side} in cache": ([loop for loop, _ in tiles[0]], tiles[0][0][1]),
        f"sums of {2 * side} in cache": ([loop for loop, _ in tiles[1]], tiles[1][0][1]),
        "products of a block": ([products for products, _ in blocks], once),
        "iteration of a block": ([iterations for _, iterations in blocks], once),
    }
    found = [
        _measurement(f"{name}, {side}x{side}", side, rates(loops), flops, peak)
        for name, (loops, flops) in stages.items()
    ]
    return [*found, _whole(setting, side, dictionary, image, peak)]


def product_flops(patch_shape: Sequence[int], n_atoms: Sequence[int]) -> int:
    """Sums and products of one synthesis and one analysis of a sample."""
    terms = sum(prod(patch_shape[: axis + 1]) * prod(n_atoms[axis:]) for axis in range(len(patch_shape)))
    return 2 * 2 * terms


def _whole(
    setting: Setting, side: int, dictionary: sedil.SeparableDictionary, image: np.ndarray, peak: float
) -> Measurement:
    patches = random_patches(image, side, setting.choose(65_536, 4096) * 64 // side**2)
    looks = ITERATIONS // CHECK_EVERY  # a look at the gap is one more synthesis and analysis
    flops = len(patches) * (ITERATIONS + looks) * product_flops(dictionary.patch_shape, dictionary.n_atoms)
    contestant = Contestant(
        "sedil.sparse_code",
        "",
        lambda: code_all_iterations(dictionary, patches, setting.threads),
        repeats=setting.choose(5, 2),
    )
    timed = race([contestant], setting.tell)[0]
    speeds = [flops / seconds for seconds in timed.seconds]
    return _measurement(f"sedil.sparse_code, {side}x{side}", side, speeds, 1.0, peak)


def _measurement(name: str, side: int, speeds: list[float], flops: float, peak: float) -> Measurement:
    """From rates, times per second with so many operations each."""
    speed = float(np.median(speeds)) * flops
    return Measurement(
        name,
        tuple(1 / (rate * flops) for rate in speeds),
        f"sedil {sedil.__version__}",
        size=side,
        figures={_SPEED: speed / 1e9, _SHARE: speed / peak},
    )
