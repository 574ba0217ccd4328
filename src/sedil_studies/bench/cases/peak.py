"""How much of the machine's multiply-adds the coding kernel uses, and step by step what it loses.

From the innermost product with nothing to fetch (the peak), over short sums, the products of a block in
cache and a whole iteration, to `sedil.sparse_code`. All count the multiply-adds of the products alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from math import prod

import numpy as np

import sedil
from sedil.engines.contract import Solver
from sedil.engines.portable.l1 import ADMM_CHECK, FISTA_CHECK
from sedil.terminal import counted
from sedil_studies.bench.machine import fma_peak, rates
from sedil_studies.bench.results import Bar, Findings, Measurement
from sedil_studies.bench.setting import SIGMA, Setting, noisy_scene, random_patches
from sedil_studies.bench.timing import Contestant, race

_SIDES = (8, 12, 16)
_ITERATIONS = 40
# Where no coefficient is zero from the start, and a gap that is not reached: all patches take all iterations.
_PENALTY, _NEVER = 0.1 * SIGMA, 1e-12
_WANTED = 0.25
_SPEED, _SHARE = "GFLOP/s", "share of the peak"
_WHOLE = "sparse_code, FISTA, 8x8"  # the solver of the paper
# Synthesis and analysis besides those of the iterations: one of each when the gap is looked at; ADMM starts
# each of its turns with an analysis of the patches.
_LOOKS: dict[Solver, float] = {"fista": _ITERATIONS / FISTA_CHECK, "admm": 1.5 * _ITERATIONS / ADMM_CHECK}


def run(setting: Setting) -> Findings:
    """Rates of all stages, for the sizes of the shipped dictionaries."""
    peak = fma_peak(setting.threads)
    scene = noisy_scene(setting)
    found = [_measurement("multiply-adds alone", 0, [peak], 1.0, peak)]
    for side in _SIDES[:1] if setting.quick else _SIDES:
        setting.tell(f"patches of {side}x{side}")
        found += _stages(setting, side, scene.noisy, peak)
    whole = next(each for each in found if each.contestant == _WHOLE)
    bars = [Bar(f"of the multiply-add peak in {_WHOLE}", whole.figures[_SHARE], _WANTED)]
    threads = counted(setting.threads, "thread")
    notes = [
        f"The peak, {peak / 1e9:.0f} GFLOP/s on {threads}, was measured in this run, with all numbers in "
        "registers and the first-level cache.",
        "Each stage adds a step to what the one above it does; the difference of the two is its price. FISTA "
        "makes its products in a way of its own.",
    ]
    return Findings(scene.words, found, bars, notes)


def _stages(setting: Setting, side: int, image: np.ndarray, peak: float) -> list[Measurement]:
    from sedil.engines.fused.kernels.vectors import WIDTH
    from sedil_studies.bench.kernel_loops import block_loops, tile_loop

    dictionary = sedil.odct((side, side), (2 * side, 2 * side)).like(image)
    each_thread = range(setting.threads)
    blocks = [block_loops(dictionary.factors) for _ in each_thread]
    once = WIDTH * product_flops(dictionary.patch_shape, dictionary.n_atoms)
    stages: dict[str, tuple[list[Callable[[int], None]], float]] = {}
    for terms in (side, 2 * side):
        tiles = [tile_loop(terms) for _ in each_thread]
        stages[f"sums of {terms} in cache"] = [loop for loop, _ in tiles], tiles[0][1]
    stages["products of a block"] = [block.products for block in blocks], once
    stages["iteration of FISTA"] = [block.fista for block in blocks], once
    stages["iteration of ADMM"] = [block.admm for block in blocks], once
    found = [
        _measurement(f"{name}, {side}x{side}", side, rates(loops), flops, peak)
        for name, (loops, flops) in stages.items()
    ]
    return [*found, *(_whole(setting, side, dictionary, image, peak, solver) for solver in _LOOKS)]


def product_flops(patch_shape: Sequence[int], n_atoms: Sequence[int]) -> int:
    """Sums and products of one synthesis and one analysis of a sample."""
    terms = sum(prod(n_atoms[: axis + 1]) * prod(patch_shape[axis:]) for axis in range(len(patch_shape)))
    return 2 * 2 * terms


def _whole(
    setting: Setting,
    side: int,
    dictionary: sedil.SeparableDictionary,
    image: np.ndarray,
    peak: float,
    solver: Solver,
) -> Measurement:
    patches = random_patches(image, side, setting.choose(65_536, 4096) * 64 // side**2)
    products = _ITERATIONS + _LOOKS[solver]
    flops = len(patches) * products * product_flops(dictionary.patch_shape, dictionary.n_atoms)
    contestant = Contestant(
        f"sparse_code, {solver.upper()}, {side}x{side}",
        "",
        partial(_code, dictionary, patches, setting.threads, solver),
        repeats=setting.choose(5, 2),
    )
    timed = race([contestant], setting.tell)[0]
    speeds = [flops / seconds for seconds in timed.seconds]
    return _measurement(contestant.name, side, speeds, 1.0, peak)


def _code(
    dictionary: sedil.SeparableDictionary, patches: np.ndarray, threads: int, solver: Solver
) -> np.ndarray:
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return sedil.sparse_code(
            dictionary,
            patches,
            _PENALTY,
            solver=solver,
            tolerance=_NEVER,
            max_iterations=_ITERATIONS,
            engine="fused",
            threads=threads,
        )


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
