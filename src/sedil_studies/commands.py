"""``sedil reproduce``: the paper's table and figure from the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich import box
from rich.table import Table

from sedil.engines.threads import thread_count
from sedil.files import make_folder, replacing
from sedil.terminal import clear_errors, console
from sedil_studies import comparison, figure1, images, report, table1
from sedil_studies.bar import bar
from sedil_studies.face_command import faces_command
from sedil_studies.methods import METHODS, Method, Setting, make_methods
from sedil_studies.photo_command import inpainting_command
from sedil_studies.rows import Row, latest, read_rows
from sedil_studies.volume_command import volumes_command

app = typer.Typer(help="Reproduce the paper's table and figures.", no_args_is_help=True)

_SEEDS = table1.Plan().n_seeds
_NOT_QUICK = ("ksvd",)  # has to be learned first
_INTERRUPTED = 130  # exit code after Ctrl-C, by custom

Output = Annotated[Path, typer.Option("--output", "-o", help="Folder for the results; made if need be.")]


def _method_names(text: str) -> list[str]:
    """``odct,separable`` as names, in the order of the report."""
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in METHODS:
            raise typer.BadParameter(f"{name!r} is not one of {', '.join(METHODS)}.")
    return [name for name in METHODS if name in names]


@app.command("table1")
def table1_command(
    data: Annotated[
        Path | None,
        typer.Option(help="Folder with the five test images.", envvar="SEDIL_DATA", show_default=False),
    ] = None,
    output: Output = Path("reproduce"),
    quick: Annotated[
        bool, typer.Option("--quick", help="One image, one noise level, one seed: some ten seconds.")
    ] = False,
    seeds: Annotated[
        int | None, typer.Option(min=1, help=f"Times that noise is drawn; default {_SEEDS}, or 1 if quick.")
    ] = None,
    methods: Annotated[
        Any,
        typer.Option(
            parser=_method_names,
            metavar="NAME,...",
            help=f"Methods to run, of {', '.join(METHODS)}; default all, without ksvd if quick.",
        ),
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads; default one per core.")] = None,
) -> None:
    """Denoise the paper's five images at five noise levels and compare with its Table 1.

    A run that was interrupted goes on where it stopped.
    """
    with clear_errors():
        plan = table1.QUICK if quick else table1.Plan()
        plan = plan._replace(n_seeds=seeds or plan.n_seeds)
        clean = images.read_given_images(data, plan.images)
        make_folder(output, parents=True)
        setting = Setting(output, thread_count(threads))
        names = methods or [name for name in METHODS if not (quick and name in _NOT_QUICK)]
        made, absent = make_methods(names, setting)
        for sentence in absent:
            console.print(sentence)
        if not made:
            raise ValueError("No method is left to run.")
        results = output / "table1.csv"
        finished = _run(plan, clean, made, results, setting.threads)
        _write_report(read_rows(results), output)
        console.print(f"results      {results}")
    if not finished:
        raise typer.Exit(_INTERRUPTED)


app.command("faces")(faces_command)
app.command("inpainting")(inpainting_command)
app.command("volumes")(volumes_command)


@app.command("figure1")
def figure1_command(output: Output = Path("reproduce")) -> None:
    """Draw the atoms of the unstructured and the separable dictionary as in the paper's Figure 1."""
    with clear_errors():
        make_folder(output, parents=True)
        figure1.save(output / "figure1.png")
        console.print(f"picture      {output / 'figure1.png'}")


def _run(
    plan: table1.Plan,
    clean: Mapping[str, np.ndarray],
    made: Mapping[str, Method],
    results: Path,
    threads: int,
) -> bool:
    """Run the table with a bar and say what was run; False if it was interrupted."""
    wanted = len(plan.images) * len(plan.sigmas) * plan.n_seeds * len(made)
    try:
        with bar() as show:
            count = table1.run(plan, clean, made, results, threads, show)
    except KeyboardInterrupt:
        console.print("interrupted; the same command goes on from here")
        return False
    console.print(f"ran          {_counted(count, wanted, results)}")
    return True


def _counted(count: int, wanted: int, results: Path) -> str:
    if count == 0:
        return f"nothing: all was in {results} already"
    there = wanted - count
    ran = f"{count} denoising{'' if count == 1 else 's'}"
    return ran if not there else f"{ran}; {there} {'was' if there == 1 else 'were'} in {results} already"


def _write_report(rows: Sequence[Row], folder: Path) -> None:
    if not rows:
        return
    console.print(_overview(latest(rows)))
    for name, text in {"table1.md": report.markdown(rows), "table1.html": report.html(rows)}.items():
        with replacing(folder / name) as stream:
            stream.write(text.encode())
        console.print(f"report       {folder / name}")


def _overview(rows: Sequence[Row]) -> Table:
    """Mean PSNR per method and noise level, and how far it is from the paper's; 80 columns wide at most."""
    summary = comparison.summary(rows, "psnr")
    table = Table(
        title=f"Mean PSNR in dB over {report.averaged_images(rows)}, difference from the paper",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
    )
    table.add_column("sigma")
    for line in summary.lines:
        table.add_column(line.place[0])
    for k, method in enumerate(summary.methods):
        table.add_row(method, *(_short(line.cells[k]) for line in summary.lines))
    return table


def _short(cell: comparison.Cell | None) -> str:
    if cell is None:
        return ""
    difference = "" if cell.difference is None else f" {cell.difference:+.2f}"
    return f"{cell.ours:.2f}{difference}"
