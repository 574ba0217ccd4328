"""What separability buys: the same coding problem with a Kronecker dictionary and with it written out.

Both have the same atoms and take the same number of iterations on the same engine, so that nothing differs
but the structure. The paper's cost per pixel is O(n) for the matrix and O(sqrt n) for the factors.
"""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np

import sedil
from sedil.bench.results import Bar, Measurement, Outcome, named
from sedil.bench.setting import SIGMA, Setting, all_patches, noisy_scene, some
from sedil.bench.timing import Contestant, race

SEPARABLE, UNSTRUCTURED = "separable", "unstructured"
_SIDES = (4, 6, 8, 12, 16, 24, 32)
_QUICK_SIDES = (4, 8, 12)
ITERATIONS = 40
_PATCHES_OF_SIDE_8 = 65_536  # fewer of larger ones, so that all take about as long
_FEWEST = {SEPARABLE: 4096, UNSTRUCTURED: 256}
_NEVER = 1e-12  # a gap that is not reached: all patches take all iterations


def run(setting: Setting) -> Outcome:
    """Time per patch for all sides, both ways."""
    scene = noisy_scene(setting)
    found: list[Measurement] = []
    for side in _QUICK_SIDES if setting.quick else _SIDES:
        setting.tell(f"patches of {side}x{side}")
        patches = all_patches(scene.noisy, side)
        separable = sedil.odct((side, side), (2 * side, 2 * side)).like(patches)
        matrix = np.ascontiguousarray(separable.as_matrix(), np.float32)
        unstructured = sedil.SeparableDictionary([matrix], normalize=True)
        found += race(
            [
                _contestant(setting, SEPARABLE, separable, patches, side),
                _contestant(setting, UNSTRUCTURED, unstructured, patches.reshape(len(patches), -1), side),
            ],
            setting.tell,
        )
    words = f"patches of {scene.words}, ODCT of 2 x side atoms per axis, {ITERATIONS} iterations of FISTA"
    return Outcome(words, found, _bars(found), ["Seconds are per patch."])


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


def _contestant(
    setting: Setting, name: str, dictionary: sedil.SeparableDictionary, patches: np.ndarray, side: int
) -> Contestant:
    """The work grows with the fourth power of the side for the matrix, the third for the factors."""
    growth = (side / 8) ** (3 if name == SEPARABLE else 4)
    gain_at_8 = 1 if name == SEPARABLE else 8
    count = max(int(_PATCHES_OF_SIDE_8 / growth / gain_at_8), _FEWEST[name])
    mine = some(patches, count // setting.choose(1, 16))
    return Contestant(
        name,
        f"sedil {sedil.__version__}",
        partial(code_all_iterations, dictionary, mine, setting.threads),
        repeats=setting.choose(5, 2),
        size=side,
        share=len(mine),  # seconds per patch
    )


def code_all_iterations(
    dictionary: sedil.SeparableDictionary, patches: np.ndarray, threads: int
) -> np.ndarray:
    """FISTA that never finds a gap small enough: every patch takes all iterations."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return sedil.sparse_code(
            dictionary,
            patches,
            2 * SIGMA,
            tolerance=_NEVER,
            max_iterations=ITERATIONS,
            engine="fused",
            threads=threads,
        )
