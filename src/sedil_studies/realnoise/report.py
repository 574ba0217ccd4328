"""The report on real noise: tables from the rows of the results files."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from sedil_studies.harness.beside import beside
from sedil_studies.harness.denoising_rows import DENOISING, DenoisingRow, figures_in_words
from sedil_studies.harness.source_commit import commits_in_words
from sedil_studies.harness.tables import markdown_table, page

TITLE = "Noise of cameras and of photons"
_NOTES = (
    "Photographs: single shots of three cameras at ISO 1600 to 6400 beside means of hundreds of them (Nam et "
    "al. 2016); sedil is given neither sigma nor camera, CBM3D runs with several levels, of which that with "
    "the best mean counts.",
    "Counts: Poisson numbers of at most so many photons a pixel, one seed, PSNR on the scale 0 to 255; BM3D "
    "works between the same roots and the same exact inverse.",
    "Values of settings come from photographs of other cameras and synthetic noise; see docs/noise.md.",
)


def markdown(photographs: Sequence[DenoisingRow], counts: Sequence[DenoisingRow]) -> str:
    """The report as Markdown."""
    photographs, counts = DENOISING.latest(photographs), DENOISING.latest(counts)
    shown = [f"# {TITLE}", "\n".join(f"- {note}" for note in _NOTES)]
    if photographs:
        shown += ["## Photographs of cameras", _photographs(photographs)]
    columns, lines = beside(counts, "groups", "bm3d", "BM3D")
    if lines:
        shown += ["## Counts of photons", markdown_table(["peak", *columns[1:]], lines, texts=0)]
    elif counts:
        shown += ["## Counts of photons", _means(counts)]
    return page(*shown, commits_in_words(row.commit for row in [*photographs, *counts]))


def _photographs(rows: Sequence[DenoisingRow]) -> str:
    """A line a photograph, and the means, of ours and of CBM3D with its best level."""
    ours = {row.image: row for row in rows if row.method == "groups"}
    best = _best([row for row in rows if row.method == "cbm3d"])
    lines = [
        [name, figures_in_words(row), figures_in_words(best.get(name)), f"{row.seconds:.1f}"]
        for name, row in ours.items()
    ]
    mean = ["mean", *(_mean(list(each.values())) for each in (ours, best)), ""]
    return markdown_table(["photograph", "sedil, blind", "CBM3D", "seconds"], [*lines, mean], texts=1)


def _best(rows: Sequence[DenoisingRow]) -> dict[str, DenoisingRow]:
    """The rows of the level whose mean PSNR is the highest."""
    levels = {row.sigma for row in rows}
    if not levels:
        return {}
    level = max(levels, key=lambda each: fmean(row.psnr for row in rows if row.sigma == each))
    return {row.image: row for row in rows if row.sigma == level}


def _means(rows: Sequence[DenoisingRow]) -> str:
    peaks = sorted({row.sigma for row in rows})
    lines = [[str(peak), _mean([row for row in rows if row.sigma == peak])] for peak in peaks]
    return markdown_table(["peak", "sedil"], lines, texts=0)


def _mean(rows: Sequence[DenoisingRow]) -> str:
    return f"{fmean(row.psnr for row in rows):.2f} / {fmean(row.ssim for row in rows):.3f}" if rows else ""
