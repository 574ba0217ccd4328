"""The methods of the study, by name: ours as users call it, and BM3D around it."""

from __future__ import annotations

from functools import partial

import numpy as np

import sedil
from sedil.imaging.photon_noise import PhotonNoise
from sedil_studies.harness.method import Denoiser, Method
from sedil_studies.harness.sedil_denoisers import groups_in_words
from sedil_studies.peers import block_matching
from sedil_studies.peers.packages import BM3D, DenoiserMakers
from sedil_studies.realnoise.data import CHANNEL_LEVELS, photon_gain


def _blind(threads: int) -> Method[Denoiser]:
    def denoise(noisy: np.ndarray, sigma: float) -> np.ndarray:
        """It is not told the level."""
        return sedil.denoise(noisy, noise="auto", channel_axis=-1, threads=threads)

    words = groups_in_words((32, 32, 3), channel_axis=-1)
    return Method.at_hand(f"{words}; noise auto, picture of 8 bits", denoise)


def _as_it_is(threads: int) -> Method[Denoiser]:
    return Method.at_hand("no method", lambda noisy, sigma: noisy.astype(np.float64))


def _by_channel(threads: int) -> Method[Denoiser]:
    def denoise(noisy: np.ndarray, sigma: float) -> np.ndarray:
        return sedil.denoise(noisy, CHANNEL_LEVELS, channel_axis=-1, threads=threads)

    words = groups_in_words((32, 32, 3), channel_axis=-1)
    return Method.at_hand(f"{words}; sigma {CHANNEL_LEVELS}", denoise)


def _one_level(threads: int) -> Method[Denoiser]:
    denoise = partial(sedil.denoise, channel_axis=-1, threads=threads)
    return Method.at_hand(f"{groups_in_words((32, 32, 3), channel_axis=-1)}; one sigma", denoise)


def _cbm3d(threads: int) -> Method[Denoiser]:
    def denoise(noisy: np.ndarray, sigma: float) -> np.ndarray:
        return block_matching.cbm3d_denoise(noisy.astype(np.float64), sigma, threads)

    return Method.at_hand(f"bm3d_rgb, {block_matching.SETTINGS}", denoise, BM3D.version())


def _groups_of_counts(threads: int) -> Method[Denoiser]:
    def denoise(noisy: np.ndarray, peak: float) -> np.ndarray:
        return sedil.denoise(noisy, noise="poisson-gaussian", gain=photon_gain(peak), threads=threads)

    return Method.at_hand(f"{groups_in_words((32, 32))}; between roots and their exact inverse", denoise)


def _bm3d_of_counts(threads: int) -> Method[Denoiser]:
    def denoise(noisy: np.ndarray, peak: float) -> np.ndarray:
        photons = PhotonNoise(photon_gain(peak))
        return photons.restored(block_matching.bm3d_denoise(photons.even(noisy), 1.0, threads))

    return Method.at_hand(
        f"{block_matching.SETTINGS}, between the same roots and inverse", denoise, BM3D.version()
    )


PHOTOGRAPHS: DenoiserMakers = {"noisy": _as_it_is, "groups": _blind}
PEERS: DenoiserMakers = {"cbm3d": _cbm3d}
CHANNELS: DenoiserMakers = {"groups": _by_channel}
ONE_LEVEL: DenoiserMakers = {"one level": _one_level, **PEERS}
COUNTS: DenoiserMakers = {"bm3d": _bm3d_of_counts, "groups": _groups_of_counts}
