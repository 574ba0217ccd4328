"""Photographs in colour and in grey, run and reported: photographs x noise levels x methods, a row each."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from sedil.engines.threads import thread_count
from sedil.files import make_folder
from sedil_studies.colour import methods, report
from sedil_studies.colour.data import noisy_photograph, read_colour, read_grey_photographs
from sedil_studies.harness.denoising_rows import DENOISING, denoising_study
from sedil_studies.harness.running import Summary, Written, carry_out, write_files
from sedil_studies.peers.packages import make_for_threads

COLOUR_FILE, GREY_FILE = "colour.csv", "colour-grey.csv"


class Plan(NamedTuple):
    """Noise levels, and how many photographs of each collection; None is all."""

    sigmas: tuple[int, ...] = (15, 25, 50)
    n_images: int | None = None


QUICK = Plan(sigmas=(25,), n_images=1)


def reproduce(data: Path | None, output: Path, *, quick: bool = False, threads: int | None = None) -> Summary:
    """Denoise and report, as ``sedil reproduce colour`` says."""
    plan, count = QUICK if quick else Plan(), thread_count(threads)
    colour, grey = read_colour(data, plan.n_images), read_grey_photographs(data, plan.n_images)
    make_folder(output, parents=True)
    colour_methods, absent = make_for_threads(methods.COLOUR, count)
    grey_methods, more_absent = make_for_threads(methods.GREY, count)
    studies = [
        denoising_study(
            output / COLOUR_FILE,
            colour,
            dict.fromkeys(colour, colour_methods),
            noisy_photograph,
            sigmas=plan.sigmas,
            n_seeds=1,
            threads=count,
            channel_axis=-1,
        ),
        denoising_study(
            output / GREY_FILE,
            grey,
            dict.fromkeys(grey, grey_methods),
            noisy_photograph,
            sigmas=plan.sigmas,
            n_seeds=1,
            threads=count,
        ),
    ]

    def write(finished: bool) -> Written:
        pictures = {}
        if finished and not quick:
            pictures["colour.png"] = report.picture(
                {name: each.ready() for name, each in colour_methods.items()}
            )
        return Written([*write_files(output, pictures), *write_report(output)])

    return carry_out(lambda show: [study.run(show) for study in studies], write, [*absent, *more_absent])


def write_report(folder: Path) -> list[tuple[str, Path]]:
    """The report on the results files in a folder."""
    colour, grey = (DENOISING.read(folder / name) for name in (COLOUR_FILE, GREY_FILE))
    files = [("results", folder / name) for name in (COLOUR_FILE, GREY_FILE)]
    return [*files, *write_files(folder, {"colour.md": report.markdown(colour, grey)})]
