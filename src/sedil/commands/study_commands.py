"""``sedil reproduce`` and ``sedil bench``: the paper's table and figures, studies past it, and the benchmark.

The studies are not part of the library: a command loads `sedil_studies` when it is run, not before.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich import box
from rich.table import Table

from sedil.commands.common import Threads, examples
from sedil.terminal import INTERRUPTED, clear_errors, console

if TYPE_CHECKING:
    from sedil_studies.harness.running import Summary
    from sedil_studies.harness.tables import Table as StudyTable


# As in `sedil_studies`, which is not loaded to show help; a test compares.
TABLE_METHODS = (
    "ksvd",
    "unstructured",
    "odct",
    "separable",
    "bm3d",
    "groups",
    "quick",
    "odct-12x12",
    "separable-12x12",
    "odct-16x16",
    "separable-16x16",
)
PAPER_METHODS = (
    "unstructured",
    "paper-unstructured",
    "odct",
    "separable",
    "paper-separable",
    "unstructured-l1",
    "paper-unstructured-l1",
    "odct-l1",
    "separable-l1",
    "paper-separable-l1",
)
CASES = ("coding", "denoising", "cost", "learning", "scaling", "large", "peak", "switch")
TABLE_SEEDS = 3
FACES_FILE = "lfwcrop_rebuilt_64x64.npz"
VOLUME_FILES = "volumes/chris_t1.npz, video/runner40.npz and video/traffic48.npz"
COLOUR_FILES = (
    "images/colour/kodak24/kodim01.png to kodim24.png, the same in grey in images/train/kodak24 and "
    "images/train/bsd400_180x180.npz"
)

_FOLDER = Path("reproduce")

Output = Annotated[Path, typer.Option("--output", "-o", help="Folder for the results; made if need be.")]


def data_option(words: str) -> typer.models.OptionInfo:
    """The option of the folder with the data."""
    return typer.Option(help=words, envvar="SEDIL_DATA", show_default=False)


def quick_option(words: str) -> typer.models.OptionInfo:
    """The option to run a small part of it."""
    return typer.Option("--quick", help=words)


def names_option(known: tuple[str, ...], words: str) -> typer.models.OptionInfo:
    """An option that takes some of the known names, with commas between them."""

    def names_like(incomplete: str) -> list[str]:
        before, comma, begun = incomplete.rpartition(",")
        return [before + comma + name for name in known if name.startswith(begun)]

    return typer.Option(
        parser=partial(known_names, known=known), metavar="NAME,...", help=words, autocompletion=names_like
    )


FiveImages = Annotated[Path | None, data_option("Folder with the five test images.")]


def known_names(text: str, known: tuple[str, ...]) -> list[str]:
    """``odct,separable`` as names, in the order of the report."""
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in known:
            raise typer.BadParameter(f"{name!r} is not one of {', '.join(known)}.")
    return [name for name in known if name in names]


def tell(summary: Summary, interrupted: str = "the same command goes on from here") -> None:
    """Say what was run, show the table, name the files; exit with 130 if the run was interrupted."""
    for ran in summary.ran:
        console.print(f"ran          {ran}")
    if not summary.finished:
        console.print(f"interrupted; {interrupted}")
    if summary.written.table is not None:
        console.print(_shown(summary.written.table))
    for note in summary.written.notes:
        console.print(note)
    for kind, path in summary.written.files:
        console.print(f"{kind:<13}{path}")
    if not summary.finished:
        raise typer.Exit(INTERRUPTED)


def _shown(table: StudyTable) -> Table:
    shown = Table(
        title=table.title or None,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
    )
    for column in table.columns:
        shown.add_column(column)
    for line in table.lines:
        shown.add_row(*line)
    return shown


app = typer.Typer(
    help="Reproduce the paper's table and figures.",
    no_args_is_help=True,
    epilog=examples("sedil reproduce figure1", "sedil reproduce table1 --data images/ --quick"),
)


@app.command(
    epilog=examples(
        "sedil reproduce table1 --data images/ --quick",
        "sedil reproduce table1 --data images/ --methods odct,separable,groups --seeds 1",
        "sedil reproduce table1 --data images/ --recipe paper",
    )
)
def table1(
    data: FiveImages = None,
    output: Output = _FOLDER,
    quick: Annotated[bool, quick_option("One image, one noise level, one seed: some ten seconds.")] = False,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, help=f"Times that noise is drawn; default {TABLE_SEEDS}, or 1 if quick."),
    ] = None,
    methods: Annotated[
        Any,
        names_option(
            tuple(dict.fromkeys(TABLE_METHODS + PAPER_METHODS)),
            f"Methods to run, of {', '.join(TABLE_METHODS)}; default all, without ksvd if quick.",
        ),
    ] = None,
    recipe: Annotated[
        Literal["shipped", "paper"],
        typer.Option(
            help=f"How dictionaries are learned: as those that are shipped, or also as the paper says, which "
            f"has the methods {', '.join(PAPER_METHODS)}."
        ),
    ] = "shipped",
    threads: Threads = None,
) -> None:
    """Denoise the paper's five images at five noise levels and compare with its Table 1.

    A run that was interrupted goes on where it stopped.
    """
    from sedil_studies.table1.study import reproduce

    with clear_errors():
        tell(
            reproduce(data, output, quick=quick, seeds=seeds, methods=methods, recipe=recipe, threads=threads)
        )


@app.command(
    epilog=examples(
        "sedil reproduce faces --data faces/ --quick", "sedil reproduce faces --data faces/ --output results/"
    )
)
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
    quick: Annotated[bool, quick_option("A few faces of each kind: a minute or two.")] = False,
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


@app.command(
    epilog=examples(
        "sedil reproduce inpainting --data images/ --quick", "sedil reproduce inpainting --data images/"
    )
)
def inpainting(
    data: FiveImages = None,
    output: Output = _FOLDER,
    quick: Annotated[bool, quick_option("One image, one mask, no picture: a few seconds.")] = False,
    threads: Threads = None,
) -> None:
    """Fill missing pixels of the five test images: at random, under text, under scratches.

    A run that was interrupted goes on where it stopped.
    """
    from sedil_studies.photographs.study import reproduce

    with clear_errors():
        tell(reproduce(data, output, quick=quick, threads=threads))


@app.command(epilog=examples("sedil reproduce volumes --quick", "sedil reproduce volumes --data research/"))
def volumes(
    data: Annotated[Path | None, data_option(f"Folder with {VOLUME_FILES}.")] = None,
    output: Output = _FOLDER,
    quick: Annotated[bool, quick_option("Tiny synthetic volumes without --data: only to try it.")] = False,
    threads: Threads = None,
) -> None:
    """Learn three factors from a head and from video, denoise and fill others, and compare with slices.

    A run that was interrupted goes on where it stopped.
    """
    from sedil_studies.volumes.study import reproduce

    with clear_errors():
        tell(reproduce(data, output, quick=quick, threads=threads))


@app.command(
    epilog=examples(
        "sedil reproduce colour --data research/ --quick", "sedil reproduce colour --data research/"
    )
)
def colour(
    data: Annotated[Path | None, data_option(f"Folder with {COLOUR_FILES}.")] = None,
    output: Output = _FOLDER,
    quick: Annotated[bool, quick_option("One photograph of each kind, one noise level: a minute.")] = False,
    threads: Threads = None,
) -> None:
    """Denoise Kodak's photographs in colour and in grey, and parts of Berkeley's, beside CBM3D and BM3D.

    A run that was interrupted goes on where it stopped.
    """
    from sedil_studies.colour.study import reproduce

    with clear_errors():
        tell(reproduce(data, output, quick=quick, threads=threads))


@app.command(
    epilog=examples(
        "sedil reproduce realnoise --data research/ --quick", "sedil reproduce realnoise --data research/"
    )
)
def realnoise(
    data: Annotated[
        Path | None,
        data_option("Folder with images/realnoise/cc15, images/colour/kodak24 and the five test images."),
    ] = None,
    output: Output = _FOLDER,
    quick: Annotated[bool, quick_option("One photograph, one image, one level of light: a minute.")] = False,
    threads: Threads = None,
) -> None:
    """Denoise photographs of cameras without being told their noise, channels with other noise, and counts.

    Beside BM3D and CBM3D, if the package bm3d is installed.

    A run that was interrupted goes on where it stopped.
    """
    from sedil_studies.realnoise.study import reproduce

    with clear_errors():
        tell(reproduce(data, output, quick=quick, threads=threads))


@app.command(epilog=examples("sedil reproduce figure1 --output pictures/"))
def figure1(output: Output = _FOLDER) -> None:
    """Draw the atoms of the unstructured and the separable dictionary as in the paper's Figure 1."""
    from sedil_studies.figure1 import reproduce

    with clear_errors():
        tell(reproduce(output))


BENCH_EXAMPLES = examples("sedil bench --quick", "sedil bench --cases denoising,coding --threads 1")


def bench(
    cases: Annotated[Any, names_option(CASES, f"Cases to run, of {', '.join(CASES)}; default all.")] = None,
    quick: Annotated[bool, quick_option("Small sizes, to see that all works: a minute or two.")] = False,
    data: Annotated[
        Path | None,
        data_option("Folder with the test images, as for reproduce; default a photograph of scikit-image."),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Threads of all contestants; default one per core.")
    ] = None,
    output: Output = Path("bench"),
) -> None:
    """Measure how fast sedil is, beside SPAMS, scikit-learn, BM3D and JAX where they are installed.

    Writes a JSON file and a picture per case, and a report on all cases in the
    folder. Close what else is running: the machine should have nothing to do.
    """
    from sedil_studies.bench.study import measure

    with clear_errors():
        summary = measure(cases, output, quick=quick, data=data, threads=threads)
        tell(summary, interrupted="cases that were done are kept")
