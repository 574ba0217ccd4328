"""Learning the face dictionary: A and B of 64x128, by both learners.

The mean face is taken off the faces and their lengths are made one. Weights of the cost, numbers of faces
and of iterations were chosen on faces of persons held out from learning (docs/faces.md).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import sedil
from sedil.progress import ProgressOption

_SCALE = 2.5  # rho, times the number of pixels
_SPARSITY = 3.0  # lambda, over 1 / rho
_SEED = 0


class Amount(NamedTuple):
    """How much to learn.

    Attributes
    ----------
    n_faces, max_iterations : of joint learning, on faces drawn at random
    batch_size, batch_iterations, max_batches : of mini-batch learning, on all faces
    """

    n_faces: int = 2000
    max_iterations: int = 400
    batch_size: int = 500
    batch_iterations: int = 40
    max_batches: int = 22


QUICK = Amount(n_faces=60, max_iterations=20, batch_size=30, batch_iterations=5, max_batches=3)


class Learned(NamedTuple):
    """A dictionary, and what it took; processor seconds are those of all threads together."""

    dictionary: sedil.SeparableDictionary
    n_faces: int
    n_iterations: int
    seconds: float
    processor_seconds: float
    settings: str


Learner = Callable[..., Learned]


def joint(patches: np.ndarray, amount: Amount, threads: int, progress: ProgressOption = False) -> Learned:
    """Algorithm 2 of the paper on some of the faces, all codes at once."""
    n_faces = min(amount.n_faces, len(patches))
    chosen = np.random.default_rng(_SEED).permutation(len(patches))[:n_faces]
    began, busy = time.perf_counter(), time.process_time()
    result = sedil.learn(
        patches[chosen],
        _n_atoms(patches),
        **_weights(patches),
        max_iterations=amount.max_iterations,
        tolerance=1e-6,
        random_state=_SEED,
        threads=threads,
        progress=progress,
    )
    times = time.perf_counter() - began, time.process_time() - busy
    settings = f"joint CG, {n_faces} faces, {amount.max_iterations} iterations"
    return Learned(result.dictionary, n_faces, result.n_iterations, *times, settings)


def minibatch(patches: np.ndarray, amount: Amount, threads: int, progress: ProgressOption = False) -> Learned:
    """The same cost, a batch of faces at a time."""
    began, busy = time.perf_counter(), time.process_time()
    result = sedil.learn_minibatch(
        patches,
        _n_atoms(patches),
        **_weights(patches),
        batch_size=amount.batch_size,
        batch_iterations=amount.batch_iterations,
        max_batches=amount.max_batches,
        random_state=_SEED,
        threads=threads,
        progress=progress,
    )
    times = time.perf_counter() - began, time.process_time() - busy
    n_faces = min(len(patches), amount.batch_size * result.n_iterations)
    batches = f"{result.n_iterations} batches of {amount.batch_size} faces"
    settings = f"{batches}, {amount.batch_iterations} iterations each"
    return Learned(result.dictionary, n_faces, result.n_iterations, *times, settings)


LEARNERS: dict[str, Learner] = {"minibatch": minibatch, "joint": joint}


def training_patches(faces: np.ndarray) -> np.ndarray:
    """Faces less their mean face, each of unit length."""
    rest = faces - faces.mean(axis=0)
    return rest / np.linalg.norm(rest, axis=(1, 2), keepdims=True)


def peak_memory() -> float:
    """Largest memory of this process so far, in GB."""
    import resource
    import sys

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9


def _n_atoms(patches: np.ndarray) -> tuple[int, ...]:
    return tuple(2 * side for side in patches.shape[1:])


def _weights(patches: np.ndarray) -> dict[str, Any]:
    scale = _SCALE * patches[0].size
    return {"sparsity_scale": scale, "sparsity_weight": _SPARSITY / scale}
