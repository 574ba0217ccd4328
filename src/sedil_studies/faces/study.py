"""The paper's face experiment as a table: every method on every kind of hole, over all test faces."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from sedil.engines.threads import thread_count
from sedil.files import make_folder
from sedil_studies.faces import dictionaries, figures, report
from sedil_studies.faces.data import Faces, Part, find_faces, first_faces, read_faces
from sedil_studies.faces.face_rows import FACES, LEARNING, FaceRow, margin
from sedil_studies.faces.masks import KINDS, make_masks
from sedil_studies.faces.methods import METHODS, Materials, Ready
from sedil_studies.faces.ssim import ssim_of_each
from sedil_studies.harness.meter import Show
from sedil_studies.harness.method import Method
from sedil_studies.harness.running import Ran, Study, Summary, Written, carry_out, write_files
from sedil_studies.measures.inside import psnr_inside

FILE = "faces.csv"
TABLE_LEARNER = "joint"  # whose dictionary the table is about
SHOWN = ("separable", "separable + covariance")  # rows of the second picture
_QUICK_SIZES = (200, 12, 12)  # faces to learn from, to validate on, to test on


def reproduce(
    data: Path | None,
    output: Path,
    *,
    address: str | None = None,
    quick: bool = False,
    validation: bool = False,
    threads: int | None = None,
) -> Summary:
    """Learn, fill and report, as ``sedil reproduce faces`` says."""
    make_folder(output, parents=True)
    everyone = read_faces(find_faces(data, address, output))
    if quick:
        everyone = first_faces(everyone, _QUICK_SIZES)
    name = "validation" if validation else "test"
    part: Part = getattr(everyone, name)
    methods: dict[str, Method[Ready]] = {}

    def run(show: Show) -> list[Ran]:
        amount = dictionaries.QUICK if quick else dictionaries.Amount()
        methods.update(make_methods(everyone, amount, output, thread_count(threads), show))
        return [face_study(name, part, methods, output / FILE, thread_count(threads)).run(show)]

    def write(finished: bool) -> Written:
        pictures = _pictures(everyone, part, methods) if finished else {}
        return Written([*write_files(output, pictures), *write_report(name, output)])

    return carry_out(run, write)


def make_methods(
    everyone: Faces, amount: dictionaries.Amount, folder: Path, threads: int, show: Show
) -> dict[str, Method[Ready]]:
    """All methods, over dictionaries that are learned if `folder` does not hold them."""
    learned = dictionaries.learn_dictionaries(everyone, amount, folder, threads, show)
    materials = Materials(everyone.fit.faces, learned[TABLE_LEARNER], amount, threads)
    return {key: make(materials) for key, make in METHODS.items()}


def face_study(
    name: str, part: Part, methods: Mapping[str, Method[Ready]], file: Path, threads: int
) -> Study[FaceRow, Ready]:
    """Every method on every kind of hole, hole by hole; no method sees what is missing."""
    plan = [
        FACES.planned(
            part=name,
            hole=hole,
            method=key,
            n_faces=len(part.faces),
            n_persons=len(np.unique(part.persons)),
            threads=threads,
            settings=method.settings,
        )
        for hole in KINDS
        for key, method in methods.items()
    ]

    return Study(
        "cell",
        file,
        FACES,
        plan,
        lambda row: methods[row.method],
        lambda row, method: measure(row, part, method),
        words=lambda row: f"{row.method}: {row.hole}",
    )


def measure(row: FaceRow, part: Part, method: Ready) -> FaceRow:
    """Take pixels away, fill, compare."""
    masks = make_masks(row.hole, len(part.faces), part.faces.shape[1])
    broken = np.where(masks, np.float32(0), part.faces)
    method.fill(broken[:2], masks[:2])  # what is compiled on first use is not on the clock
    began = time.perf_counter()
    filled = method.fill(broken, masks)
    seconds = (time.perf_counter() - began) / len(part.faces)
    inside = np.array([psnr_inside(*parts) for parts in zip(filled, part.faces, masks, strict=True)])
    whole = ssim_of_each(filled, part.faces)
    return row._replace(
        psnr=round(float(inside.mean()), 4),
        psnr_margin=round(margin(inside, part.persons), 4),
        ssim=round(float(whole.mean()), 5),
        ssim_margin=round(margin(whole, part.persons), 5),
        seconds=float(f"{seconds:.3g}"),
        n_numbers=method.n_numbers,
    )


def write_report(name: str, folder: Path) -> list[tuple[str, Path]]:
    """The report on the results files in a folder, for one part of the faces."""
    rows = [row for row in FACES.read(folder / FILE) if row.part == name]
    if not rows:
        return []
    page = report.markdown(rows, LEARNING.read(folder / dictionaries.FILE))
    return [("results", folder / FILE), *write_files(folder, {"faces.md": page})]


def _pictures(everyone: Faces, part: Part, methods: Mapping[str, Method[Ready]]) -> dict[str, np.ndarray]:
    return {
        "faces-training.png": figures.examples(everyone.fit.faces),
        "faces-inpainted.png": figures.inpainted(
            part.faces, {name: methods[name].ready().fill for name in SHOWN}
        ),
    }
