"""Denoising of one picture with all overlapping patches, beside the pursuit of SPAMS and BM3D."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import sedil
from sedil.imaging.quality import image_quality
from sedil_studies.bench.cases.coding_gap import extrapolated
from sedil_studies.bench.results import Bar, Findings, Measurement, named, speed_bar
from sedil_studies.bench.setting import PORTABLE, SIGMA, Scene, Setting, noisy_scene
from sedil_studies.bench.timing import Contestant, race
from sedil_studies.peers.block_matching import bm3d_denoise
from sedil_studies.peers.packages import BM3D, SPAMS, make_installed
from sedil_studies.peers.spams_calls import spams_omp_denoise

_SIDE, _ATOMS = 8, 16
OURS = ("sedil refit, ODCT", "sedil pursuit, ODCT", "sedil refit, separable-8x8", "sedil quick")
GROUPS = "sedil"  # as users call it
_SPAMS, _BM3D = "SPAMS OMP, ODCT", "bm3d"
_PORTABLE_SIDE = 128  # the portable engine gets the middle of the picture


def run(setting: Setting) -> Findings:
    """Time our methods, the portable engine, and the peers."""
    scene = noisy_scene(setting)
    odct = sedil.odct((_SIDE, _SIDE), (_ATOMS, _ATOMS))
    shipped = sedil.shipped_dictionary("separable-8x8")
    options: list[dict[str, Any]] = [
        {"dictionary": odct},
        {"dictionary": odct, "method": "pursuit"},
        {"dictionary": shipped},
        {"method": "quick"},
    ]
    makers: dict[str, Callable[[], Contestant]] = {
        name: partial(_ours, setting, scene, name, **each) for name, each in zip(OURS, options, strict=True)
    }
    makers |= {
        GROUPS: partial(_ours, setting, scene, GROUPS),
        PORTABLE: partial(_portable, setting, scene, odct),
        _SPAMS: partial(_spams, setting, scene, odct),
        _BM3D: partial(_bm3d, setting, scene),
    }
    contestants, notes = make_installed(makers)
    found = race(list(contestants.values()), setting.tell)
    return Findings(f"{scene.words}, stride 1", found, _bars(found), [*notes, *extrapolated(found)])


def _bars(found: list[Measurement]) -> list[Bar]:
    """Against either peer, only those of ours count that are as good as SPAMS."""
    spams, bm3d = named(found, _SPAMS), named(found, _BM3D)
    goal = max((each.figures["PSNR"] for each in spams), default=0.0)
    good = [each for each in named(found, *OURS) if each.figures["PSNR"] >= goal]
    return [
        *speed_bar("times faster than the pipeline of SPAMS, at no less PSNR", good, spams, 2.5),
        *speed_bar("times faster than bm3d, at no less PSNR than SPAMS", good, bm3d, 10),
        *speed_bar("times faster than bm3d, at no less PSNR than it", _as_good(found, bm3d), bm3d, 3),
    ]


def _as_good(found: list[Measurement], bm3d: list[Measurement]) -> list[Measurement]:
    goal = max((each.figures["PSNR"] for each in bm3d), default=0.0)
    return [each for each in named(found, GROUPS) if each.figures["PSNR"] >= goal]


def _ours(setting: Setting, scene: Scene, name: str, **options: Any) -> Contestant:
    def denoise() -> np.ndarray:
        return sedil.denoise(scene.noisy, SIGMA, threads=setting.threads, **options)

    return Contestant(
        name, f"sedil {sedil.__version__}", denoise, partial(_judge, scene), setting.choose(7, 2)
    )


def _portable(setting: Setting, scene: Scene, odct: sedil.SeparableDictionary) -> Contestant:
    middle = tuple(
        slice((side - _PORTABLE_SIDE) // 2, (side + _PORTABLE_SIDE) // 2) for side in scene.clean.shape
    )
    part = Scene(scene.name, scene.clean[middle], scene.noisy[middle])
    share = _n_patches(part) / _n_patches(scene)
    made = _ours(setting, part, PORTABLE, dictionary=odct, engine="portable")
    return made._replace(share=share, repeats=setting.choose(3, 1), judge=None)


def _spams(setting: Setting, scene: Scene, odct: sedil.SeparableDictionary) -> Contestant:
    package = SPAMS.version()
    atoms = odct.as_matrix().astype(np.float32)
    denoise = partial(spams_omp_denoise, scene.noisy, SIGMA, atoms, setting.threads)
    return Contestant(_SPAMS, package, denoise, partial(_judge, scene), setting.choose(7, 2))


def _bm3d(setting: Setting, scene: Scene) -> Contestant:
    package = BM3D.version()
    denoise = partial(bm3d_denoise, scene.noisy, SIGMA, setting.threads)
    return Contestant(_BM3D, package, denoise, partial(_judge, scene), setting.choose(3, 1))


def _judge(scene: Scene, result: np.ndarray) -> dict[str, float]:
    psnr, ssim = image_quality(result.astype(np.float64), scene.clean.astype(np.float64))
    return {"PSNR": psnr, "SSIM": ssim}


def _n_patches(scene: Scene) -> int:
    return int(np.prod([side - _SIDE + 1 for side in scene.clean.shape]))
