"""One method beside another, noise level by noise level, over the images that both were run on."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

from sedil_studies.harness.denoising_rows import DenoisingRow


class Pair(NamedTuple):
    """The rows of both methods on one noisy image."""

    ours: DenoisingRow
    theirs: DenoisingRow


def beside(
    rows: Sequence[DenoisingRow], ours: str, theirs: str, name: str
) -> tuple[list[str], list[list[str]]]:
    """Columns and lines of a table: one method less another, whose name for people is given.

    A difference of an image is the mean over the seeds. Seconds are there where both were run with the same
    code: those of other days are of another machine, or of a busy one.
    """
    columns = [
        "sigma",
        "images",
        f"PSNR of {name}",
        "PSNR of ours",
        "difference",
        "least difference",
        f"images above {name}",
        "difference in SSIM",
        "least difference in SSIM",
        f"seconds of {name}",
        "seconds of ours",
    ]
    pairs = _pairs(rows, ours, theirs)
    sigmas = sorted({pair.ours.sigma for pair in pairs})
    return columns, [_line(sigma, [pair for pair in pairs if pair.ours.sigma == sigma]) for sigma in sigmas]


def _pairs(rows: Sequence[DenoisingRow], ours: str, theirs: str) -> list[Pair]:
    peers = {(row.image, row.sigma, row.seed): row for row in rows if row.method == theirs}
    return [
        Pair(row, peers[row.image, row.sigma, row.seed])
        for row in rows
        if row.method == ours and (row.image, row.sigma, row.seed) in peers
    ]


def _line(sigma: int, pairs: Sequence[Pair]) -> list[str]:
    psnr, ssim = _differences(pairs, "psnr"), _differences(pairs, "ssim")
    n_above = sum(difference > 0 for difference in psnr.values())
    return [
        str(sigma),
        str(len(psnr)),
        f"{fmean(pair.theirs.psnr for pair in pairs):.2f}",
        f"{fmean(pair.ours.psnr for pair in pairs):.2f}",
        f"{fmean(psnr.values()):+.2f}",
        _least(psnr, 2),
        f"{n_above} of {len(psnr)}",
        f"{fmean(ssim.values()):+.4f}",
        _least(ssim, 4),
        *_seconds([pair for pair in pairs if pair.ours.commit and pair.ours.commit == pair.theirs.commit]),
    ]


def _seconds(pairs: Sequence[Pair]) -> list[str]:
    """Of them, and of ours."""
    if not pairs:
        return ["", ""]
    return [f"{fmean(row.seconds for row in rows):.1f}" for rows in zip(*map(reversed, pairs), strict=True)]


def _differences(pairs: Sequence[Pair], metric: str) -> dict[str, float]:
    """By image, the mean over the seeds."""
    images = dict.fromkeys(pair.ours.image for pair in pairs)
    return {
        image: fmean(
            getattr(pair.ours, metric) - getattr(pair.theirs, metric)
            for pair in pairs
            if pair.ours.image == image
        )
        for image in images
    }


def _least(differences: dict[str, float], decimals: int) -> str:
    image = min(differences, key=differences.__getitem__)
    return f"{differences[image]:+.{decimals}f} ({image})"
