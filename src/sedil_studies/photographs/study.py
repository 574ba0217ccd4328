"""Inpainting of photographs, run and reported: images x masks x methods, one row of the results file each."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sedil.engines.threads import thread_count
from sedil.files import make_folder
from sedil.imaging.quality import image_quality
from sedil_studies.harness.method import Filler, Method
from sedil_studies.harness.running import Study, Summary, Written, carry_out, write_files
from sedil_studies.measures.inside import psnr_inside
from sedil_studies.photographs import report
from sedil_studies.photographs.masks import MASKS, make_mask
from sedil_studies.photographs.methods import METHODS
from sedil_studies.photographs.photograph_rows import PHOTOGRAPHS, PhotographRow
from sedil_studies.table1.five_images import read_images
from sedil_studies.table1.paper import IMAGES

FILE = "inpainting.csv"


class Plan(NamedTuple):
    """Which images and masks are run."""

    images: tuple[str, ...] = IMAGES
    masks: tuple[str, ...] = tuple(MASKS)


QUICK = Plan(images=("house",), masks=("50 % of pixels",))


def reproduce(data: Path | None, output: Path, *, quick: bool = False, threads: int | None = None) -> Summary:
    """Run and report, as ``sedil reproduce inpainting`` says."""
    plan = QUICK if quick else Plan()
    images = read_images(data, plan.images)
    make_folder(output, parents=True)
    methods = {name: make(thread_count(threads)) for name, make in METHODS.items()}
    study = photograph_study(plan, images, methods, output / FILE, thread_count(threads))

    def write(finished: bool) -> Written:
        contents: dict[str, str | np.ndarray] = {}
        if rows := PHOTOGRAPHS.read(output / FILE):
            contents["inpainting.md"] = report.markdown(rows)
        if finished and not quick:
            contents["inpainting.png"] = report.picture(
                {name: each.ready() for name, each in methods.items()}
            )
        return Written([("results", output / FILE), *write_files(output, contents)])

    return carry_out(lambda show: [study.run(show)], write)


def photograph_study(
    plan: Plan,
    images: Mapping[str, np.ndarray],
    methods: Mapping[str, Method[Filler]],
    file: Path,
    threads: int,
) -> Study[PhotographRow, Filler]:
    """Every method on every image with every mask."""
    rows = [
        PHOTOGRAPHS.planned(image=image, mask=mask, method=name, threads=threads, settings=method.settings)
        for image in plan.images
        for mask in plan.masks
        for name, method in methods.items()
    ]
    return Study(
        "filling",
        file,
        PHOTOGRAPHS,
        rows,
        lambda row: methods[row.method],
        lambda row, fill: measure(row, images[row.image], fill),
        words=lambda row: f"{row.image}, {row.mask}: {row.method}",
    )


def measure(row: PhotographRow, clean: np.ndarray, fill: Filler) -> PhotographRow:
    """Take pixels away, fill them, compare."""
    mask = make_mask(row.mask, clean.shape)
    damaged = np.where(mask, 0, clean)
    began = time.perf_counter()
    filled = fill(damaged, mask)
    seconds = time.perf_counter() - began
    return row._replace(
        missing=round(float(mask.mean()), 4),
        psnr=round(psnr_inside(filled, clean, mask), 4),
        ssim=round(image_quality(filled, clean)[1], 5),
        seconds=round(seconds, 3),
    )
