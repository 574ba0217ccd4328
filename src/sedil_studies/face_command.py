"""``sedil reproduce faces``: the paper's face experiment from the command line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

import sedil
from sedil.engines.threads import thread_count
from sedil.files import make_folder, replacing, write_picture
from sedil.terminal import clear_errors, console
from sedil_studies import face_figures, face_report, faces
from sedil_studies.bar import bar
from sedil_studies.download import fetch
from sedil_studies.face_data import FILE, SHA256, Faces, Part, find_faces, read_faces
from sedil_studies.face_learning import QUICK, Amount
from sedil_studies.face_masks import KINDS
from sedil_studies.face_methods import METHODS, Method, Workshop
from sedil_studies.face_rows import FaceRow, LearningRow
from sedil_studies.rows import read_rows

TABLE_LEARNER = "joint"  # whose dictionary the table is about
SHOWN = ("separable", "separable + covariance")  # rows of the second picture
_QUICK_SIZES = (200, 12, 12)  # faces to learn from, to validate on, to test on


def faces_command(
    data: Annotated[
        Path | None,
        typer.Option(help=f"Folder with {FILE}.", envvar="SEDIL_DATA", show_default=False),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(
            help="Where to fetch the file from, into the folder of the results, if there is no --data.",
            envvar="SEDIL_FACES_ADDRESS",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the results; made if need be.")
    ] = Path("reproduce"),
    quick: Annotated[
        bool, typer.Option("--quick", help="A few faces of each kind: a minute or two.")
    ] = False,
    validation: Annotated[
        bool, typer.Option("--validation", help="Fill the faces that settings are chosen on, not the test's.")
    ] = False,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads; default one per core.")] = None,
) -> None:
    """Learn a dictionary of 64x64 faces, fill large holes of other persons' faces, and compare.

    A run that was interrupted goes on where it stopped.
    """
    with clear_errors():
        make_folder(output, parents=True)
        everyone = read_faces(_find(data, address, output))
        if quick:
            everyone = Faces(*(_first(part, n) for part, n in zip(everyone, _QUICK_SIZES, strict=True)))
        name = "validation" if validation else "test"
        part = everyone.validation if validation else everyone.test
        count = thread_count(threads)
        with bar() as show:
            faces.learn(everyone, QUICK if quick else Amount(), output, count, show)
            dictionary = sedil.load_dictionary(faces.dictionary_file(output, TABLE_LEARNER))
            shop = Workshop(everyone.fit.faces, dictionary, count)
            methods = {key: make(shop) for key, make in METHODS.items()}
            n_run = faces.run(name, part, methods, output / "faces.csv", count, show)
        console.print(f"ran          {n_run} of {len(methods) * len(KINDS)} cells of the table")
        _draw(everyone, part, methods, output)
        _write_report(output)


def _find(data: Path | None, address: str | None, folder: Path) -> Path:
    """The file of faces: in the folder given, else fetched."""
    if data is not None:
        return find_faces(data)
    if address is not None:
        return fetch(address, SHA256, folder, FILE)
    raise FileNotFoundError(
        f"Give --data, or the environment variable SEDIL_DATA, a folder that holds {FILE}, or --address, or "
        "SEDIL_FACES_ADDRESS, the address to fetch it from."
    )


def _first(part: Part, n: int) -> Part:
    return Part(part.faces[:n], part.persons[:n])


def _draw(everyone: Faces, part: Part, methods: Mapping[str, Method], folder: Path) -> None:
    fillers = [methods[name].prepare().fill for name in SHOWN]
    pictures = {
        "faces-training.png": face_figures.examples(everyone.fit.faces),
        "faces-inpainted.png": face_figures.inpainted(part.faces, fillers),
    }
    for name, picture in pictures.items():
        write_picture(folder / name, picture)
        console.print(f"picture      {folder / name}")


def _write_report(folder: Path) -> None:
    rows = read_rows(folder / "faces.csv", kind=FaceRow)
    text = face_report.markdown(rows, read_rows(folder / faces.LEARNING_FILE, kind=LearningRow))
    with replacing(folder / "faces.md") as stream:
        stream.write(text.encode())
    console.print(f"results      {folder / 'faces.csv'}")
    console.print(f"report       {folder / 'faces.md'}")
