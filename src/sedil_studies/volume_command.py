"""``sedil reproduce volumes``: three factors for a head and for video, from the command line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from sedil.engines.threads import thread_count
from sedil.files import make_folder, replacing, write_picture
from sedil.terminal import clear_errors, console
from sedil_studies import volume_data, volume_report, volumes
from sedil_studies.bar import bar
from sedil_studies.rows import read_rows
from sedil_studies.volume_data import CASES, Case

_SHOWN_SIGMA = 20


def volumes_command(
    data: Annotated[
        Path | None,
        typer.Option(
            help=f"Folder with {volume_data.expected_files()}.", envvar="SEDIL_DATA", show_default=False
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the results; made if need be.")
    ] = Path("reproduce"),
    quick: Annotated[
        bool, typer.Option("--quick", help="Tiny synthetic volumes without --data: only to try it.")
    ] = False,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads; default one per core.")] = None,
) -> None:
    """Learn three factors from a head and from video, denoise and fill others, and compare with slices.

    A run that was interrupted goes on where it stopped.
    """
    with clear_errors():
        cases = volumes.synthetic_cases() if quick else _read_cases(data)
        plan = volumes.QUICK if quick else volumes.Plan()
        make_folder(output, parents=True)
        count = thread_count(threads)
        with bar() as show:
            n_run, absent = volumes.run(cases, plan, output, count, show)
            n_filled = volumes.fill(cases, plan, output, count, show)
        for sentence in absent:
            console.print(sentence)
        console.print(f"ran          {n_run} denoisings, {n_filled} fillings; the rest was there already")
        _draw(cases, plan, output, count)
        _write_report(output)


def _read_cases(data: Path | None) -> dict[str, Case]:
    if data is None:
        raise FileNotFoundError(
            f"Give --data, or the environment variable SEDIL_DATA, a folder that holds "
            f"{volume_data.expected_files()}."
        )
    return {name: volume_data.read_case(data, name) for name in CASES}


def _draw(cases: Mapping[str, Case], plan: volumes.Plan, folder: Path, threads: int) -> None:
    methods = {
        name: volumes.methods_for_picture(volumes.workshop(name, case, plan, folder, threads))
        for name, case in cases.items()
    }
    picture = volume_report.slices({name: case.test for name, case in cases.items()}, methods, _SHOWN_SIGMA)
    write_picture(folder / "volumes.png", picture)
    console.print(f"picture      {folder / 'volumes.png'}")


def _write_report(folder: Path) -> None:
    rows = read_rows(folder / "volumes.csv")
    fillings = read_rows(folder / "volumes-missing.csv", kind=volumes.FillingRow)
    with replacing(folder / "volumes.md") as stream:
        stream.write(volume_report.markdown(rows, fillings).encode())
    console.print(f"results      {folder / 'volumes.csv'}")
    console.print(f"report       {folder / 'volumes.md'}")
