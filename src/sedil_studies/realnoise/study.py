"""Photographs of cameras and counts of photons, run and reported."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from sedil.engines.threads import thread_count
from sedil.files import make_folder
from sedil_studies.harness.denoising_rows import DENOISING, denoising_study
from sedil_studies.harness.running import Summary, Written, carry_out, write_files
from sedil_studies.peers.packages import make_for_threads
from sedil_studies.realnoise import methods, report
from sedil_studies.realnoise.data import counted_photons, read_pairs
from sedil_studies.table1.five_images import read_images
from sedil_studies.table1.paper import IMAGES

PHOTOGRAPHS_FILE, COUNTS_FILE = "realnoise.csv", "realnoise-counts.csv"


class Plan(NamedTuple):
    """How many photographs and images, None is all; levels for CBM3D; and peaks of the counts."""

    n_images: int | None = None
    levels: tuple[int, ...] = (5, 10, 15, 20)
    peaks: tuple[int, ...] = (1, 2, 5, 10, 30, 120, 255)


QUICK = Plan(n_images=1, levels=(10,), peaks=(10,))


def reproduce(data: Path | None, output: Path, *, quick: bool = False, threads: int | None = None) -> Summary:
    """Denoise and report, as ``sedil reproduce realnoise`` says."""
    plan, count = QUICK if quick else Plan(), thread_count(threads)
    pairs, five = read_pairs(data, plan.n_images), read_images(data, IMAGES[-1:] if quick else IMAGES)
    make_folder(output, parents=True)
    blind, _ = make_for_threads(methods.PHOTOGRAPHS, count)
    peers, absent = make_for_threads(methods.PEERS, count)
    of_counts, more_absent = make_for_threads(methods.COUNTS, count)
    studies = [
        denoising_study(
            output / PHOTOGRAPHS_FILE,
            pairs.clean,
            dict.fromkeys(pairs.clean, some),
            lambda clean, name, sigma, seed: pairs.noisy[name],
            sigmas=levels,
            n_seeds=1,
            threads=count,
            channel_axis=-1,
        )
        for some, levels in ((blind, (0,)), (peers, plan.levels))
    ]
    studies.append(
        denoising_study(
            output / COUNTS_FILE,
            five,
            dict.fromkeys(five, of_counts),
            counted_photons,
            sigmas=plan.peaks,
            n_seeds=1,
            threads=count,
        )
    )
    return carry_out(
        lambda show: [study.run(show) for study in studies],
        lambda finished: Written(write_report(output)),
        [*absent, *more_absent],
    )


def write_report(folder: Path) -> list[tuple[str, Path]]:
    """The report on the results files in a folder."""
    photographs, counts = (DENOISING.read(folder / name) for name in (PHOTOGRAPHS_FILE, COUNTS_FILE))
    files = [("results", folder / name) for name in (PHOTOGRAPHS_FILE, COUNTS_FILE)]
    return [*files, *write_files(folder, {"realnoise.md": report.markdown(photographs, counts)})]
