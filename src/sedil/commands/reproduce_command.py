"""``sedil reproduce``: the paper's table and figures, and studies past it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from sedil.commands.studies import Output, Threads, data_option, known_names, tell
from sedil.terminal import clear_errors

# As in `sedil_studies`, which is not loaded to show help; a test compares.
TABLE_METHODS = (
    "ksvd",
    "unstructured",
    "odct",
    "separable",
    "bm3d",
    "default",
    "odct-12x12",
    "separable-12x12",
    "odct-16x16",
    "separable-16x16",
)
TABLE_SEEDS = 3
FACES_FILE = "lfwcrop_rebuilt_64x64.npz"
VOLUME_FILES = "volumes/chris_t1.npz, video/runner40.npz and video/traffic48.npz"

_FOLDER = Path("reproduce")
FiveImages = Annotated[Path | None, data_option("Folder with the five test images.")]

app = typer.Typer(help="Reproduce the paper's table and figures.", no_args_is_help=True)


@app.command()
def table1(
    data: FiveImages = None,
    output: Output = _FOLDER,
    quick: Annotated[
        bool, typer.Option("--quick", help="One image, one noise level, one seed: some ten seconds.")
    ] = False,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, help=f"Times that noise is drawn; default {TABLE_SEEDS}, or 1 if quick."),
    ] = None,
    methods: Annotated[
        Any,
        typer.Option(
            parser=partial(known_names, known=TABLE_METHODS),
            metavar="NAME,...",
            help=f"Methods to run, of {', '.join(TABLE_METHODS)}; default all, without ksvd if quick.",
        ),
    ] = None,
    threads: Threads = None,
) -> None:
    """Denoise the paper's five images at five noise levels and compare with its Table 1.

    A run that was interrupted goes on where it stopped.
    """
    from sedil_studies.table1.study import reproduce

    with clear_errors():
        tell(reproduce(data, output, quick=quick, seeds=seeds, methods=methods, threads=threads))


@app.command()
def faces(
    data: Annotated[Path | None, data_option(f"Folder with {FACES_FILE}.")] = None,
    address: Annotated[
        str | None,
        typer.Option(
            help="Where to fetch the file from, into the folder of the results, if there is no --data.",
            envvar="SEDIL_FACES_ADDRESS",
            show_default=False,
        ),
    ] = None,
    output: Output = _FOLDER,
    quick: Annotated[
        bool, typer.Option("--quick", help="A few faces of each kind: a minute or two.")
    ] = False,
    validation: Annotated[
        bool, typer.Option("--validation", help="Fill the faces that settings are chosen on, not the test's.")
    ] = False,
    threads: Threads = None,
) -> None:
    """Learn a dictionary of 64x64 faces, fill large holes of other persons' faces, and compare.

    A run that was interrupted goes on where it stopped.
    """
    from sedil_studies.faces.study import reproduce

    with clear_errors():
        tell(reproduce(data, output, address=address, quick=quick, validation=validation, threads=threads))


@app.command()
def inpainting(
    data: FiveImages = None,
    output: Output = _FOLDER,
    quick: Annotated[
        bool, typer.Option("--quick", help="One image, one mask, no picture: a few seconds.")
    ] = False,
    threads: Threads = None,
) -> None:
    """Fill missing pixels of the five test images: at random, under text, under scratches.

    A run that was interrupted goes on where it stopped.
    """
    from sedil_studies.photographs.study import reproduce

    with clear_errors():
        tell(reproduce(data, output, quick=quick, threads=threads))


@app.command()
def volumes(
    data: Annotated[Path | None, data_option(f"Folder with {VOLUME_FILES}.")] = None,
    output: Output = _FOLDER,
    quick: Annotated[
        bool, typer.Option("--quick", help="Tiny synthetic volumes without --data: only to try it.")
    ] = False,
    threads: Threads = None,
) -> None:
    """Learn three factors from a head and from video, denoise and fill others, and compare with slices.

    A run that was interrupted goes on where it stopped.
    """
    from sedil_studies.volumes.study import reproduce

    with clear_errors():
        tell(reproduce(data, output, quick=quick, threads=threads))


@app.command()
def figure1(output: Output = _FOLDER) -> None:
    """Draw the atoms of the unstructured and the separable dictionary as in the paper's Figure 1."""
    from sedil_studies.figure1 import reproduce

    with clear_errors():
        tell(reproduce(output))
