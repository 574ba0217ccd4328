"""``sedil inpaint``: files without their missing pixels."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from sedil.choices import InpaintingMethod
from sedil.commands.block_work import (
    Scheduler,
    is_worked_on_in_blocks,
    require_one_in_blocks,
    restore_in_blocks,
)
from sedil.commands.common import Dictionary, Force, Threads, examples
from sedil.terminal import bar, clear_errors, console

EXAMPLES = examples(
    "sedil inpaint scratched.png mask.png whole.png --compare both.png",
    "sedil inpaint scratched.png mask.png whole.png --dictionary separable-12x12",
)


def inpaint(
    image: Annotated[
        Path, typer.Argument(help="A picture or volume with missing pixels.", metavar="IN", readable=False)
    ],
    mask: Annotated[
        Path,
        typer.Argument(
            help="A picture as large, white where pixels are missing.", metavar="MASK", readable=False
        ),
    ],
    output: Annotated[Path, typer.Argument(help="Where the filled picture goes.", metavar="OUT")],
    dictionary: Dictionary = None,
    method: Annotated[
        InpaintingMethod | None,
        typer.Option(help="groups, the default: the best picture. quick: the default with a dictionary."),
    ] = None,
    sigma: Annotated[
        float | None,
        typer.Option(
            help="Noise of the known pixels, in the units of the picture: it is not carried on into the "
            "missing ones; default none."
        ),
    ] = None,
    sigma_map: Annotated[
        Path | None, typer.Option(help="A picture, volume or array with the noise of each pixel.")
    ] = None,
    compare: Annotated[
        Path | None, typer.Option(help="Where a picture with before and after side by side goes.")
    ] = None,
    scheduler: Scheduler = None,
    threads: Threads = None,
    force: Force = False,
) -> None:
    """Fill the missing pixels of a picture: scratches, text, dead pixels.

    The mask is a picture, white where pixels are missing: brighter than half
    its brightest pixel. All other pixels stay as they are.
    """
    from sedil.dictionary import format_shape
    from sedil.file_jobs.chunk_jobs import ChunkSettings
    from sedil.file_jobs.denoise_files import given_levels
    from sedil.file_jobs.inpaint_files import inpaint_file, notes_on, open_masked
    from sedil.pretrained import as_dictionary

    with clear_errors():
        level = given_levels(sigma, sigma_map)
        loaded = None if dictionary is None else as_dictionary(dictionary)
        if is_worked_on_in_blocks([image, mask, output], scheduler):
            require_one_in_blocks([image], compare)
            if level is not None:
                raise ValueError("--sigma and --sigma-map are for files that are read as a whole.")
            settings = ChunkSettings(dictionary=loaded, method=method)
            restore_in_blocks(image, output, settings, mask, scheduler, threads, force)
            return
        masked = open_masked(image, mask, output, compare, force)
        for note in notes_on(masked):
            console.print(f"note: {note}")
        console.print(f"missing      {masked.mask.mean():.1%} of the pixels")
        began = time.perf_counter()
        with bar("inpainting") as report:
            inpaint_file(masked, loaded, method, 0.0 if level is None else level, threads, report)
        seconds = time.perf_counter() - began
        console.print(f"inpainted    {format_shape(masked.opened.content.pixels.shape)} in {seconds:.1f} s")
        job = masked.opened.job
        console.print(f"saved        {job.target}")
        if job.comparison is not None:
            console.print(f"compared     {job.comparison}")
