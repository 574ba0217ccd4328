"""What separability buys: the same coding problem with a Kronecker dictionary and with it written out.

Both have the same atoms and do the same iterations on the same engine, so that nothing differs but the
structure. The paper's cost per pixel is O(n) for the matrix and O(sqrt n) for the factors.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import sedil
from sedil_studies.bench.machine import rates
from sedil_studies.bench.results import Bar, Findings, Measurement, named
from sedil_studies.bench.setting import Setting

SEPARABLE, UNSTRUCTURED = "separable", "unstructured"
_SIDES = (4, 6, 8, 12, 16, 24, 32)
_QUICK_SIDES = (4, 8, 12)
_ITERATIONS = 40


def run(setting: Setting) -> Findings:
    """Time per patch for all sides, both ways."""
    found: list[Measurement] = []
    for side in _QUICK_SIDES if setting.quick else _SIDES:
        setting.tell(f"patches of {side}x{side}")
        separable = sedil.odct((side, side), (2 * side, 2 * side))
        ways = {SEPARABLE: separable.factors, UNSTRUCTURED: [separable.as_matrix()]}
        found += _measure(ways, side, setting.choose(25, 2))
    notes = [
        f"Time is per patch, {_ITERATIONS} iterations, on one thread.",
        "The step length, found by a singular value decomposition, is not on the clock: its share would "
        "depend on the number of patches.",
    ]
    words = "random patches, ODCT of 2 x side atoms per axis, FISTA on a block of the fused engine"
    return Findings(words, found, _bars(found), notes)


def gains(found: list[Measurement]) -> dict[int, float]:
    """How many times faster separable is, by the side of the patch."""
    slow = {each.size: each.median for each in named(found, UNSTRUCTURED)}
    return {int(each.size): slow[each.size] / each.median for each in named(found, SEPARABLE)}


def _bars(found: list[Measurement]) -> list[Bar]:
    gain = gains(found)
    return [
        Bar("times faster than unstructured, patches of 8x8", gain[8], 4),
        Bar(f"gain at side {max(gain)} over the gain at side 8", gain[max(gain)] / gain[8], 1),
    ]


def _measure(ways: dict[str, Sequence[np.ndarray]], side: int, rounds: int) -> list[Measurement]:
    """Seconds per patch of each way, round after round: a change of the machine's pace meets them all."""
    from sedil.engines.fused.kernels.vectors import WIDTH
    from sedil_studies.bench.kernel_loops import block_loops

    loops = {name: block_loops(factors).fista for name, factors in ways.items()}
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, loop in loops.items():
            (blocks_per_second,) = rates([loop], 1)
            seconds[name].append(_ITERATIONS / (blocks_per_second * WIDTH))
    package = f"sedil {sedil.__version__}"
    return [Measurement(name, tuple(times), package, size=side) for name, times in seconds.items()]
