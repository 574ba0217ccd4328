"""How well holes are filled."""

from __future__ import annotations

from math import log10

import numpy as np

_RANGE = 255


def psnr_inside(filled: np.ndarray, clean: np.ndarray, missing: np.ndarray) -> float:
    """PSNR in dB over the missing pixels alone, on the scale 0 to 255."""
    difference = filled[missing].astype(np.float64) - clean[missing]
    return 10 * log10(_RANGE**2 / max(float(np.mean(difference**2)), np.finfo(float).tiny))
