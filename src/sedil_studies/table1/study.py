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
from sedil_studies.table1.methods import PAPER_RECIPE, RECIPES, Materials, RecipeName, make_methods
from sedil_studies.table1.paper import IMAGES, SIGMAS

FILES: dict[RecipeName, str] = {"shipped": "table1", "paper": "table1-paper"}  # without their suffixes
NOT_QUICK = ("ksvd", *(name for name in PAPER_RECIPE if name.startswith("paper")))  # are learned first


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
    recipe: RecipeName = "shipped",
    threads: int | None = None,
) -> Summary:
    """Run the table and report on it, as ``sedil reproduce table1`` says."""
    plan = QUICK if quick else Plan()
    plan = plan._replace(n_seeds=seeds or plan.n_seeds)
    images = read_images(data, plan.images)
    make_folder(output, parents=True)
    names = methods or [name for name in RECIPES[recipe] if not (quick and name in NOT_QUICK)]
    unknown = [name for name in names if name not in RECIPES[recipe]]
    if unknown:
        raise ValueError(
            f"The recipe {recipe} has no method {unknown[0]}: choose among {', '.join(RECIPES[recipe])}."
        )
    made, absent = make_methods(names, Materials(output, thread_count(threads)), recipe)
    if not made:
        raise ValueError(f"No method is left to run: {' '.join(absent)}")
    name = FILES[recipe]
    study = table_study(plan, images, made, output / f"{name}.csv", thread_count(threads))
    return carry_out(lambda show: [study.run(show)], lambda finished: write_report(output, name), absent)


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


def write_report(folder: Path, name: str) -> Written:
    """The report on the results file of this name in a folder: two pages, and an overview."""
    rows = DENOISING.read(folder / f"{name}.csv")
    if not rows:
        return Written()
    pages = {f"{name}.md": report.markdown(rows), f"{name}.html": report.html(rows)}
    files = [*write_files(folder, pages), ("results", folder / f"{name}.csv")]
    return Written(files, report.overview(rows))
