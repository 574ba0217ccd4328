"""The report on all cases in a folder: Markdown, and a picture for each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sedil.files import replacing
from sedil.terminal import counted
from sedil_studies.bench.catalogue import CASES, Case
from sedil_studies.bench.machine import complaint
from sedil_studies.bench.results import Bar, CaseResult, Measurement, load_result
from sedil_studies.bench.words import digits, duration
from sedil_studies.harness.tables import Table, markdown_table, page

FILE = "report.md"
_DPI = 150
_DECIMALS = {"PSNR": 2, "SSIM": 3}


def load_results(folder: Path) -> list[CaseResult]:
    """Results of all cases that the folder holds, in the order of `CASES`."""
    paths = [folder / f"{name}.json" for name in CASES]
    return [load_result(path) for path in paths if path.exists()]


def write_report(folder: Path) -> Path:
    """Draw all cases in the folder and put them into one page."""
    results = load_results(folder)
    for result in results:
        draw(result, folder / f"{result.case}.png")
    path = folder / FILE
    with replacing(path) as stream:
        stream.write(markdown(results).encode())
    return path


def draw(result: CaseResult, path: Path) -> None:
    """The picture of a case."""
    from matplotlib.figure import Figure

    case = CASES[result.case]
    picture = Figure(figsize=(7, 4.2), layout="constrained")
    case.draw(picture, result.outcome)
    picture.suptitle(case.title + (" (quick run)" if result.quick else ""), fontsize=11)
    with replacing(path) as stream:
        picture.savefig(stream, format="png", dpi=_DPI)


def markdown(results: Sequence[CaseResult]) -> str:
    """The page."""
    bars = bar_table(results)
    parts = ["# sedil bench"]
    if any(result.quick for result in results):
        parts.append(
            "**Cases marked quick ran on small sizes: they show that all works, not how fast it is.**"
        )
    parts += [markdown_table(bars.columns, bars.lines), "## Machine", _machine(results)]
    parts += [f"**{result.case}: {words}**" for result in results if (words := _complaint(result))]
    for result in results:
        parts += _case(result)
    return page(*parts)


def bar_table(results: Sequence[CaseResult]) -> Table:
    """What was to be reached, and what was."""
    lines = [
        [result.case + (" (quick)" if result.quick else ""), *_bar(bar)]
        for result in results
        for bar in result.outcome.bars
    ]
    return Table(("case", "measured", "bar", ""), lines)


def _bar(bar: Bar) -> list[str]:
    bound = f"at {'least' if bar.at_least else 'most'} {bar.bound:g}"
    return [f"{digits(bar.value)} {bar.words}", bound, "met" if bar.met else "missed"]


def _case(result: CaseResult) -> list[str]:
    case = CASES[result.case]
    notes = [f"- {note}" for note in result.outcome.notes]
    return [
        f"## {case.title}" + (" (quick)" if result.quick else ""),
        case.words,
        f"On {result.outcome.data}; {counted(result.threads, 'thread')}.",
        _measurements(case, result.outcome.measurements),
        *(["\n".join(notes)] if notes else []),
        f"![{case.title}]({result.case}.png)",
    ]


def _measurements(case: Case, found: Sequence[Measurement]) -> str:
    names = list(dict.fromkeys(name for each in found for name in each.figures))
    with_memory = any(each.peak_bytes is not None for each in found)
    columns = ["contestant", *([case.size] if case.size else [])]
    columns += [*(["median", "from", "to", "runs"] if case.timed else []), *(["MB"] if with_memory else [])]
    lines = [_line(case, each, names, with_memory) for each in found]
    return markdown_table((*columns, *names, "package"), lines)


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


def _machine(results: Sequence[CaseResult]) -> str:
    """Facts of each case, as cases may be run apart; what is the same for all is said once."""
    lines = [
        [
            result.case,
            result.machine["date"],
            f"{result.machine['cpu']}, {result.machine['cores']} cores, {result.machine['caches']}",
            f"{result.machine['memory_bytes'] / 2**30:.0f} GiB",
            f"{result.machine['fma_peak_gflops']:g}",
            f"{result.machine['free_cores']:g}",
            f"{result.machine['load_before']:g}",
            _versions(result),
        ]
        for result in results
    ]
    return markdown_table(
        ("case", "date", "cpu", "memory", "peak GFLOP/s", "free cores", "load before", "versions"), lines
    )


def _complaint(result: CaseResult) -> str:
    return complaint(result.machine, result.threads)


def _versions(result: CaseResult) -> str:
    facts = result.machine
    packages = [f"{name} {number}" for name, number in facts["packages"].items()]
    code = [f"sedil {facts['sedil']}", *([f"commit {facts['commit']}"] if "commit" in facts else [])]
    return ", ".join([*code, f"Python {facts['python']}", *packages, facts["blas"]])
