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
from sedil.bench.setting import SIGMA, Setting, noisy_scene, random_patches
from sedil.bench.timing import Contestant, race

SEPARABLE, UNSTRUCTURED = "separable", "unstructured"
_SIDES = (4, 6, 8, 12, 16, 24, 32)
_QUICK_SIDES = (4, 8, 12)
ITERATIONS = 40
_PATCHES_OF_SIDE_8 = 65_536  # fewer of larger ones, so that all take about as long
_FEWEST = 256
# Where no coefficient is zero from the start, and a gap that is not reached: all patches take all iterations.
_PENALTY, _NEVER = 0.1 * SIGMA, 1e-12


def run(setting: Setting) -> Outcome:
    """Time per patch for all sides, both ways."""
    scene = noisy_scene(setting)
    found: list[Measurement] = []
    for side in _QUICK_SIDES if setting.quick else _SIDES:
        separable = sedil.odct((side, side), (2 * side, 2 * side))
        unstructured = sedil.SeparableDictionary([separable.as_matrix()], normalize=True)
        ways = {SEPARABLE: separable, UNSTRUCTURED: unstructured}
        contestants = [_contestant(setting, scene.noisy, side, *way) for way in ways.items()]
        found += race(contestants, setting.tell)
    words = f"patches of {scene.words}, ODCT of 2 x side atoms per axis, {ITERATIONS} iterations of FISTA"
    return Outcome(words, found, _bars(found), ["Seconds are per patch, on one thread."])


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
    setting: Setting, image: np.ndarray, side: int, name: str, dictionary: sedil.SeparableDictionary
) -> Contestant:
    # The work per patch grows with the fourth power of the side for the matrix, the third for the factors.
    growth = (side / 8) ** 3 if name == SEPARABLE else 8 * (side / 8) ** 4
    count = max(int(_PATCHES_OF_SIDE_8 / growth / setting.choose(1, 16)), _FEWEST)
    patches = random_patches(image, side, count).reshape(count, *dictionary.patch_shape)
    return Contestant(
        name,
        f"sedil {sedil.__version__}",
        # Large patches are so few that they could not be shared among threads.
        partial(code_all_iterations, dictionary.like(patches), patches, threads=1),
        repeats=setting.choose(5, 2),
        size=side,
        share=count,  # seconds per patch
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
            _PENALTY,
            tolerance=_NEVER,
            max_iterations=ITERATIONS,
            engine="fused",
            threads=threads,
        )
