"""Missing voxels: half of them, or a whole slice, filled slice by slice or by three factors."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

import sedil
from sedil_studies.harness.method import Filler, Method
from sedil_studies.harness.row_kind import RowKind
from sedil_studies.harness.running import Study
from sedil_studies.harness.sedil_denoisers import filling_in_words
from sedil_studies.measures.inside import psnr_inside
from sedil_studies.volumes.methods import METHODS, Materials, learned_dictionary


class FillingRow(NamedTuple):
    """One method on one volume with missing voxels; PSNR over these alone."""

    case: str
    missing: str
    method: str
    psnr: float
    seconds: float
    threads: int
    settings: str
    sedil: str
    commit: str = ""


FILLINGS = RowKind(FillingRow, cell=("case", "missing", "method"), made_with=("settings", "sedil"))


_PASSES = "; filled in 18 passes or more"


def _by_slices(materials: Materials) -> Method[Filler]:
    return Method.at_hand(
        METHODS["slices"](materials).settings + _PASSES, partial(_fill_slices, threads=materials.threads)
    )


def _learned(materials: Materials) -> Method[Filler]:
    return Method(
        METHODS["learned"](materials).settings + _PASSES,
        lambda show: partial(
            sedil.inpaint, dictionary=learned_dictionary(materials, show), threads=materials.threads
        ),
    )


def _groups(materials: Materials) -> Method[Filler]:
    return Method.at_hand(
        filling_in_words(n_axes=3, time_axis=materials.time_axis),
        partial(sedil.inpaint, time_axis=materials.time_axis, threads=materials.threads),
    )


FILLERS: dict[str, Callable[[Materials], Method[Filler]]] = {
    "slices": _by_slices,
    "learned": _learned,
    "groups": _groups,
}


def filling_study(
    file: Path, volumes: Mapping[str, np.ndarray], materials: Mapping[str, Materials], threads: int
) -> Study[FillingRow, Filler]:
    """All methods on a volume of each case, with each kind of missing voxels."""
    methods = {(case, name): make(materials[case]) for case in volumes for name, make in FILLERS.items()}
    rows = [
        FILLINGS.planned(
            case=case,
            missing=missing,
            method=name,
            threads=threads,
            settings=methods[case, name].settings,
        )
        for case in volumes
        for missing in MASKS
        for name in FILLERS
    ]
    return Study(
        "filling",
        file,
        FILLINGS,
        rows,
        lambda row: methods[row.case, row.method],
        lambda row, fill: _measured(row, volumes[row.case], fill),
        words=lambda row: f"{row.case}, {row.missing}: {row.method}",
    )


def _measured(row: FillingRow, clean: np.ndarray, fill: Filler) -> FillingRow:
    """Take voxels away, fill them, compare."""
    mask = MASKS[row.missing](clean.shape)
    damaged = np.where(mask, np.float32(0), clean)
    began = time.perf_counter()
    filled = fill(damaged, mask)
    seconds = time.perf_counter() - began
    return row._replace(psnr=round(psnr_inside(filled, clean, mask), 3), seconds=round(seconds, 2))


def _half_of_the_voxels(shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(0).random(shape) < 0.5


def _one_slice(shape: tuple[int, ...]) -> np.ndarray:
    mask = np.zeros(shape, bool)
    mask[shape[0] // 2] = True
    return mask


MASKS = {"half of the voxels": _half_of_the_voxels, "one slice": _one_slice}


def _fill_slices(damaged: np.ndarray, mask: np.ndarray, threads: int) -> np.ndarray:
    """Each slice by the quick method for pictures; a slice that is lost is the mean of its neighbours."""
    filled = damaged.copy()
    for k in range(len(damaged)):
        if mask[k].all():
            filled[k] = (damaged[k - 1] + damaged[k + 1]) / 2
        elif mask[k].any():
            filled[k] = sedil.inpaint(damaged[k], mask[k], method="quick", threads=threads)
    return filled
