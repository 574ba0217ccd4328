"""The paper's Table 1, run and reported: images x noise levels x seeds x methods, a row of results each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sedil.engines.threads import thread_count
from sedil.files import make_folder
from sedil_studies.harness.denoising_rows import DENOISING, DenoisingRow, denoising_study
from sedil_studies.harness.method import Denoiser, Method
from sedil_studies.harness.running import Study, Summary, Written, carry_out, write_files
from sedil_studies.table1 import report
from sedil_studies.table1.five_images import noisy_image, read_images
from sedil_studies.table1.methods import METHODS, Materials, make_methods
from sedil_studies.table1.paper import IMAGES, SIGMAS

FILE = "table1.csv"
NOT_QUICK = ("ksvd",)  # has to be learned first


class Plan(NamedTuple):
    """Which cells of the table are run; the seeds of the noise are 0, 1, ..."""

    images: tuple[str, ...] = IMAGES
    sigmas: tuple[int, ...] = SIGMAS
    n_seeds: int = 3


QUICK = Plan(images=("house",), sigmas=(20,), n_seeds=1)  # the smallest image at the middle level


def reproduce(
    data: Path | None,
    output: Path,
    *,
    quick: bool = False,
    seeds: int | None = None,
    methods: Sequence[str] | None = None,
    threads: int | None = None,
) -> Summary:
    """Run the table and report on it, as ``sedil reproduce table1`` says."""
    plan = QUICK if quick else Plan()
    plan = plan._replace(n_seeds=seeds or plan.n_seeds)
    images = read_images(data, plan.images)
    make_folder(output, parents=True)
    names = methods or [name for name in METHODS if not (quick and name in NOT_QUICK)]
    made, absent = make_methods(names, Materials(output, thread_count(threads)))
    if not made:
        raise ValueError(f"No method is left to run: {' '.join(absent)}")
    study = table_study(plan, images, made, output / FILE, thread_count(threads))
    return carry_out(lambda show: [study.run(show)], lambda finished: write_report(output), absent)


def table_study(
    plan: Plan,
    images: Mapping[str, np.ndarray],
    methods: Mapping[str, Method[Denoiser]],
    file: Path,
    threads: int,
) -> Study[DenoisingRow, Denoiser]:
    """The table as a study: all methods on all images."""
    return denoising_study(
        file,
        {name: images[name] for name in plan.images},
        dict.fromkeys(plan.images, methods),
        noisy_image,
        sigmas=plan.sigmas,
        n_seeds=plan.n_seeds,
        threads=threads,
    )


def write_report(folder: Path) -> Written:
    """The report on the results file in a folder: two pages, and an overview."""
    rows = DENOISING.read(folder / FILE)
    if not rows:
        return Written()
    pages = {"table1.md": report.markdown(rows), "table1.html": report.html(rows)}
    files = [*write_files(folder, pages), ("results", folder / FILE)]
    return Written(files, report.overview(rows))
