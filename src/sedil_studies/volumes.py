"""The volume experiment, run: cases x noise levels x methods, and missing voxels; a row of results each."""

from __future__ import annotations

import time
from collections.abc import Mapping
from math import log10, nan
from pathlib import Path
from typing import NamedTuple

import numpy as np

import sedil
from sedil_studies import table1
from sedil_studies.methods import Method
from sedil_studies.rows import append_row, open_rows
from sedil_studies.volume_data import SYNTHETIC, Case, noisy_volume
from sedil_studies.volume_methods import METHODS, Recipe, Workshop, learned_dictionary, make_methods

SIGMAS = (10, 20, 40)
FILLERS = ("slices", "learned")  # methods that fill missing voxels


class Plan(NamedTuple):
    """What is run: the noise levels, and how the dictionaries are learned."""

    sigmas: tuple[int, ...] = SIGMAS
    recipe: Recipe = Recipe()


QUICK = Plan(sigmas=(20,), recipe=Recipe(side=4, n_atoms=6, n_patches=300, iterations=20))


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


def workshop(name: str, case: Case, plan: Plan, folder: Path, threads: int) -> Workshop:
    """What the methods of a case are made of."""
    return Workshop(case.training, folder / f"volumes-{name}.npz", plan.recipe, threads)


def run(
    cases: Mapping[str, Case],
    plan: Plan,
    folder: Path,
    threads: int,
    progress: table1.Progress | None = None,
) -> tuple[int, list[str]]:
    """Denoise the test part of each case; rows that ``volumes.csv`` holds already are not run again.

    Returns
    -------
    int
        The number of rows that were run.
    list of str
        A sentence on each method that is left out.
    """
    count = 0
    absent: list[str] = []
    for name in cases:
        made, absent = make_methods(workshop(name, cases[name], plan, folder, threads))
        cells = table1.Plan((name,), plan.sigmas, n_seeds=1)
        clean = {name: cases[name].test}
        count += table1.run(cells, clean, made, folder / "volumes.csv", threads, progress, noisy_volume)
    return count, absent


def fill(
    cases: Mapping[str, Case],
    plan: Plan,
    folder: Path,
    threads: int,
    progress: table1.Progress | None = None,
) -> int:
    """Fill a part of each case of which half the voxels, or one slice, are missing; returns the rows run."""
    path = folder / "volumes-missing.csv"
    done = {_identity(row) for row in open_rows(path, FillingRow)}
    shops = {name: workshop(name, case, plan, folder, threads) for name, case in cases.items()}
    waiting = [
        FillingRow(
            name, missing, method, nan, nan, threads, METHODS[method](shop).settings, sedil.__version__
        )
        for name, shop in shops.items()
        for missing in MASKS
        for method in FILLERS
    ]
    waiting = [row for row in waiting if _identity(row) not in done]
    for k, row in enumerate(waiting):
        if progress:
            progress(k, len(waiting), f"{row.case}, {row.missing}: {row.method}")
        append_row(path, _measure(row, middle(cases[row.case].test), shops[row.case]))
    return len(waiting)


def _identity(row: FillingRow) -> tuple[str, ...]:
    return row.case, row.missing, row.method, row.settings, row.sedil


def middle(volume: np.ndarray, n_slices: int = 24, side: int = 96) -> np.ndarray:
    """A part in the middle of a volume, for what is slow or only shown."""
    wanted = (n_slices, side, side)
    starts = [max(length - part, 0) // 2 for length, part in zip(volume.shape, wanted, strict=True)]
    return volume[tuple(slice(start, start + part) for start, part in zip(starts, wanted, strict=True))]


def _half_of_the_voxels(shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(0).random(shape) < 0.5


def _one_slice(shape: tuple[int, ...]) -> np.ndarray:
    mask = np.zeros(shape, bool)
    mask[shape[0] // 2] = True
    return mask


MASKS = {"half of the voxels": _half_of_the_voxels, "one slice": _one_slice}


def _measure(row: FillingRow, clean: np.ndarray, shop: Workshop) -> FillingRow:
    mask = MASKS[row.missing](clean.shape)
    damaged = np.where(mask, np.float32(0), clean)
    dictionary = learned_dictionary(shop) if row.method == "learned" else None
    began = time.perf_counter()
    if dictionary is None:
        filled = _fill_slices(damaged, mask, shop.threads)
    else:
        filled = sedil.inpaint(damaged, mask, dictionary, threads=shop.threads)
    seconds = time.perf_counter() - began
    error = float(np.mean(np.square(filled[mask].astype(np.float64) - clean[mask])))
    return row._replace(psnr=round(10 * log10(255**2 / error), 3), seconds=round(seconds, 2))


def _fill_slices(damaged: np.ndarray, mask: np.ndarray, threads: int) -> np.ndarray:
    """Each slice by the default for pictures; a slice that is lost is the mean of its neighbours."""
    filled = damaged.copy()
    for k in range(len(damaged)):
        if mask[k].all():
            filled[k] = (damaged[k - 1] + damaged[k + 1]) / 2
        elif mask[k].any():
            filled[k] = sedil.inpaint(damaged[k], mask[k], threads=threads)
    return filled


def methods_for_picture(shop: Workshop) -> dict[str, Method]:
    """The methods that the picture of slices shows."""
    return {name: METHODS[name](shop) for name in ("slices", "odct", "learned")}


def synthetic_cases() -> dict[str, Case]:
    """A small volume of moving waves, to try the machinery without data."""
    axes = np.meshgrid(*(np.arange(length) for length in (16, 24, 24)), indexing="ij")
    phase = sum(speed * axis for speed, axis in zip((0.3, 0.5, 0.8), axes, strict=True))
    waves = (128 + 60 * np.sin(phase)).astype(np.float32)
    return {SYNTHETIC: Case(waves[:, :, ::-1], waves)}
