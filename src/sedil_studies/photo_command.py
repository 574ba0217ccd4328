"""``sedil reproduce inpainting``: missing pixels of photographs, from the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sedil.engines.threads import thread_count
from sedil.files import make_folder, replacing, write_picture
from sedil.terminal import clear_errors, console
from sedil_studies import images, photo_inpainting, photo_report
from sedil_studies.bar import bar
from sedil_studies.rows import read_rows

_INTERRUPTED = 130  # exit code after Ctrl-C, by custom


def inpainting_command(
    data: Annotated[
        Path | None,
        typer.Option(help="Folder with the five test images.", envvar="SEDIL_DATA", show_default=False),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the results; made if need be.")
    ] = Path("reproduce"),
    quick: Annotated[
        bool, typer.Option("--quick", help="One image, one mask, no picture: a few seconds.")
    ] = False,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads; default one per core.")] = None,
) -> None:
    """Fill missing pixels of the five test images: at random, under text, under scratches.

    A run that was interrupted goes on where it stopped.
    """
    with clear_errors():
        plan = photo_inpainting.QUICK if quick else photo_inpainting.Plan()
        clean = images.read_given_images(data, plan.images)
        make_folder(output, parents=True)
        count, results = thread_count(threads), output / "inpainting.csv"
        try:
            with bar() as show:
                n_run = photo_inpainting.run(plan, clean, results, count, show)
        except KeyboardInterrupt:
            console.print("interrupted; the same command goes on from here")
            raise typer.Exit(_INTERRUPTED) from None
        console.print(f"ran          {n_run} fillings; the rest was in {results} already")
        report = photo_report.markdown(read_rows(results, kind=photo_inpainting.PhotoRow))
        with replacing(output / "inpainting.md") as stream:
            stream.write(report.encode())
        console.print(f"results      {results}")
        console.print(f"report       {output / 'inpainting.md'}")
        if not quick:
            fillers = [make(count).fill for make in photo_inpainting.METHODS.values()]
            write_picture(output / "inpainting.png", photo_report.picture(fillers))
            console.print(f"picture      {output / 'inpainting.png'}")
