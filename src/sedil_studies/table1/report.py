"""The report on the paper's Table 1, as Markdown and as one HTML page, from the rows of the results file."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from statistics import fmean
from typing import NamedTuple

from sedil_studies.harness.beside import beside
from sedil_studies.harness.denoising_rows import DENOISING, DenoisingRow
from sedil_studies.harness.source_commit import commits_in_words
from sedil_studies.harness.tables import Table, markdown_table, page
from sedil_studies.table1 import comparison, paper
from sedil_studies.table1.comparison import Cell, Comparison

METRICS = {"psnr": "PSNR in dB", "ssim": "SSIM"}
TITLE = "Denoising: the paper's Table 1 and ours"
_LABELS = {
    "ksvd": "K-SVD",
    "unstructured": "unstructured SeDiL",
    "odct": "ODCT",
    "separable": "separable SeDiL",
    "bm3d": "BM3D",
    "groups": "sedil",
    "quick": "sedil quick",
    "odct-12x12": "ODCT 12x12",
    "separable-12x12": "separable 12x12",
    "odct-16x16": "ODCT 16x16",
    "separable-16x16": "separable 16x16",
    "paper-unstructured": "unstructured, learned as the paper says",
    "paper-separable": "separable, learned as the paper says",
    "unstructured-l1": "unstructured, plain l1",
    "paper-unstructured-l1": "unstructured, learned as the paper says, plain l1",
    "odct-l1": "ODCT, plain l1",
    "separable-l1": "separable, plain l1",
    "paper-separable-l1": "separable, learned as the paper says, plain l1",
}
_STYLE = """
body { font: 15px/1.4 system-ui, sans-serif; margin: 2em auto; max-width: 80em; padding: 0 1em; color: #222;
  background: #fff }
div { overflow-x: auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { border-bottom: 1px solid #ddd; padding: .3em .7em; text-align: right; white-space: nowrap;
  vertical-align: top }
th { vertical-align: bottom; white-space: normal }
.text th, .text td { text-align: left }
.text td { white-space: normal }
td span { display: block; font-size: 85%; color: #666 }
td .above { color: #0a6e2c }
td .below { color: #b3261e }
"""


Entry = str | Cell | None  # of a table


class Section(NamedTuple):
    """A heading, a sentence, a table: its column names and its lines."""

    heading: str
    words: str
    columns: tuple[str, ...]
    lines: list[list[Entry]]
    is_text: bool = False  # no figures: to the left


def markdown(rows: Sequence[DenoisingRow]) -> str:
    """The report as Markdown."""
    parts = [f"# {TITLE}", "\n".join(f"- {note}" for note in _notes(rows))]
    for section in _sections(rows):
        parts += [f"## {section.heading}", section.words, _markdown_table(section)]
    return page(*parts)


def html(rows: Sequence[DenoisingRow]) -> str:
    """The report as one HTML page that needs nothing else."""
    notes = "".join(f"<li>{escape(note)}</li>\n" for note in _notes(rows))
    body = "\n".join(map(_html_section, _sections(rows)))
    return (
        f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>{escape(TITLE)}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<style>{_STYLE}</style>\n'
        f"<h1>{escape(TITLE)}</h1>\n<ul>\n{notes}</ul>\n{body}\n</html>\n"
    )


def overview(rows: Sequence[DenoisingRow]) -> Table:
    """Mean PSNR per method and noise level, and how far it is from the paper's; 80 columns wide at most."""
    rows = DENOISING.latest(rows)
    summary = comparison.summary(rows, "psnr")
    lines = [
        [method, *(_short(line.cells[k]) for line in summary.lines)]
        for k, method in enumerate(summary.methods)
    ]
    title = f"Mean PSNR in dB over {averaged_images(rows)}, difference from the paper"
    return Table(["sigma", *(line.head[0] for line in summary.lines)], lines, title)


def _short(cell: Cell | None) -> str:
    if cell is None:
        return ""
    difference = "" if cell.difference is None else f" {cell.difference:+.2f}"
    return f"{cell.ours:.2f}{difference}"


def label(method: str) -> str:
    """The name of a method for people."""
    return _LABELS.get(method, method)


def averaged_images(rows: Sequence[DenoisingRow]) -> str:
    """Over which images the means are taken."""
    images = comparison.images_of(rows)
    if images == paper.IMAGES:
        return "the five images"
    return f"{', '.join(images)} ({len(images)} of the paper's five images)"


def _notes(rows: Sequence[DenoisingRow]) -> list[str]:
    seeds = sorted({row.seed for row in rows})
    return [
        "The paper: S. Hawe, M. Seibert, M. Kleinsteuber, Separable Dictionary Learning, CVPR 2013.",
        "A cell holds our figure, the paper's, and the difference; ours alone where the paper has none.",
        f"White Gaussian noise, neither clipped nor rounded; "
        f"{'one seed' if len(seeds) == 1 else f'{len(seeds)} seeds'} ({', '.join(map(str, seeds))}); "
        "every method gets the same noisy pixels.",
        "PSNR and SSIM (settings of Wang et al. 2004) of the unrounded result, on the scale 0 to 255.",
        commits_in_words(row.commit for row in DENOISING.latest(rows)),
    ]


def _sections(rows: Sequence[DenoisingRow]) -> list[Section]:
    rows = DENOISING.latest(rows)
    several = len({row.seed for row in rows}) > 1
    mean = f"Mean over {averaged_images(rows)}" + (
        ", ± its standard deviation over the seeds." if several else "."
    )
    each = "Mean over the seeds, ± the standard deviation over them." if several else "One seed."
    means = [
        _section(f"Mean {name}", mean, ("sigma",), comparison.summary(rows, metric))
        for metric, name in METRICS.items()
    ]
    cells = [
        _section(f"{name}, image by image", each, ("image", "sigma"), comparison.cells(rows, metric))
        for metric, name in METRICS.items()
    ]
    return [*means, *_beside_bm3d(rows), *cells, _settings(rows)]


def _beside_bm3d(rows: Sequence[DenoisingRow]) -> list[Section]:
    """How far the default is above BM3D; nothing where they were not run on the same images."""
    columns, lines = beside(rows, "groups", "bm3d", label("bm3d"))
    words = "Over the images and seeds that both were run on; differences of an image are means over seeds."
    return [Section("sedil beside BM3D", words, tuple(columns), [[*line] for line in lines])] if lines else []


def _section(heading: str, words: str, heads: tuple[str, ...], table: Comparison) -> Section:
    columns = heads + tuple(label(method) for method in table.methods)
    return Section(heading, words, columns, [[*line.head, *line.cells] for line in table.lines])


def _settings(rows: Sequence[DenoisingRow]) -> Section:
    """What was run with which versions, and how long it took; several lines for what was changed midway."""
    kinds: dict[tuple[str, ...], list[DenoisingRow]] = {}
    for method in comparison.methods_of(rows):
        for row in rows:
            if row.method == method:
                kinds.setdefault((label(method), row.settings, _versions(row), str(row.threads)), []).append(
                    row
                )
    lines: list[list[Entry]] = [
        [*kind, f"{fmean(row.seconds for row in mine):.1f}", str(len(mine))] for kind, mine in kinds.items()
    ]
    columns = ("method", "settings", "versions", "threads", "seconds", "rows")
    words = "In brackets a fingerprint of the atoms; seconds are means over the rows."
    return Section("Settings", words, columns, lines, is_text=True)


def _versions(row: DenoisingRow) -> str:
    return "; ".join(filter(None, [row.baseline, f"sedil {row.sedil}", f"numpy {row.numpy}"]))


def _figures(cell: Cell) -> list[str]:
    """Our figure; where the paper has one, also the paper's and the difference."""
    ours = f"{cell.ours:.{cell.decimals}f}"
    if cell.spread is not None:
        ours += f" ± {cell.spread:.{cell.decimals}f}"
    if cell.printed is None:
        return [ours]
    return [ours, f"{cell.printed:.{cell.decimals}f}", f"{cell.difference:+.{cell.decimals}f}"]


def _markdown_table(section: Section) -> str:
    lines = [[_entry(entry) for entry in line] for line in section.lines]
    return markdown_table(section.columns, lines, texts=None if section.is_text else 0)


def _entry(entry: Entry) -> str:
    return " / ".join(_figures(entry)) if isinstance(entry, Cell) else entry or ""


def _html_entry(entry: Entry) -> str:
    if not isinstance(entry, Cell):
        return escape(entry or "")
    ours, *others = _figures(entry)
    if not others:
        return ours
    printed, difference = others
    return f'{ours}<span>{printed}</span><span class="{_tone(entry)}">{difference}</span>'


def _tone(cell: Cell) -> str:
    if not cell.difference:
        return "equal"
    return "above" if cell.difference > 0 else "below"


def _html_section(section: Section) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in section.columns)
    lines = "".join(
        f"<tr>{''.join(f'<td>{_html_entry(entry)}</td>' for entry in line)}</tr>\n" for line in section.lines
    )
    kind = ' class="text"' if section.is_text else ""
    return (
        f"<h2>{escape(section.heading)}</h2>\n<p>{escape(section.words)}</p>\n"
        f"<div><table{kind}>\n<tr>{head}</tr>\n{lines}</table></div>"
    )
