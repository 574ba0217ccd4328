"""The paper's face experiment as a table: every method on every kind of hole, over all test faces.

It writes a results file that grows row by row; `sedil_studies.face_report` draws from it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np

import sedil
from sedil.imaging.whole_inpainting import fill_whole
from sedil.progress import Progress as LearningProgress
from sedil_studies.bar import Progress
from sedil_studies.face_data import Faces, Part
from sedil_studies.face_learning import LEARNERS, Amount, Learned, peak_memory, training_patches
from sedil_studies.face_masks import KINDS, make_masks
from sedil_studies.face_methods import Method, Ready
from sedil_studies.face_quality import psnr_inside, ssim
from sedil_studies.face_rows import FaceRow, LearningRow, margin
from sedil_studies.rows import append_row, open_rows

LEARNING_FILE = "faces-learning.csv"
_JUDGED = 200  # validation faces on which a learned dictionary is tried
_IDENTITY = ("part", "hole", "method", "n_faces", "settings", "sedil", "numpy")


def run(
    name: str, part: Part, methods: Mapping[str, Method], path: Path, threads: int, progress: Progress
) -> int:
    """Run what the results file does not hold yet, hole by hole, and add each row as soon as it is there.

    Parameters
    ----------
    name : str
        Of the part, "test" or "validation".
    part : Part
        Faces to fill; no method sees what is missing of them.
    methods : mapping
        Methods by name.
    path : Path
        The results file.
    threads : int
        What the methods were given, for the record.
    progress : callable
        Called before each step with the rows done, the rows in all, and a few words.

    Returns
    -------
    int
        The number of rows that were run.
    """
    done = {_identity(row) for row in open_rows(path, FaceRow)}
    empty = [_empty_row(name, part, hole, key, methods[key], threads) for hole in KINDS for key in methods]
    waiting = [row for row in empty if _identity(row) not in done]
    for count, row in enumerate(waiting):
        progress(count, len(waiting), f"{row.method}: {row.hole}")
        append_row(path, measure(row, part, methods[row.method].prepare()))
    progress(len(waiting), len(waiting), "done")
    return len(waiting)


def measure(row: FaceRow, part: Part, method: Ready) -> FaceRow:
    """Take pixels away, fill, compare."""
    masks = make_masks(row.hole, len(part.faces), part.faces.shape[1])
    broken = np.where(masks, np.float32(0), part.faces)
    method.fill(broken[:2], masks[:2])  # what is compiled on first use is not on the clock
    began = time.perf_counter()
    filled = method.fill(broken, masks)
    seconds = (time.perf_counter() - began) / len(part.faces)
    inside, whole = psnr_inside(filled, part.faces, masks), ssim(filled, part.faces)
    return row._replace(
        psnr=round(float(inside.mean()), 4),
        psnr_margin=round(margin(inside, part.persons), 4),
        ssim=round(float(whole.mean()), 5),
        ssim_margin=round(margin(whole, part.persons), 5),
        seconds=float(f"{seconds:.3g}"),
        n_numbers=method.n_numbers,
    )


def learn(everyone: Faces, amount: Amount, folder: Path, threads: int, progress: Progress) -> None:
    """Learn a dictionary with each learner that has not left one in `folder`, and add what it took to a file.

    The learner that needs less memory comes first, as a process cannot forget how large it was.
    """
    patches = training_patches(everyone.fit.faces)
    results = folder / LEARNING_FILE
    open_rows(results, LearningRow)
    for name, learner in LEARNERS.items():
        if dictionary_file(folder, name).is_file():
            continue
        tell = partial(_tell_of_learning, progress, name)
        learned = learner(patches, amount, threads, tell)
        progress(0, 1, f"{name} learning is done, filling validation faces")
        append_row(results, learning_row(name, learned, everyone.validation.faces[:_JUDGED]))
        learned.dictionary.save(dictionary_file(folder, name))


def dictionary_file(folder: Path, learner: str) -> Path:
    """Where the dictionary of a learner is kept."""
    return folder / f"faces-{learner}.npz"


def _tell_of_learning(progress: Progress, name: str, state: LearningProgress) -> None:
    progress(state.done, state.total or 0, f"learning: {name}, once")


def learning_row(name: str, learned: Learned, faces: np.ndarray) -> LearningRow:
    """What a dictionary took, and what it does for centre holes of faces it was not learned from."""
    peak = peak_memory()

    def figure(hole: str) -> float:
        masks = make_masks(hole, len(faces), faces.shape[1])
        filled = fill_whole(learned.dictionary, faces, masks)
        return round(float(psnr_inside(filled, faces, masks).mean()), 3)

    return LearningRow(
        learner=name,
        n_faces=learned.n_faces,
        n_iterations=learned.n_iterations,
        seconds=round(learned.seconds, 1),
        processor_seconds=round(learned.processor_seconds, 1),
        peak_gb=round(peak, 2),
        centre16=figure("centre 16"),
        centre24=figure("centre 24"),
        centre32=figure("centre 32"),
        settings=learned.settings,
        sedil=sedil.__version__,
    )


def _empty_row(name: str, part: Part, hole: str, key: str, method: Method, threads: int) -> FaceRow:
    nan = float("nan")
    return FaceRow(
        part=name,
        hole=hole,
        method=key,
        psnr=nan,
        psnr_margin=nan,
        ssim=nan,
        ssim_margin=nan,
        n_faces=len(part.faces),
        n_persons=len(np.unique(part.persons)),
        seconds=nan,
        n_numbers=0,
        threads=threads,
        settings=method.settings,
        sedil=sedil.__version__,
        numpy=np.__version__,
    )


def _identity(row: FaceRow) -> tuple:
    return tuple(getattr(row, field) for field in _IDENTITY)
