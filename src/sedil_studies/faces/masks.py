"""What is missing of the faces, by name; sizes are for faces of 64x64 pixels and scale with others."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

_FULL_SIDE = 64
Maker = Callable[[int, int, np.random.Generator], np.ndarray]


def make_masks(kind: str, n: int, side: int) -> np.ndarray:
    """Masks (n, side, side), True where missing: the same ones for every method and in every run."""
    rng = np.random.default_rng([list(KINDS).index(kind), 0])
    return KINDS[kind](n, side, rng)


def _centre(size: int, n: int, side: int, rng: np.random.Generator) -> np.ndarray:
    size = size * side // _FULL_SIDE
    start = (side - size) // 2
    return _squares(np.full((n, 2), start), size, side)


def _anywhere(size: int, n: int, side: int, rng: np.random.Generator) -> np.ndarray:
    size = size * side // _FULL_SIDE
    return _squares(rng.integers(0, side - size + 1, (n, 2)), size, side)


def _squares(corners: np.ndarray, size: int, side: int) -> np.ndarray:
    rows, columns = (
        (corners[:, k, None] <= np.arange(side)) & (np.arange(side) < corners[:, k, None] + size)
        for k in (0, 1)
    )
    return rows[:, :, None] & columns[:, None, :]


def _half(n: int, side: int, rng: np.random.Generator) -> np.ndarray:
    """The left, right, upper or lower half, each as likely."""
    first = np.arange(side) < side // 2
    left = np.broadcast_to(first, (side, side))
    halves = np.stack([left, ~left, left.T, ~left.T])
    return halves[rng.integers(0, len(halves), n)]


def _pixels(share: float, n: int, side: int, rng: np.random.Generator) -> np.ndarray:
    return rng.random((n, side, side)) < share


KINDS: dict[str, Maker] = {
    **{f"centre {size}": partial(_centre, size) for size in (16, 24, 32)},
    **{f"anywhere {size}": partial(_anywhere, size) for size in (16, 24, 32)},
    "half": _half,
    **{f"{percent} % of pixels": partial(_pixels, percent / 100) for percent in (50, 80)},
}
