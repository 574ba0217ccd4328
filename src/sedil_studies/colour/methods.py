"""The methods of the study, by name: each takes noisy pixels and sigma and returns clean ones."""

from __future__ import annotations

from functools import partial

from sedil_studies.harness.method import Denoiser, Method
from sedil_studies.harness.sedil_denoisers import groups_method, quick_method
from sedil_studies.peers import block_matching
from sedil_studies.peers.packages import BM3D, DenoiserMakers


def _bm3d(threads: int) -> Method[Denoiser]:
    denoise = partial(block_matching.bm3d_denoise, threads=threads)
    return Method.at_hand(block_matching.SETTINGS, denoise, BM3D.version())


def _cbm3d(threads: int) -> Method[Denoiser]:
    denoise = partial(block_matching.cbm3d_denoise, threads=threads)
    return Method.at_hand(f"bm3d_rgb, {block_matching.SETTINGS}", denoise, BM3D.version())


COLOUR: DenoiserMakers = {
    "cbm3d": _cbm3d,
    "groups": partial(groups_method, 2, channel_axis=-1),
    "quick": partial(quick_method, 2, channel_axis=-1),
}
GREY: DenoiserMakers = {"bm3d": _bm3d, "groups": partial(groups_method, 2)}
