"""K-SVD as the paper uses it: a universal dictionary learned once, then coded like all others.

An adapter to the package ``dictlearn``. Training patches and sizes, 64 x 256, are those of the shipped
unstructured dictionary: the two differ in how they were learned and in nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from sedil.analytic import odct
from sedil.dictionary import SeparableDictionary, load_dictionary
from sedil_studies.make_pretrained import N_PATCHES, RECIPES, training_patches

PACKAGE = "dictlearn"
FILE = "ksvd.npz"  # in the folder of the results
TRAINED_LIKE = "unstructured-8x8"
# Chosen on photographs that are neither trained on nor among the test images (docs/reproduce.md).
N_COEFFICIENTS = 6
N_ITERATIONS = 60

Progress = Callable[[int, int], None]


def recipe() -> dict[str, Any]:
    """All that decides the dictionary, to recognise a saved one."""
    return {
        "patches": f"{N_PATCHES} of {TRAINED_LIKE}, {RECIPES[TRAINED_LIKE].waves:.0%} waves",
        "start": "ODCT",
        "coefficients": N_COEFFICIENTS,
        "iterations": N_ITERATIONS,
        "dictlearn": version(PACKAGE),
    }


def ksvd_dictionary(folder: Path, progress: Progress | None = None) -> SeparableDictionary:
    """The K-SVD dictionary in `folder`; it is learned and saved there if it is not, which takes minutes."""
    path = folder / FILE
    if path.exists():
        saved = load_dictionary(path)
        if saved.info.get("recipe") == recipe():
            return saved
    learned = learn_ksvd(training_patches(RECIPES[TRAINED_LIKE]), progress)
    learned.save(path)
    return learned


def learn_ksvd(patches: np.ndarray, progress: Progress | None = None) -> SeparableDictionary:
    """Learn an unstructured dictionary with K-SVD, beginning with the ODCT.

    Parameters
    ----------
    patches : ndarray of shape (n, 64)
    progress : callable, optional
        Called with the number of coding steps done and in all.
    """
    import dictlearn

    atoms = first_atoms()
    began = time.perf_counter()
    model = dictlearn.DictionaryLearning(
        len(atoms),
        fit_algorithm="ksvd",
        transform_algorithm=_counting_pursuit(progress),
        n_nonzero_coefs=N_COEFFICIENTS,
        max_iter=N_ITERATIONS,
        dict_init=atoms,
        random_state=0,
    ).fit(patches)
    return SeparableDictionary(
        [np.ascontiguousarray(model.components_.T, dtype=np.float32)],
        normalize=True,
        info={
            "name": "K-SVD",
            "recipe": recipe(),
            "signal_shape": list(RECIPES[TRAINED_LIKE].patch_shape),
            "seconds": time.perf_counter() - began,
            "error": float(model.error_[-1]),
        },
    )


def first_atoms() -> np.ndarray:
    """The ODCT, atoms as rows, as dictlearn has them."""
    shape = RECIPES[TRAINED_LIKE].patch_shape
    return odct(shape, tuple(2 * side for side in shape)).as_matrix().T


def _counting_pursuit(progress: Progress | None) -> Callable[..., np.ndarray]:
    """The pursuit of dictlearn, telling of each of its calls: dictlearn itself has no callback."""
    import dictlearn

    calls = 0

    def code(patches: np.ndarray, atoms: np.ndarray, *, n_nonzero_coefs: int, **_: Any) -> np.ndarray:
        nonlocal calls
        if progress:
            progress(calls, N_ITERATIONS + 1)
        calls += 1
        return dictlearn.sparse_encode(patches, atoms, algorithm="omp", n_nonzero_coefs=n_nonzero_coefs)

    return code
