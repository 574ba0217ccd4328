"""Rows of the results file beside the paper's figures: means over seeds and images, and differences."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, stdev
from typing import NamedTuple

from sedil_studies.harness.denoising_rows import DenoisingRow
from sedil_studies.table1 import paper
from sedil_studies.table1.methods import METHODS

DECIMALS = {"psnr": 2, "ssim": 3}  # as the paper prints them


class Cell(NamedTuple):
    """Our figure and the paper's for one method.

    Attributes
    ----------
    ours : mean over the seeds
    spread : standard deviation over the seeds; None with one seed
    printed : the paper's; None where it has none
    decimals : to show of each
    """

    ours: float
    spread: float | None
    printed: float | None
    decimals: int

    @property
    def difference(self) -> float | None:
        """Ours less the paper's, of the figures as they are shown, so that all three add up."""
        if self.printed is None:
            return None
        ours, printed = (round(figure, self.decimals) for figure in (self.ours, self.printed))
        return round(ours - printed, self.decimals) + 0.0  # no negative zero


class Line(NamedTuple):
    """A line of a table: its head, such as lena and 20, and a cell per method, None where it was not run."""

    head: tuple[str, ...]
    cells: list[Cell | None]


class Comparison(NamedTuple):
    """Methods side by side."""

    methods: tuple[str, ...]
    lines: list[Line]


def summary(rows: Sequence[DenoisingRow], metric: str) -> Comparison:
    """Means over the images, a line per noise level; the paper's over the same images.

    A seed counts where all images were run with it.
    """
    images, methods = images_of(rows), methods_of(rows)
    return Comparison(
        methods,
        [
            Line((str(sigma),), [_cell(rows, metric, method, images, sigma) for method in methods])
            for sigma in sigmas_of(rows)
        ],
    )


def cells(rows: Sequence[DenoisingRow], metric: str) -> Comparison:
    """The table itself, a line per image and noise level."""
    methods = methods_of(rows)
    run = {(row.image, row.sigma) for row in rows}
    return Comparison(
        methods,
        [
            Line((image, str(sigma)), [_cell(rows, metric, method, (image,), sigma) for method in methods])
            for image in images_of(rows)
            for sigma in sigmas_of(rows)
            if (image, sigma) in run
        ],
    )


def images_of(rows: Sequence[DenoisingRow]) -> tuple[str, ...]:
    """Images that were run, in the paper's order."""
    return tuple(sorted({row.image for row in rows}, key=paper.IMAGES.index))


def sigmas_of(rows: Sequence[DenoisingRow]) -> tuple[int, ...]:
    """Noise levels that were run."""
    return tuple(sorted({row.sigma for row in rows}))


def methods_of(rows: Sequence[DenoisingRow]) -> tuple[str, ...]:
    """Methods that were run: those of the paper, those past it, then any that are no more."""
    run = dict.fromkeys(row.method for row in rows)
    return tuple([name for name in METHODS if name in run] + [name for name in run if name not in METHODS])


def _cell(
    rows: Sequence[DenoisingRow], metric: str, method: str, images: Sequence[str], sigma: int
) -> Cell | None:
    """Mean over these images for each seed that has them all, then mean and spread over the seeds."""
    figures = {
        (row.seed, row.image): getattr(row, metric)
        for row in rows
        if row.method == method and row.sigma == sigma and row.image in images
    }
    means = [
        fmean(figures[seed, image] for image in images)
        for seed in sorted({seed for seed, _ in figures})
        if all((seed, image) in figures for image in images)
    ]
    if not means:
        return None
    spread = stdev(means) if len(means) > 1 else None
    return Cell(fmean(means), spread, _printed_mean(metric, method, images, sigma), DECIMALS[metric])


def _printed_mean(metric: str, method: str, images: Sequence[str], sigma: int) -> float | None:
    printed = [paper.printed(metric, method, image, sigma) for image in images]
    known = [figure for figure in printed if figure is not None]
    return fmean(known) if len(known) == len(images) else None
