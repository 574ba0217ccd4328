"""Denoise the file of a visitor: pixels before and after, a file to download, and words on both."""

from __future__ import annotations

import time
from html import escape
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple

import numpy as np

from sedil.dictionary import format_shape
from sedil.file_jobs.denoise_files import DenoiseSettings, denoise_file, find_noise, noise_in_words
from sedil.file_jobs.job_planning import plan_one
from sedil.file_jobs.opened_file import open_file
from sedil.image_files.volume_files import is_volume
from sedil.imaging.quality import image_quality
from sedil.progress import Report


class Denoised(NamedTuple):
    """Pixels in their own units, where the result lies, and what is to be said."""

    before: np.ndarray
    after: np.ndarray
    file: Path
    words: str


def denoise_upload(
    source: Path, settings: DenoiseSettings, clean: np.ndarray | None, folder: Path, report: Report
) -> Denoised:
    """Denoise a picture or volume into a new folder inside `folder`.

    `clean` is what it should be, where that is known: then quality is measured.
    """
    began = time.perf_counter()
    job = plan_one(source, _target(source, Path(mkdtemp(dir=folder))), None, force=False)
    opened = open_file(job)
    noise, _ = find_noise(opened.content, settings)
    after = denoise_file(opened, noise, settings, report)
    before = opened.content.pixels
    level = f"sigma {settings.sigma:g}, given" if noise is None else f"{noise_in_words(noise)}, estimated"
    facts = [
        ("noise", level),
        ("method", settings.method or "own dictionary"),
        ("time", f"{time.perf_counter() - began:.1f} s"),
        (source.name, f"{format_shape(before.shape)}, {before.dtype}"),
    ]
    if clean is not None:
        axis = opened.content.channel_axis
        psnr = [image_quality(image, clean, axis)[0] for image in (before, after)]
        facts.append(("PSNR", f"{psnr[0]:.2f} dB before, {psnr[1]:.2f} dB after"))
    return Denoised(before, after, job.target, as_facts(facts))


def as_facts(facts: list[tuple[str, str]]) -> str:
    """HTML: a name and what is to be said of it, side by side."""
    return " ".join(
        f"<span class='fact'><b>{escape(name)}</b> {escape(words)}</span>" for name, words in facts
    )


def _target(source: Path, folder: Path) -> Path:
    """Volumes keep their format; pictures become PNG, without loss, or stay TIFF, which holds more."""
    if is_volume(source):
        return folder / f"clean-{source.name}"
    suffix = source.suffix if source.suffix.lower() in (".tif", ".tiff") else ".png"
    return folder / f"clean-{source.stem}{suffix}"
