"""Learning the face dictionary: A and B of 64x128, by both learners.

The mean face is taken off the faces and their lengths are made one. Weights of the cost, numbers of faces
and of iterations were chosen on faces of persons held out from learning (docs/faces.md).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import sedil
from sedil.imaging.whole_inpainting import fill_whole
from sedil.learning.checkpoint import fingerprint
from sedil_studies.faces.data import Faces
from sedil_studies.faces.face_rows import LEARNING
from sedil_studies.faces.masks import make_masks
from sedil_studies.harness.learned import learned_once
from sedil_studies.harness.meter import Show, learning_shown
from sedil_studies.measures.inside import psnr_inside
from sedil_studies.measures.memory import peak_memory

FILE = "faces-learning.csv"
SCALE = 2.5  # rho, times the number of pixels
SPARSITY = 3.0  # lambda, over 1 / rho
_SEED = 0
_JUDGED = 200  # validation faces on which a learned dictionary is tried


class Amount(NamedTuple):
    """How much to learn.

    Attributes
    ----------
    n_faces, max_iterations : of joint learning, on faces drawn at random
    batch_size, batch_iterations, max_batches : of mini-batch learning, on all faces
    n_coded : faces on which the scales of coefficients are measured
    prior_iterations : of expectation maximisation, for their variances
    """

    n_faces: int = 2000
    max_iterations: int = 400
    batch_size: int = 500
    batch_iterations: int = 40
    max_batches: int = 22
    n_coded: int = 1000
    prior_iterations: int = 20


QUICK = Amount(
    n_faces=60,
    max_iterations=20,
    batch_size=30,
    batch_iterations=5,
    max_batches=3,
    n_coded=50,
    prior_iterations=1,
)

Learner = Callable[[np.ndarray, Amount, dict[str, Any]], sedil.LearningResult]


def _joint(patches: np.ndarray, amount: Amount, options: dict[str, Any]) -> sedil.LearningResult:
    """Algorithm 2 of the paper on some of the faces, all codes at once."""
    chosen = np.random.default_rng(_SEED).permutation(len(patches))[: amount.n_faces]
    return sedil.learn(patches[chosen], max_iterations=amount.max_iterations, tolerance=1e-6, **options)


def _minibatch(patches: np.ndarray, amount: Amount, options: dict[str, Any]) -> sedil.LearningResult:
    """The same cost, a batch of faces at a time."""
    return sedil.learn_minibatch(
        patches,
        batch_size=amount.batch_size,
        batch_iterations=amount.batch_iterations,
        max_batches=amount.max_batches,
        **options,
    )


# The learner that needs less memory comes first, as a process cannot forget how large it was.
LEARNERS: dict[str, Learner] = {"minibatch": _minibatch, "joint": _joint}


def learn_dictionaries(
    everyone: Faces, amount: Amount, folder: Path, threads: int, show: Show
) -> dict[str, sedil.SeparableDictionary]:
    """A dictionary from each learner, kept in `folder`; what it took to learn one is added to a file."""
    patches = training_patches(everyone.fit.faces)
    LEARNING.open(folder / FILE)

    def learn(name: str) -> sedil.SeparableDictionary:
        options = _options(patches) | {"threads": threads}
        options["progress"] = learning_shown(show, f"learning: {name}, once")
        began, busy = time.perf_counter(), time.process_time()
        result = LEARNERS[name](patches, amount, options)
        seconds, processor_seconds = time.perf_counter() - began, time.process_time() - busy
        used = amount.n_faces if name == "joint" else amount.batch_size * result.n_iterations
        row = LEARNING.planned(
            learner=name,
            n_faces=min(used, len(patches)),
            n_iterations=result.n_iterations,
            seconds=round(seconds, 1),
            processor_seconds=round(processor_seconds, 1),
            peak_gb=round(peak_memory() / 1e9, 2),
            settings=settings_in_words(name, amount, len(patches), result.n_iterations),
            **_judged(result.dictionary, everyone.validation.faces[:_JUDGED], threads),
        )
        LEARNING.append(folder / FILE, row)
        return result.dictionary

    recipe = {"amount": list(amount), "scale": SCALE, "sparsity": SPARSITY, "faces": fingerprint(patches)}
    return {
        name: learned_once(folder / f"faces-{name}.npz", recipe, partial(learn, name)) for name in LEARNERS
    }


def training_patches(faces: np.ndarray) -> np.ndarray:
    """Faces less their mean face, each of unit length."""
    rest = faces - faces.mean(axis=0)
    return rest / np.linalg.norm(rest, axis=(1, 2), keepdims=True)


def settings_in_words(name: str, amount: Amount, n_faces: int, n_batches: int) -> str:
    """How much a learner was given; it took `n_batches` batches of the `n_faces` that there are."""
    if name == "joint":
        return f"joint CG, {min(amount.n_faces, n_faces)} faces, {amount.max_iterations} iterations"
    return f"{n_batches} batches of {amount.batch_size} faces, {amount.batch_iterations} iterations each"


def _options(patches: np.ndarray) -> dict[str, Any]:
    """What both learners are given."""
    rho = SCALE * patches[0].size
    return {
        "n_atoms": tuple(2 * side for side in patches.shape[1:]),
        "sparsity_scale": rho,
        "sparsity_weight": SPARSITY / rho,
        "random_state": _SEED,
    }


def _judged(dictionary: sedil.SeparableDictionary, faces: np.ndarray, threads: int) -> dict[str, float]:
    """What a dictionary does for centre holes of faces it was not learned from."""
    figures = {}
    for size in (16, 24, 32):
        masks = make_masks(f"centre {size}", len(faces), faces.shape[1])
        filled = fill_whole(dictionary, faces, masks, threads=threads)
        each = [psnr_inside(*parts) for parts in zip(filled, faces, masks, strict=True)]
        figures[f"centre{size}"] = round(float(np.mean(each)), 3)
    return figures
