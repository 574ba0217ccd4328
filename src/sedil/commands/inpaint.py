"""``sedil inpaint``: files without their missing pixels."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from sedil.commands.dictionaries import CHOICE, named_dictionary
from sedil.dictionary import format_shape
from sedil.terminal import clear_errors, console

EXAMPLES = """Example:

sedil inpaint scratched.png mask.png whole.png --compare both.png
"""


def inpaint(
    image: Annotated[
        Path, typer.Argument(help="A picture with missing pixels.", metavar="IN", readable=False)
    ],
    mask: Annotated[
        Path,
        typer.Argument(
            help="A picture as large, white where pixels are missing.", metavar="MASK", readable=False
        ),
    ],
    output: Annotated[Path, typer.Argument(help="Where the filled picture goes.", metavar="OUT")],
    dictionary: Annotated[
        Path | None,
        typer.Option(
            "--dictionary",
            "-d",
            help=CHOICE,
        ),
    ] = None,
    compare: Annotated[
        Path | None, typer.Option(help="Where a picture with before and after side by side goes.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="Overwrite existing files.")] = False,
) -> None:
    """Fill the missing pixels of a picture: scratches, text, dead pixels.

    The mask is a picture, white where pixels are missing: brighter than half
    its brightest pixel. All other pixels stay as they are.
    """
    from sedil.file_jobs.inpaint_files import inpaint_file, notes_on, open_holed
    from sedil.progress import patch_bar

    with clear_errors():
        loaded = None if dictionary is None else named_dictionary(dictionary)
        holed = open_holed(image, mask, output, compare, force)
        job, content, facts = holed.given
        for note in [*facts.notes, *notes_on(holed)]:
            console.print(f"note: {note}")
        console.print(f"missing      {holed.mask.mean():.1%} of the pixels")
        began = time.perf_counter()
        with patch_bar("inpainting") as show:
            inpaint_file(holed, loaded, show)
        seconds = time.perf_counter() - began
        console.print(f"inpainted    {format_shape(content.pixels.shape)} in {seconds:.1f} s")
        console.print(f"saved        {job.target}")
        if job.comparison is not None:
            console.print(f"compared     {job.comparison}")
