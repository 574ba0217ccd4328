"""``sedil bench``: measure, write, draw."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from sedil.engines.threads import thread_count
from sedil.files import make_folder
from sedil.terminal import clear_errors, console
from sedil_studies.bench.cases import CASES
from sedil_studies.bench.results import Report, save_report
from sedil_studies.bench.setting import Setting

_INTERRUPTED = 130  # exit code after Ctrl-C, by custom


def _case_names(text: str) -> list[str]:
    """``coding,cost`` as names, in the order of the report."""
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in CASES:
            raise typer.BadParameter(f"{name!r} is not one of {', '.join(CASES)}.")
    return [name for name in CASES if name in names]


def bench(
    cases: Annotated[
        Any,
        typer.Option(
            parser=_case_names, metavar="NAME,...", help=f"Cases to run, of {', '.join(CASES)}; default all."
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Small sizes, to see that all works: a minute or two.")
    ] = False,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder with the test images, as for reproduce; default a photograph of scikit-image.",
            envvar="SEDIL_DATA",
            show_default=False,
        ),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Threads of all contestants; default one per core.")
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the results; made if need be.")
    ] = Path("bench"),
) -> None:
    """Measure how fast sedil is, beside SPAMS, scikit-learn, BM3D and JAX where they are installed.

    Writes a JSON file and a picture per case, and a report on all cases in the
    folder. Close what else is running: the machine should have nothing to do.
    """
    with clear_errors():
        make_folder(output, parents=True)
        setting = Setting(thread_count(threads), quick, data)
        if data is None:
            console.print("no --data: the pictures are those of scikit-image")
        names = cases or list(CASES)
        finished = _run(names, setting, output)
        _tell(names, output)
    if not finished:
        raise typer.Exit(_INTERRUPTED)


def _run(names: Sequence[str], setting: Setting, folder: Path) -> bool:
    """Run the cases and write each as soon as it is there; False if interrupted."""
    from sedil_studies.bench.machine import held_to

    try:
        with held_to(setting.threads):
            for name in names:
                console.print(f"measured     {save_report(_measure(name, setting), folder)}")
    except KeyboardInterrupt:
        console.print("interrupted; cases that were done are kept")
        return False
    return True


def _measure(name: str, setting: Setting) -> Report:
    from sedil_studies.bench.machine import complaint, machine_facts

    with console.status(Text(name)) as status:
        setting = setting._replace(tell=lambda words: status.update(Text(f"{name}: {words}")))
        facts = machine_facts(setting.threads)
        sentence = complaint(facts, setting.threads)
        if sentence:
            console.print(f"{name}: {sentence}")
        return Report(name, setting.quick, setting.threads, facts, CASES[name].run(setting))


def _tell(names: Sequence[str], folder: Path) -> None:
    """The report on all cases in the folder, and the bars of these in the terminal."""
    from sedil_studies.bench.report import bar_lines, load_reports, write_report

    reports = [report for report in load_reports(folder) if report.case in names]
    if not reports:
        return
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for column in ("case", "measured", "bar", ""):
        table.add_column(column)
    for line in bar_lines(reports):
        table.add_row(*line)
    console.print(table)
    for report in reports:
        for note in report.outcome.notes:
            console.print(f"{report.case}: {note}")
    console.print(f"report       {write_report(folder)}")
