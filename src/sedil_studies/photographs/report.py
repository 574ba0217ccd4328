"""The report on inpainting of photographs: tables from the rows of the results file, and a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

import numpy as np

from sedil.panels import Panel, side_by_side
from sedil_studies.harness.method import Filler
from sedil_studies.harness.source_commit import commits_in_words
from sedil_studies.harness.tables import markdown_table, page
from sedil_studies.measures.inside import psnr_inside
from sedil_studies.photographs.masks import make_mask
from sedil_studies.photographs.photograph_rows import PHOTOGRAPHS, PhotographRow

LABELS = {"biharmonic": "biharmonic", "odct": "ODCT 12x12", "quick": "sedil quick", "groups": "sedil"}
_METRICS = {"psnr": ("PSNR inside the hole, dB", 2), "ssim": ("SSIM", 3), "seconds": ("Seconds", 2)}
_SHOWN = {"80 % of pixels": (0, 20), "text": (120, 280), "scratches": (0, 440)}  # masks, and corners of parts
_SIDE = 256  # pixels of a part


def markdown(rows: Sequence[PhotographRow]) -> str:
    """The report: means over the images, then image by image, then what was run."""
    rows = PHOTOGRAPHS.latest(rows)
    parts = [
        "# Inpainting of photographs",
        "The PSNR is taken over the missing pixels alone, the SSIM over whole images, on the scale 0 to 255. "
        "All methods get the same pixels; the settings of ours were chosen on other photographs.",
    ]
    for metric, (name, decimals) in _METRICS.items():
        parts += [f"## {name}: mean over the images", _means(rows, metric, decimals)]
    for metric, (name, decimals) in _METRICS.items():
        parts += [f"## {name}, image by image", _cells(rows, metric, decimals)]
    return page(*parts, "## Settings", _settings(rows), commits_in_words(row.commit for row in rows))


def picture(fillers: Mapping[str, Filler]) -> np.ndarray:
    """Rows: parts of a photograph; what is left of them; what each method makes of it, PSNR inside the holes.

    The photograph is one that scikit-image carries and that no shipped dictionary was learned from.
    """
    from skimage import data

    photograph = data.stereo_motorcycle()[0].astype(np.float64)
    columns: list[list[Panel]] = []
    for mask_name, (top, left) in _SHOWN.items():
        clean = photograph[top : top + _SIDE, left : left + _SIDE]
        mask = make_mask(mask_name, clean.shape[:2])
        damaged = np.where(mask[..., None], 0, clean)
        filled = {LABELS[name]: fill(damaged, mask, channel_axis=-1) for name, fill in fillers.items()}
        panels = [(f"{name}: {psnr_inside(each, clean, mask):.1f} dB", each) for name, each in filled.items()]
        columns.append([("original", clean), (f"missing: {mask_name}", damaged), *panels])
    return side_by_side(list(zip(*columns, strict=True)), gap=8)


def _means(rows: Sequence[PhotographRow], metric: str, decimals: int) -> str:
    masks = dict.fromkeys(row.mask for row in rows)
    lines = [[mask, *_figures(rows, metric, decimals, mask=mask)] for mask in masks]
    return markdown_table(["missing", *LABELS.values()], lines)


def _cells(rows: Sequence[PhotographRow], metric: str, decimals: int) -> str:
    run = dict.fromkeys((row.image, row.mask) for row in rows)
    lines = [[image, mask, *_figures(rows, metric, decimals, image=image, mask=mask)] for image, mask in run]
    return markdown_table(["image", "missing", *LABELS.values()], lines)


def _figures(rows: Sequence[PhotographRow], metric: str, decimals: int, **wanted: str) -> list[str]:
    """The mean of each method over the rows wanted."""
    return [_mean(rows, metric, decimals, method=name, **wanted) for name in LABELS]


def _mean(rows: Sequence[PhotographRow], metric: str, decimals: int, **wanted: str) -> str:
    found = [
        getattr(row, metric)
        for row in rows
        if all(getattr(row, name) == value for name, value in wanted.items())
    ]
    return f"{fmean(found):.{decimals}f}" if found else ""


def _settings(rows: Sequence[PhotographRow]) -> str:
    kinds = dict.fromkeys(
        (LABELS[row.method], row.settings, f"sedil {row.sedil}; numpy {row.numpy}", str(row.threads))
        for row in rows
    )
    return markdown_table(["method", "settings", "versions", "threads"], list(kinds))
