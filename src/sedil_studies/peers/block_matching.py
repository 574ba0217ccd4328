"""BM3D and BM4D of their authors, which group similar blocks; profile ``np``, both stages."""

from __future__ import annotations

import numpy as np

from sedil_studies.peers.packages import BM3D, BM4D

SETTINGS = "profile np, both stages"


def bm3d_denoise(noisy: np.ndarray, sigma: float, threads: int) -> np.ndarray:
    """Denoise a grey picture."""
    bm3d = BM3D.load()
    profile = bm3d.BM3DProfile()
    profile.num_threads = threads
    return bm3d.bm3d(noisy, sigma, profile)


def bm4d_denoise(noisy: np.ndarray, sigma: float) -> np.ndarray:
    """Denoise a volume; it takes as many threads as it likes."""
    return BM4D.load().bm4d(noisy, sigma)
