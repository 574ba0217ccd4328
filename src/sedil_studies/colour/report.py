"""The report on photographs in colour and in grey: tables from the rows of the results files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sedil.imaging.quality import quality_in_words
from sedil.panels import Panel, side_by_side
from sedil_studies.harness.beside import beside
from sedil_studies.harness.denoising_rows import DENOISING, DenoisingRow, figures_in_words, with_noise
from sedil_studies.harness.method import Denoiser
from sedil_studies.harness.source_commit import commits_in_words
from sedil_studies.harness.tables import markdown_table, page

TITLE = "Photographs in colour and in grey"
LABELS = {"cbm3d": "CBM3D", "bm3d": "BM3D", "groups": "sedil", "quick": "sedil quick"}
_NOTES = (
    "White Gaussian noise, neither clipped nor rounded, on the scale 0 to 255; one seed; every method "
    "gets the same pixels.",
    "PSNR in dB over all channels and SSIM (settings of Wang et al. 2004, mean over the channels) of the "
    "unrounded result.",
    "Settings were chosen on none of these photographs.",
    "A table holds the photographs that both methods were run on.",
)
_PART = "bsd-"
_SHOWN_SIGMA = 40
_CORNERS, _SIDE = ((0, 20), (120, 280), (0, 440)), 256  # of the parts that are shown


def markdown(colour: Sequence[DenoisingRow], grey: Sequence[DenoisingRow]) -> str:
    """The report as Markdown."""
    colour, grey = DENOISING.latest(colour), DENOISING.latest(grey)
    kodak = [row for row in grey if not row.image.startswith(_PART)]
    parts = [row for row in grey if row.image.startswith(_PART)]
    sections = [
        ("Kodak in colour: sedil beside CBM3D", colour, "groups", "cbm3d"),
        ("Kodak in colour: sedil beside its quick method", colour, "groups", "quick"),
        ("Kodak in grey: sedil beside BM3D", kodak, "groups", "bm3d"),
        ("Parts of Berkeley photographs in grey: sedil beside BM3D", parts, "groups", "bm3d"),
    ]
    shown = [f"# {TITLE}", "\n".join(f"- {note}" for note in _NOTES)]
    for heading, some, ours, theirs in sections:
        columns, lines = beside(some, ours, theirs, LABELS[theirs])
        if lines:
            shown += [f"## {heading}", markdown_table(columns, lines, texts=0)]
    for heading, some in (
        ("Colour, photograph by photograph", colour),
        ("Grey, photograph by photograph", grey),
    ):
        if some:
            shown += [f"## {heading}", _cells(some)]
    rows = [*colour, *grey]
    return page(*shown, "## Settings", _settings(rows), commits_in_words(row.commit for row in rows))


def picture(denoisers: Mapping[str, Denoiser]) -> np.ndarray:
    """Rows: parts of a photograph; the same with noise; what each method makes of it.

    The photograph is one that scikit-image carries.
    """
    from skimage import data

    photograph = data.stereo_motorcycle()[0].astype(np.float64)
    columns: list[list[Panel]] = []
    for top, left in _CORNERS:
        clean = photograph[top : top + _SIDE, left : left + _SIDE]
        noisy = with_noise(clean, _SHOWN_SIGMA, [top, left])
        results = {LABELS[name]: denoise(noisy, _SHOWN_SIGMA) for name, denoise in denoisers.items()}
        shown = {f"sigma {_SHOWN_SIGMA}": noisy, **results}
        panels = [(f"{name}: {quality_in_words(each, clean, -1)}", each) for name, each in shown.items()]
        columns.append([("original", clean), *panels])
    return side_by_side(list(zip(*columns, strict=True)), gap=8)


def _cells(rows: Sequence[DenoisingRow]) -> str:
    """A line per photograph and noise level: PSNR and SSIM of each method."""
    methods = [name for name in LABELS if any(row.method == name for row in rows)]
    found = {(row.image, row.sigma, row.method): row for row in rows}
    lines = [
        [image, str(sigma), *(figures_in_words(found.get((image, sigma, method))) for method in methods)]
        for image, sigma in dict.fromkeys((row.image, row.sigma) for row in rows)
    ]
    return markdown_table(["image", "sigma", *(LABELS[method] for method in methods)], lines, texts=1)


def _settings(rows: Sequence[DenoisingRow]) -> str:
    kinds = dict.fromkeys(
        (
            LABELS[row.method],
            row.settings,
            "; ".join(filter(None, [row.baseline, f"sedil {row.sedil}", f"numpy {row.numpy}"])),
            str(row.threads),
        )
        for row in rows
    )
    return markdown_table(["method", "settings", "versions", "threads"], list(kinds))
