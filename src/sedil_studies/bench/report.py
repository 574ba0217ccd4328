"""The report on all cases in a folder: Markdown, and a picture for each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sedil.files import replacing
from sedil.terminal import counted
from sedil_studies.bench.cases import CASES, Case
from sedil_studies.bench.machine import complaint
from sedil_studies.bench.results import Bar, Measurement, Report, load_report
from sedil_studies.bench.words import digits, duration

FILE = "report.md"
_DPI = 150
_DECIMALS = {"PSNR": 2, "SSIM": 3}


def load_reports(folder: Path) -> list[Report]:
    """Reports of all cases that the folder holds, in the order of `CASES`."""
    paths = [folder / f"{name}.json" for name in CASES]
    return [load_report(path) for path in paths if path.exists()]


def write_report(folder: Path) -> Path:
    """Draw all cases in the folder and put them into one page."""
    reports = load_reports(folder)
    for report in reports:
        draw(report, folder / f"{report.case}.png")
    path = folder / FILE
    with replacing(path) as stream:
        stream.write(markdown(reports).encode())
    return path


def draw(report: Report, path: Path) -> None:
    """The picture of a case."""
    from matplotlib.figure import Figure

    case = CASES[report.case]
    picture = Figure(figsize=(7, 4.2), layout="constrained")
    case.draw(picture, report.outcome)
    picture.suptitle(case.title + (" (quick run)" if report.quick else ""), fontsize=11)
    with replacing(path) as stream:
        picture.savefig(stream, format="png", dpi=_DPI)


def markdown(reports: Sequence[Report]) -> str:
    """The page."""
    parts = ["# sedil bench"]
    if any(report.quick for report in reports):
        parts.append(
            "**Cases marked quick ran on small sizes: they show that all works, not how fast it is.**"
        )
    parts += [_table(("case", "measured", "bar", ""), bar_lines(reports)), "## Machine", _machine(reports)]
    parts += [f"**{report.case}: {words}**" for report in reports if (words := _complaint(report))]
    for report in reports:
        parts += _case(report)
    return "\n\n".join(parts) + "\n"


def bar_lines(reports: Sequence[Report]) -> list[list[str]]:
    """Case, measured, bar, whether it is met."""
    return [
        [report.case + (" (quick)" if report.quick else ""), *_bar(bar)]
        for report in reports
        for bar in report.outcome.bars
    ]


def _bar(bar: Bar) -> list[str]:
    bound = f"at {'least' if bar.at_least else 'most'} {bar.bound:g}"
    return [f"{digits(bar.value)} {bar.words}", bound, "met" if bar.met else "missed"]


def _case(report: Report) -> list[str]:
    case = CASES[report.case]
    notes = [f"- {note}" for note in report.outcome.notes]
    return [
        f"## {case.title}" + (" (quick)" if report.quick else ""),
        case.words,
        f"On {report.outcome.data}; {counted(report.threads, 'thread')}.",
        _measurements(case, report.outcome.measurements),
        *(["\n".join(notes)] if notes else []),
        f"![{case.title}]({report.case}.png)",
    ]


def _measurements(case: Case, found: Sequence[Measurement]) -> str:
    names = list(dict.fromkeys(name for each in found for name in each.figures))
    with_memory = any(each.peak_bytes is not None for each in found)
    columns = ["contestant", *([case.size] if case.size else [])]
    columns += [*(["median", "from", "to", "runs"] if case.timed else []), *(["MB"] if with_memory else [])]
    lines = [_line(case, each, names, with_memory) for each in found]
    return _table((*columns, *names, "package"), lines)


def _line(case: Case, each: Measurement, names: Sequence[str], with_memory: bool) -> list[str]:
    line = [each.contestant]
    if case.size:
        line.append(f"{each.size:g}" if each.size else "")
    if case.timed:
        line += [duration(value) for value in (each.median, min(each.seconds), max(each.seconds))]
        line.append(str(len(each.seconds)))
    if with_memory:
        line.append("" if each.peak_bytes is None else f"{each.peak_bytes / 1e6:,.0f}")
    return [*line, *(_figure(each, name) for name in names), each.package]


def _figure(each: Measurement, name: str) -> str:
    if name not in each.figures:
        return ""
    value = each.figures[name]
    return f"{value:.{_DECIMALS[name]}f}" if name in _DECIMALS else digits(value)


def _machine(reports: Sequence[Report]) -> str:
    """Facts of each case, as cases may be run apart; what is the same for all is said once."""
    lines = [
        [
            report.case,
            report.machine["date"],
            f"{report.machine['cpu']}, {report.machine['cores']} cores, {report.machine['caches']}",
            f"{report.machine['memory_bytes'] / 2**30:.0f} GiB",
            f"{report.machine['fma_peak_gflops']:g}",
            f"{report.machine['free_cores']:g}",
            f"{report.machine['load_before']:g}",
            _versions(report),
        ]
        for report in reports
    ]
    return _table(
        ("case", "date", "cpu", "memory", "peak GFLOP/s", "free cores", "load before", "versions"), lines
    )


def _complaint(report: Report) -> str:
    return complaint(report.machine, report.threads)


def _versions(report: Report) -> str:
    facts = report.machine
    packages = [f"{name} {number}" for name, number in facts["packages"].items()]
    return ", ".join([f"sedil {facts['sedil']}", f"Python {facts['python']}", *packages, facts["blas"]])


def _table(columns: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rows = [columns, ["---"] * len(columns), *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
