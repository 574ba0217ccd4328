"""What `sedil denoise` and `sedil inpaint` do with arrays that are worked on block by block."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sedil.terminal import bar, console, counted

if TYPE_CHECKING:
    from sedil.file_jobs.chunk_jobs import ChunkSettings
    from sedil.file_jobs.chunk_runs import Facts

Scheduler = Annotated[
    str | None,
    typer.Option(
        help="Address of a running Dask scheduler, or 'local': the work is done block by block, by its "
        "workers or by processes of this machine.",
        metavar="ADDRESS",
    ),
]


def is_worked_on_in_blocks(paths: Sequence[Path], scheduler: str | None) -> bool:
    """Whether a scheduler is wanted, or one of the files is of a kind that is read in blocks alone."""
    from sedil.cluster.stored_arrays import is_stored

    return scheduler is not None or any(map(is_stored, paths))


def require_one_in_blocks(images: Sequence[Path], compare: Path | None) -> None:
    """One array at a time, and no picture of it."""
    if len(images) > 1:
        raise ValueError("Arrays that are worked on in blocks come one at a time: IN OUT.")
    if compare is not None:
        raise ValueError("--compare is for pictures and volumes in memory: leave it out.")


def restore_in_blocks(
    source: Path,
    target: Path,
    settings: ChunkSettings,
    mask: Path | None,
    scheduler: str | None,
    threads: int | None,
    force: bool,
) -> None:
    """Denoise an array, or fill where its mask says, and tell how it goes."""
    from sedil.dictionary import format_shape
    from sedil.file_jobs.chunk_jobs import open_job
    from sedil.file_jobs.chunk_runs import run_job

    job = open_job(source, target, settings, mask, force)
    began = time.perf_counter()
    words = "denoising" if mask is None else "inpainting"
    with bar(words) as report:
        run_job(job, None if scheduler == "local" else scheduler, threads, report, _tell)
    seconds = time.perf_counter() - began
    done = "denoised" if mask is None else "inpainted"
    console.print(f"{done:12} {format_shape(job.image.shape)} in {seconds:.1f} s")
    console.print(f"saved        {target}")


def _tell(facts: Facts) -> None:
    for number, sigma in enumerate(facts.sigmas):
        which = f" of image {number}" if len(facts.sigmas) > 1 else ""
        found = f"sigma {sigma:.3g}" if sigma else "none found, it stays as it is"
        console.print(f"noise{which}: {found}")
    if facts.n_done_before:
        console.print(
            f"going on     {facts.n_done_before} of {counted(facts.n_blocks, 'block')} were done before"
        )
