"""``sedil denoise``: files of pictures and volumes without their noise."""

from __future__ import annotations

import time
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sedil.checks import require_positive
from sedil.coding.sparse_code import METHODS
from sedil.commands.dictionaries import CHOICE, named_dictionary
from sedil.dictionary import format_shape
from sedil.terminal import clear_errors, complain, console, counted

if TYPE_CHECKING:
    from sedil.file_jobs.denoise_files import Facts, Job, Outcome, Settings

Method = Enum("Method", {name: name for name in METHODS})  # type: ignore[misc]

EXAMPLES = """Examples:

sedil denoise noisy.png clean.png --compare both.png

sedil denoise a.png b.tif c.jpg clean/

sedil denoise photos/ clean/ --stride 2

sedil denoise head.nii.gz clean.nii.gz --sigma 20
"""


def denoise(
    images: Annotated[
        list[Path],
        typer.Argument(  # readable or not: that is told with the other reasons, and stops no other picture
            help="A noisy picture or volume, several, or a folder of them.", metavar="IN", readable=False
        ),
    ],
    output: Annotated[
        Path,
        typer.Argument(
            help="Where the clean picture goes; for several a folder, where they keep their names.",
            metavar="OUT",
        ),
    ],
    sigma: Annotated[
        float | None,
        typer.Option(
            help="Standard deviation of the noise in the units of the picture (0 to 255, or 0 to 65535 "
            "with 16 bits); default estimated from each picture."
        ),
    ] = None,
    dictionary: Annotated[
        Path | None,
        typer.Option(
            "--dictionary",
            "-d",
            help=CHOICE,
        ),
    ] = None,
    method: Annotated[Method, typer.Option(help="How patches are coded.")] = Method["refit"],
    stride: Annotated[int, typer.Option(min=1, help="Distance of patches: 2 is four times faster.")] = 1,
    compare: Annotated[
        Path | None,
        typer.Option(
            help="Where a picture with before and after side by side goes, of a volume its middle slice; "
            "for several a folder, not OUT."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="Overwrite existing files.")] = False,
) -> None:
    """Remove white Gaussian noise from pictures, volumes and stacks of frames.

    The suffix of OUT chooses the format. Depth, transparency, colour profile
    and camera facts are kept where it can hold them; what is lost is said.

    Volumes are NIfTI files (.nii, .nii.gz), TIFF files of several pages, and
    arrays (.npy, .npz); the result has the format and the header of IN.
    """
    from sedil.file_jobs.denoise_files import Settings, plan_one, plan_several

    with clear_errors():
        if sigma is not None:
            require_positive(sigma, "sigma")
        loaded = None if dictionary is None else named_dictionary(dictionary)
        settings = Settings(sigma, loaded, method.value, stride)
        if len(images) == 1 and not images[0].is_dir():
            _denoise_one(plan_one(images[0], output, compare, force), settings)
        else:
            _denoise_several(plan_several(images, output, compare, force), settings)


def _denoise_one(job: Job, settings: Settings) -> None:
    from sedil.file_jobs.denoise_files import denoise_file, open_noisy
    from sedil.progress import patch_bar

    noisy = open_noisy(job, settings.sigma)
    _tell_notes(noisy.facts)
    if noisy.facts.estimated:
        console.print(f"estimated noise: {_noise(noisy.facts)}")
    began = time.perf_counter()
    with patch_bar() as show:
        denoise_file(noisy, settings, show)
    seconds = time.perf_counter() - began
    console.print(f"denoised     {format_shape(noisy.picture.pixels.shape)} in {seconds:.1f} s")
    console.print(f"saved        {job.target}")
    if job.comparison is not None:
        console.print(f"compared     {job.comparison}")


def _denoise_several(jobs: Sequence[Job], settings: Settings) -> None:
    from sedil.file_jobs.denoise_files import denoise_files
    from sedil.progress import patch_bar

    console.print(f"denoising {counted(len(jobs), 'picture')} into {jobs[0].target.parent}")
    width = max(len(job.source.name) for job in jobs)
    n_tried, failed = 0, []
    began = time.perf_counter()
    try:
        with patch_bar() as show:
            for outcome in denoise_files(jobs, settings, show):
                n_tried += 1
                _tell_outcome(outcome, width)
                if outcome.error is not None:
                    failed.append(outcome.job.source.name)
    finally:  # after Ctrl-C too
        seconds = time.perf_counter() - began
        console.print(f"denoised     {n_tried - len(failed)} of {len(jobs)} in {seconds:.1f} s")
    if n_tried < len(jobs):
        raise OSError(f"The disk is full: {counted(len(jobs) - n_tried, 'picture')} not tried.")
    if failed:
        raise OSError(f"{counted(len(failed), 'picture')} failed: {', '.join(failed)}.")


def _tell_outcome(outcome: Outcome, width: int) -> None:
    """One line a file: its name, its noise and the time, or why it failed."""
    if outcome.facts is not None:
        _tell_notes(outcome.facts)
    name = f"{outcome.job.source.name:{width}}"
    if outcome.error is not None or outcome.facts is None:
        complain("failed:", outcome.error, before=f"{name}  ")
        return
    origin = "estimated" if outcome.facts.estimated else "given"
    console.print(f"{name}  {_noise(outcome.facts)} ({origin})  {outcome.seconds:.1f} s")


def _tell_notes(facts: Facts) -> None:
    for note in facts.notes:
        console.print(f"note: {note}")


def _noise(facts: Facts) -> str:
    if facts.sigma == 0:
        return "none found, the picture stays as it is"
    return f"sigma {facts.sigma:.3g}" if facts.sigma < 100 else f"sigma {facts.sigma:.0f}"
