"""The paper's Table 1, run: images x noise levels x seeds x methods, one row of the results file each."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import nan
from pathlib import Path
from typing import NamedTuple

import numpy as np

import sedil
from sedil.imaging.quality import image_quality
from sedil_studies.images import noisy_image
from sedil_studies.methods import Method
from sedil_studies.paper import IMAGES, SIGMAS
from sedil_studies.rows import Row, append_row, identity, open_rows

Progress = Callable[[int, int, str], None]  # pixels denoised, pixels in all, what is being done
AddNoise = Callable[[np.ndarray, str, int, int], np.ndarray]


class Plan(NamedTuple):
    """Which cells of the table are run; the seeds of the noise are 0, 1, ..."""

    images: tuple[str, ...] = IMAGES
    sigmas: tuple[int, ...] = SIGMAS
    n_seeds: int = 3


QUICK = Plan(images=("house",), sigmas=(20,), n_seeds=1)  # the smallest image at the middle level


def run(
    plan: Plan,
    images: Mapping[str, np.ndarray],
    methods: Mapping[str, Method],
    path: Path,
    threads: int,
    progress: Progress | None = None,
    add_noise: AddNoise = noisy_image,
) -> int:
    """Run what the results file does not hold yet, and add each row to it as soon as it is there.

    Parameters
    ----------
    plan : Plan
    images : mapping
        Clean images by name; no method sees them.
    methods : mapping
        Methods by name.
    path : Path
        The results file. Rows in it with the same settings and versions are not run again.
    threads : int
        What the methods were given, for the record.
    progress : callable, optional
        Called before each step with the pixels denoised, the pixels in all, and a few words.
    add_noise : callable, optional
        From a clean image, its name, sigma and seed to the noisy one; default: the paper's five images.

    Returns
    -------
    int
        The number of rows that were run.
    """
    waiting = missing_rows(plan, methods, path, threads)
    total = sum(images[row.image].size for row in waiting)
    tell = progress or (lambda done, total, words: None)
    _prepare(methods, waiting, tell)
    done = 0
    for row in waiting:
        tell(done, total, f"{row.image}, sigma {row.sigma}, seed {row.seed}: {row.method}")
        append_row(path, measure(row, images[row.image], methods[row.method], add_noise))
        done += images[row.image].size
    tell(done, total, "done")
    return len(waiting)


def missing_rows(plan: Plan, methods: Mapping[str, Method], path: Path, threads: int) -> list[Row]:
    """Rows still to be measured, without their figures; first all images and levels of the first seed."""
    done = {identity(row) for row in open_rows(path)}
    wanted = [
        _empty_row(image, sigma, seed, name, methods[name], threads)
        for seed in range(plan.n_seeds)
        for image in plan.images
        for sigma in plan.sigmas
        for name in methods
    ]
    return [row for row in wanted if identity(row) not in done]


def measure(row: Row, clean: np.ndarray, method: Method, add_noise: AddNoise = noisy_image) -> Row:
    """Add noise, denoise, compare."""
    noisy = add_noise(clean, row.image, row.sigma, row.seed)
    began = time.perf_counter()
    result = method.denoise(noisy, row.sigma)
    seconds = time.perf_counter() - began
    psnr, ssim = image_quality(result, clean)
    return row._replace(psnr=round(psnr, 4), ssim=round(ssim, 5), seconds=round(seconds, 3))


def _empty_row(image: str, sigma: int, seed: int, name: str, method: Method, threads: int) -> Row:
    return Row(
        image=image,
        sigma=sigma,
        seed=seed,
        method=name,
        psnr=nan,
        ssim=nan,
        seconds=nan,
        threads=threads,
        settings=method.settings,
        sedil=sedil.__version__,
        baseline=method.package,
        numpy=np.__version__,
    )


def _prepare(methods: Mapping[str, Method], waiting: Sequence[Row], tell: Progress) -> None:
    """Learn and compile before the clock runs; only for methods that have rows to run."""
    for name in dict.fromkeys(row.method for row in waiting):
        prepare = methods[name].prepare
        if prepare:
            prepare(partial(_tell_of_learning, tell, name))


def _tell_of_learning(tell: Progress, name: str, done: int, total: int) -> None:
    tell(done, total, f"learning for {name}, once")
