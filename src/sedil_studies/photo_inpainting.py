"""Inpainting of photographs, run: images x masks x methods, one row of the results file each."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import version
from math import log10, nan
from pathlib import Path
from typing import NamedTuple

import numpy as np

import sedil
from sedil.imaging.quality import image_quality
from sedil.pretrained import NAMES as SHIPPED
from sedil_studies.bar import Progress
from sedil_studies.methods import fingerprint
from sedil_studies.paper import IMAGES
from sedil_studies.photo_masks import MASKS, make_mask
from sedil_studies.rows import append_row, open_rows

_ODCT = (12, 12), (24, 24)  # patches and atoms

Filler = Callable[..., np.ndarray]  # from an image and its mask to the filled image; takes channel_axis


class PhotoRow(NamedTuple):
    """One method on one image with one mask.

    Attributes
    ----------
    image, mask, method : what was run
    missing : share of the pixels
    psnr : over the missing pixels alone, on the scale 0 to 255
    ssim : of the whole image
    seconds : of the method alone
    threads : it was given
    settings : of the method
    sedil, numpy : versions
    """

    image: str
    mask: str
    method: str
    missing: float
    psnr: float
    ssim: float
    seconds: float
    threads: int
    settings: str
    sedil: str
    numpy: str


class Plan(NamedTuple):
    """Which images and masks are run."""

    images: tuple[str, ...] = IMAGES
    masks: tuple[str, ...] = tuple(MASKS)


QUICK = Plan(images=("house",), masks=("50 % of pixels",))


class Method(NamedTuple):
    """A way to fill missing pixels; `settings` says all that decides its result, besides versions."""

    fill: Filler
    settings: str


def _default(threads: int) -> Method:
    atoms = fingerprint(*map(sedil.shipped_dictionary, SHIPPED))  # it chooses among them
    return Method(partial(sedil.inpaint, threads=threads), f"defaults of sedil.inpaint ({atoms})")


def _odct(threads: int) -> Method:
    fill = partial(sedil.inpaint, dictionary=sedil.odct(*_ODCT), threads=threads)
    return Method(fill, "ODCT of 12x12, 24x24 atoms")


def _biharmonic(threads: int) -> Method:
    from skimage.restoration import inpaint_biharmonic

    return Method(inpaint_biharmonic, f"inpaint_biharmonic of scikit-image {version('scikit-image')}")


METHODS: dict[str, Callable[[int], Method]] = {
    "biharmonic": _biharmonic,
    "odct": _odct,
    "default": _default,
}


def run(
    plan: Plan,
    images: Mapping[str, np.ndarray],
    path: Path,
    threads: int,
    progress: Progress | None = None,
) -> int:
    """Run what the results file does not hold yet, add each row at once; returns the number of rows run."""
    methods = {name: make(threads) for name, make in METHODS.items()}
    done = {_identity(row) for row in open_rows(path, PhotoRow)}
    waiting = [
        _empty_row(image, mask, name, method, threads)
        for image in plan.images
        for mask in plan.masks
        for name, method in methods.items()
    ]
    waiting = [row for row in waiting if _identity(row) not in done]
    for name in {row.method for row in waiting}:
        _warm_up(methods[name].fill)
    for k, row in enumerate(waiting):
        if progress:
            progress(k, len(waiting), f"{row.image}, {row.mask}: {row.method}")
        append_row(path, measure(row, images[row.image], methods[row.method].fill))
    return len(waiting)


def measure(row: PhotoRow, clean: np.ndarray, fill: Filler) -> PhotoRow:
    """Take pixels away, fill them, compare."""
    mask = make_mask(row.mask, clean.shape)
    damaged = np.where(mask, 0, clean)
    began = time.perf_counter()
    filled = fill(damaged, mask)
    seconds = time.perf_counter() - began
    return row._replace(
        missing=round(float(mask.mean()), 4),
        psnr=round(psnr_inside(filled, clean, mask), 4),
        ssim=round(image_quality(filled, clean)[1], 5),
        seconds=round(seconds, 3),
    )


def psnr_inside(filled: np.ndarray, clean: np.ndarray, mask: np.ndarray) -> float:
    """PSNR in dB over the missing pixels alone, on the scale 0 to 255."""
    return 10 * log10(255**2 / float(np.mean((filled - clean)[mask] ** 2)))


def latest(rows: list[PhotoRow]) -> list[PhotoRow]:
    """One row per image, mask and method: where settings or versions changed, the last one."""
    return list({(row.image, row.mask, row.method): row for row in rows}.values())


def _empty_row(image: str, mask: str, name: str, method: Method, threads: int) -> PhotoRow:
    return PhotoRow(
        image, mask, name, nan, nan, nan, nan, threads, method.settings, sedil.__version__, np.__version__
    )


def _identity(row: PhotoRow) -> tuple[str, ...]:
    return row.image, row.mask, row.method, row.settings, row.sedil, row.numpy


def _warm_up(fill: Filler) -> None:
    """Fill a tiny image, so that what is compiled on first use is not on the clock."""
    ramp = np.add.outer(np.arange(32.0), np.arange(32.0))
    fill(ramp, make_mask("50 % of pixels", ramp.shape))
