"""Photographs of cameras and counts of photons, run and reported."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from sedil.engines.threads import thread_count
from sedil.files import make_folder
from sedil_studies.colour.data import read_colour
from sedil_studies.harness.denoising_rows import DENOISING, denoising_study
from sedil_studies.harness.running import Summary, Written, carry_out, write_files
from sedil_studies.peers.packages import make_for_threads
from sedil_studies.realnoise import methods, report
from sedil_studies.realnoise.data import counted_photons, read_pairs, uneven_channels
from sedil_studies.table1.five_images import read_images
from sedil_studies.table1.paper import IMAGES

PHOTOGRAPHS_FILE, CHANNELS_FILE, COUNTS_FILE = FILES = (
    "realnoise.csv",
    "realnoise-channels.csv",
    "realnoise-counts.csv",
)


class Plan(NamedTuple):
    """How many photographs, None is all; levels to try where one is for all; and peaks of the counts."""

    n_images: int | None = None
    levels: tuple[int, ...] = (10, 15, 20, 25)
    channel_levels: tuple[int, ...] = (28, 32, 36)
    peaks: tuple[int, ...] = (1, 2, 5, 10, 30, 120, 255)


QUICK = Plan(n_images=1, levels=(10,), channel_levels=(32,), peaks=(10,))


def reproduce(data: Path | None, output: Path, *, quick: bool = False, threads: int | None = None) -> Summary:
    """Denoise and report, as ``sedil reproduce realnoise`` says."""
    plan, count = QUICK if quick else Plan(), thread_count(threads)
    pairs, five = read_pairs(data, plan.n_images), read_images(data, IMAGES[-1:] if quick else IMAGES)
    kodak = read_colour(data, plan.n_images)
    make_folder(output, parents=True)
    blind, _ = make_for_threads(methods.PHOTOGRAPHS, count)
    by_channel, _ = make_for_threads(methods.CHANNELS, count)
    one_level, _ = make_for_threads(methods.ONE_LEVEL, count)
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
    studies += [
        denoising_study(
            output / CHANNELS_FILE,
            kodak,
            dict.fromkeys(kodak, some),
            uneven_channels,
            sigmas=levels,
            n_seeds=1,
            threads=count,
            channel_axis=-1,
        )
        for some, levels in ((by_channel, (0,)), (one_level, plan.channel_levels))
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

    def write(finished: bool) -> Written:
        pictures = {} if quick or not finished else {"realnoise.png": report.picture(count)}
        return Written([*write_files(output, pictures), *write_report(output)])

    return carry_out(lambda show: [study.run(show) for study in studies], write, [*absent, *more_absent])


def write_report(folder: Path) -> list[tuple[str, Path]]:
    """The report on the results files in a folder."""
    text = report.markdown(*(DENOISING.read(folder / name) for name in FILES))
    return [*(("results", folder / name) for name in FILES), *write_files(folder, {"realnoise.md": text})]
