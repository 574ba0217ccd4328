"""Where the fused engine should hand over to BLAS: products per patch, for ever larger dictionaries."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import sedil
from sedil.engines.fused.engine import LARGEST_CODE
from sedil.engines.portable import products
from sedil_studies.bench.machine import rates
from sedil_studies.bench.results import Findings, Measurement, named
from sedil_studies.bench.setting import Setting

FUSED, BOXES, WHOLE = "fused engine", "portable, threads over boxes", "portable, threads of BLAS"
_SIDES, _QUICK_SIDES = (8, 12, 16, 24, 32, 48, 64, 96, 128), (8, 16)
_BOX = 512  # patches, as `sedil.denoise` takes them
_SMALLEST_BOX, _LARGEST_ARRAY = 32, 2**24  # patches; entries of codes of a box


def run(setting: Setting) -> Findings:
    """Seconds of a synthesis and an analysis per patch, for factors (side, 2 side)."""
    found: list[Measurement] = []
    for side in _QUICK_SIDES if setting.quick else _SIDES:
        setting.tell(f"patches of {side}x{side}")
        found += _engines(setting, side)
    notes = [
        "Seconds are per patch, a synthesis and an analysis.",
        _crossing(found),
        f"Now the fused engine is chosen up to {LARGEST_CODE} atoms.",
    ]
    return Findings("random patches, two factors of (side, 2 side)", found, [], notes)


def _engines(setting: Setting, side: int) -> list[Measurement]:
    from threadpoolctl import threadpool_limits

    from sedil.engines.fused.kernels.vectors import WIDTH
    from sedil_studies.bench.kernel_loops import block_loops

    threads, rounds = setting.threads, setting.choose(5, 2)
    factors = [np.asarray(factor, np.float32) for factor in sedil.odct((side, side), 2 * side).factors]
    box = max(min(_BOX, _LARGEST_ARRAY // (2 * side) ** 2), _SMALLEST_BOX)
    fused = rates([block_loops(factors).products for _ in range(threads)], rounds)
    with threadpool_limits(1, user_api="blas"):
        boxes = rates([_portable_loop(factors, box) for _ in range(threads)], rounds)
    with threadpool_limits(threads, user_api="blas"):
        whole = rates([_portable_loop(factors, box * threads)], rounds)
    return [
        _measurement(FUSED, side, fused, WIDTH),
        _measurement(BOXES, side, boxes, box),
        _measurement(WHOLE, side, whole, box * threads),
    ]


def _portable_loop(factors: list[np.ndarray], n_patches: int) -> Callable[[int], None]:
    shape = (*(factor.shape[1] for factor in factors), n_patches)
    codes = np.random.default_rng(0).standard_normal(shape, dtype=np.float32)

    def loop(times: int) -> None:
        for _ in range(times):
            products.analyze(factors, products.synthesize(factors, codes))

    return loop


def _measurement(name: str, side: int, speeds: list[float], n_patches: int) -> Measurement:
    """From rates, times per second with so many patches each."""
    seconds = tuple(1 / (rate * n_patches) for rate in speeds)
    return Measurement(name, seconds, f"sedil {sedil.__version__}", size=side)


def _crossing(found: list[Measurement]) -> str:
    """From which side on some portable way is faster."""
    fused = {each.size: each.median for each in named(found, FUSED)}
    slower = [each.size for each in named(found, BOXES, WHOLE) if each.median < fused[each.size]]
    if not slower:
        return "The fused engine is the faster one for all sides."
    side = int(min(slower))
    return f"BLAS is the faster one first at side {side}, where there are {(2 * side) ** 2} atoms."
