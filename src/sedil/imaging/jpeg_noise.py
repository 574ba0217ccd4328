"""The noise that a grey picture had before it was stored as JPEG.

JPEG rounds each cosine of its own 8x8 blocks to a multiple of a step. Where the step is wider than the noise,
most of the fine ones become 0, and what is left of the noise says little of how strong it was. But how many
are not 0 says it: a cosine of flat parts was noise alone, and stayed where it was above half a step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.fft import dctn
from scipy.special import ndtr

_SIDE = 8
_ORDER = np.indices((_SIDE, _SIDE)).sum(axis=0).ravel()  # of a cosine: steps along both axes
_FINE = _ORDER > _SIDE
_MORE_ZEROS, _LARGE_STEP = 0.15, 15
_ZERO = 1.5  # what rounding of pixels makes of a cosine that is 0 is smaller
_FLAT, _FEWEST = 0.2, 60  # share of all blocks that is taken for flat, and their least number
_FEWEST_SIZES, _FEWEST_STEPS, _FEWEST_LEFT = 5, 5, 20
_MOST_DETAIL = 16.0  # of one cosine, in what is usual
_HALVINGS = 40


class RoundedNoise(NamedTuple):
    """What JPEG tells of the noise before it, and of the one that it added.

    Attributes
    ----------
    variance : of both together
    chance : share by which that may be wrong
    """

    variance: float
    chance: float


def was_coarse_jpeg(picture: np.ndarray) -> bool:
    """Whether a grey picture of bytes was stored as JPEG that rounds much: at quality 90 or less.

    Fine cosines of its blocks are 0 more often than those of blocks elsewhere, and else large.
    """
    if min(picture.shape) < 2 * _SIDE:
        return False
    own, elsewhere = (_sizes(picture[start:, start:])[:, _FINE] for start in (0, _SIDE // 2))
    if not own.size or not elsewhere.size:
        return False
    others = own[own >= 1]
    steps_are_large = not len(others) or np.quantile(others, 0.3) > _LARGE_STEP
    return bool(np.mean(own < 1) - np.mean(elsewhere < 1) > _MORE_ZEROS and steps_are_large)


def rounded_noise(picture: np.ndarray) -> RoundedNoise | None:
    """The noise of a grey picture of bytes that was stored as JPEG; None if too little of it is left."""
    sizes = _sizes(picture)
    steps = _steps(sizes)
    known = _FINE & np.isfinite(steps)
    if np.count_nonzero(known) < _FEWEST_STEPS:
        return None
    left = sizes[_flattest(sizes)][:, known] >= _ZERO
    n_left = np.count_nonzero(left)
    if n_left < _FEWEST_LEFT:
        return None
    level = _level_that_leaves(float(np.mean(left)), steps[known])
    narrow = steps[np.isfinite(steps) & (steps < 2 * level)]
    added = np.mean(narrow**2) / 12 if len(narrow) else 0.0  # by rounding what is not lost
    return RoundedNoise(level**2 + float(added), float(2 / np.sqrt(n_left)))


def _level_that_leaves(share: float, steps: np.ndarray) -> float:
    """Level of noise of which so many cosines are not rounded to 0, by halving of the logarithm."""
    low, high = 0.01 * float(steps.min()), 100 * float(steps.max())
    for _ in range(_HALVINGS):
        level = np.sqrt(low * high)
        if np.mean(2 * ndtr(-steps / (2 * level))) < share:
            low = level
        else:
            high = level
    return float(np.sqrt(low * high))


def _steps(sizes: np.ndarray) -> np.ndarray:
    """(64,), what each cosine is a multiple of: the least size that is not 0; NaN if nearly all are 0."""
    steps = np.full(sizes.shape[1], np.nan)
    for which, own in enumerate(sizes.T[1:], start=1):
        others = own[own >= _ZERO]
        if len(others) >= _FEWEST_SIZES:
            steps[which] = np.median(others[others < 1.5 * np.quantile(others, 0.05)])
    return steps


def _flattest(sizes: np.ndarray) -> np.ndarray:
    """Blocks with the least at coarse frequencies."""
    energy = sizes[:, (_ORDER > 0) & ~_FINE] ** 2
    usual = np.maximum(np.median(energy, axis=0), 1.0)
    detail = np.sum(np.minimum(energy / usual, _MOST_DETAIL), axis=1)
    return np.argsort(detail)[: max(int(_FLAT * len(detail)), _FEWEST)]


def _sizes(picture: np.ndarray) -> np.ndarray:
    """(blocks, 64), of the cosines of blocks side by side, but for those that were clipped."""
    rows, columns = (length // _SIDE for length in picture.shape)
    blocks = picture[: rows * _SIDE, : columns * _SIDE].astype(np.float64)
    blocks = blocks.reshape(rows, _SIDE, columns, _SIDE).swapaxes(1, 2)
    blocks = blocks[(blocks.min(axis=(2, 3)) > 0) & (blocks.max(axis=(2, 3)) < 255)]
    return np.abs(dctn(blocks, axes=(1, 2), norm="ortho")).reshape(len(blocks), _SIDE * _SIDE)
