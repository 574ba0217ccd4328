"""BM3D, CBM3D and BM4D of their authors, which group similar blocks; profile ``np``, both stages."""

from __future__ import annotations

from typing import Any

import numpy as np

from sedil_studies.peers.packages import BM3D, BM4D

SETTINGS = "profile np, both stages"


def bm3d_denoise(noisy: np.ndarray, sigma: float, threads: int) -> np.ndarray:
    """Denoise a grey picture."""
    return BM3D.load().bm3d(noisy, sigma, _profile(threads))


def cbm3d_denoise(noisy: np.ndarray, sigma: float, threads: int) -> np.ndarray:
    """Denoise a picture in colour, channels last: blocks are matched by luminance."""
    return BM3D.load().bm3d_rgb(noisy, sigma, _profile(threads))


def _profile(threads: int) -> Any:
    profile = BM3D.load().BM3DProfile()
    profile.num_threads = threads
    return profile


def bm4d_denoise(noisy: np.ndarray, sigma: float) -> np.ndarray:
    """Denoise a volume; it takes as many threads as it likes."""
    return BM4D.load().bm4d(noisy, sigma)
