"""The volume experiment, run and reported: cases x noise levels x methods, and missing voxels."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from sedil.engines.threads import thread_count
from sedil.files import make_folder
from sedil_studies.harness.denoising_rows import DENOISING, denoising_study
from sedil_studies.harness.running import Study, Summary, Written, carry_out, write_files
from sedil_studies.volumes import report
from sedil_studies.volumes.data import (
    CASES,
    SYNTHETIC,
    middle,
    noisy_volume,
    read_case,
    synthetic_case,
    time_axis_of,
)
from sedil_studies.volumes.filling import FILLINGS, filling_study
from sedil_studies.volumes.methods import Materials, Recipe, make_methods

NOISE_FILE, FILLING_FILE = "volumes.csv", "volumes-missing.csv"
SHOWN = ("slices", "learned", "groups")  # methods in the picture


class Plan(NamedTuple):
    """What is run: the noise levels, and how the dictionaries are learned."""

    sigmas: tuple[int, ...] = (10, 20, 40)
    recipe: Recipe = Recipe()


QUICK = Plan(sigmas=(20,), recipe=Recipe(side=4, n_atoms=6, n_patches=300, iterations=20))


def reproduce(data: Path | None, output: Path, *, quick: bool = False, threads: int | None = None) -> Summary:
    """Learn, denoise, fill and report, as ``sedil reproduce volumes`` says."""
    cases = {SYNTHETIC: synthetic_case()} if quick else {name: read_case(data, name) for name in CASES}
    plan, count = QUICK if quick else Plan(), thread_count(threads)
    make_folder(output, parents=True)
    tests = {name: case.test for name, case in cases.items()}
    materials = {
        name: Materials(case.training, output / f"volumes-{name}.npz", plan.recipe, count, time_axis_of(name))
        for name, case in cases.items()
    }
    made = {name: make_methods(each) for name, each in materials.items()}
    methods, absent = {name: found for name, (found, _) in made.items()}, next(iter(made.values()))[1]
    studies: list[Study[Any, Any]] = [
        denoising_study(
            output / NOISE_FILE, tests, methods, noisy_volume, sigmas=plan.sigmas, n_seeds=1, threads=count
        ),
        filling_study(
            output / FILLING_FILE,
            {name: middle(test) for name, test in tests.items()},
            materials,
            count,
        ),
    ]

    def write(finished: bool) -> Written:
        pictures = {}
        if finished:
            shown = {name: {key: methods[name][key].ready() for key in SHOWN} for name in tests}
            pictures["volumes.png"] = report.picture(tests, shown)
        return Written([*write_files(output, pictures), *write_report(output)])

    return carry_out(lambda show: [study.run(show) for study in studies], write, absent)


def write_report(folder: Path) -> list[tuple[str, Path]]:
    """The report on the results files in a folder."""
    rows = DENOISING.read(folder / NOISE_FILE)
    if not rows:
        return []
    page = report.markdown(rows, FILLINGS.read(folder / FILLING_FILE))
    files = [("results", folder / name) for name in (NOISE_FILE, FILLING_FILE)]
    return [*files, *write_files(folder, {"volumes.md": page})]
