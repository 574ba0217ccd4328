"""The report on real noise: tables from the rows of the results files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

import numpy as np
from scipy.ndimage import gaussian_filter

import sedil
from sedil.imaging.quality import quality_in_words
from sedil.panels import Panel, side_by_side
from sedil_studies.harness.beside import beside
from sedil_studies.harness.denoising_rows import DENOISING, DenoisingRow, figures_in_words
from sedil_studies.harness.source_commit import commits_in_words
from sedil_studies.harness.tables import markdown_table, page
from sedil_studies.realnoise.data import counted_photons, photon_gain

TITLE = "Noise of cameras and of photons"
_NOTES = (
    "Photographs: single shots of three cameras at ISO 1600 to 6400 beside means of hundreds of them (Nam et "
    "al. 2016); sedil is given neither sigma nor camera. CBM3D, where there are rows of it, ran with several "
    "levels, of which that with the best mean counts.",
    "Channels: white noise of 40, 20 and 30 in red, green and blue of Kodak's photographs, one seed; sedil "
    "is told all three, and runs beside that with several single levels, of which the best counts.",
    "Counts: Poisson numbers of at most so many photons a pixel, one seed, PSNR on the scale 0 to 255; BM3D "
    "works between the same roots and the same exact inverse.",
    "Values of settings come from photographs of other cameras and synthetic noise; see docs/noise.md.",
)


_CHANNEL_METHODS = {"groups": "sedil, a level each", "one level": "sedil, one level", "cbm3d": "CBM3D"}
_CORNERS, _SIDE, _SHOWN_PEAK = ((0, 20), (120, 280)), 256, 20  # of the parts that are shown


def markdown(
    photographs: Sequence[DenoisingRow], channels: Sequence[DenoisingRow], counts: Sequence[DenoisingRow]
) -> str:
    """The report as Markdown."""
    photographs, channels, counts = map(DENOISING.latest, (photographs, channels, counts))
    shown = [f"# {TITLE}", "\n".join(f"- {note}" for note in _NOTES)]
    if photographs:
        shown += ["## Photographs of cameras", _photographs(photographs)]
    if channels:
        shown += ["## Channels with other noise", _channels(channels)]
    columns, lines = beside(counts, "groups", "bm3d", "BM3D")
    if lines:
        shown += ["## Counts of photons", markdown_table(["peak", *columns[1:]], lines, texts=0)]
    elif counts:
        shown += ["## Counts of photons", _means(counts)]
    return page(*shown, commits_in_words(row.commit for row in [*photographs, *channels, *counts]))


def _photographs(rows: Sequence[DenoisingRow]) -> str:
    """A line a photograph, and the means: as it is, of ours, and of CBM3D with its best level."""
    noisy, ours, best = (_best(rows, method) for method in ("noisy", "groups", "cbm3d"))
    lines = [
        [name, *(figures_in_words(each.get(name)) for each in (noisy, ours, best)), f"{row.seconds:.1f}"]
        for name, row in ours.items()
    ]
    mean = ["mean", *(_mean(list(each.values())) for each in (noisy, ours, best)), ""]
    columns = ["photograph", "noisy", "sedil, blind", "CBM3D", "seconds"]
    return markdown_table(columns, [*lines, mean], texts=1)


def _channels(rows: Sequence[DenoisingRow]) -> str:
    """A line a method: its means, and how far it is from ours on each photograph."""
    ours = _best(rows, "groups")
    lines = []
    for method, words in _CHANNEL_METHODS.items():
        best = _best(rows, method)
        if not best:
            continue
        less = [ours[name].psnr - row.psnr for name, row in best.items() if name in ours]
        lines.append(
            [
                words,
                ", ".join(map(str, sorted({row.sigma for row in best.values()} - {0}))),
                _mean(list(best.values())),
                f"{fmean(row.seconds for row in best.values()):.1f}",
                f"{min(less):+.2f}" if less and method != "groups" else "",
            ]
        )
    columns = ["method", "best level", "PSNR / SSIM", "seconds", "least lead of sedil, dB"]
    return markdown_table(columns, lines, texts=1)


def picture(threads: int) -> np.ndarray:
    """Rows: parts of a photograph; the same with noise; without. Columns: noise of a camera, and of photons.

    The photograph is one that scikit-image carries, the noise is simulated.
    """
    from skimage import data

    whole = data.stereo_motorcycle()[0].astype(np.float64)
    (top, left), (second_top, second_left) = _CORNERS
    shot, light = whole[top:, left:][:_SIDE, :_SIDE], whole[second_top:, second_left:][:_SIDE, :_SIDE]
    rng = np.random.default_rng(0)
    spread = gaussian_filter(rng.standard_normal(shot.shape), (1, 1, 0))
    noisy = np.clip(np.rint(shot + 10 * spread / spread.std()), 0, 255).astype(np.uint8)
    counts = counted_photons(light, "light", _SHOWN_PEAK, 0)
    clean = sedil.denoise(noisy, noise="correlated", channel_axis=-1, threads=threads)
    clean_counts = sedil.denoise(
        counts, noise="poisson-gaussian", gain=photon_gain(_SHOWN_PEAK), channel_axis=-1, threads=threads
    )
    columns = [
        _column(shot, {"a camera's noise": noisy, "sedil": clean}),
        _column(light, {f"at most {_SHOWN_PEAK} photons": counts, "sedil": clean_counts}),
    ]
    return side_by_side(list(zip(*columns, strict=True)), gap=8)


def _column(clean: np.ndarray, shown: Mapping[str, np.ndarray]) -> list[Panel]:
    panels = [(f"{words}: {quality_in_words(each, clean, -1)}", each) for words, each in shown.items()]
    return [("original", clean), *panels]


def _best(of_all: Sequence[DenoisingRow], method: str) -> dict[str, DenoisingRow]:
    """The rows of a method by image, at the level whose mean PSNR is the highest."""
    rows = [row for row in of_all if row.method == method]
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
