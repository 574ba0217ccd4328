"""K-SVD as the paper uses it: a universal dictionary learned once, then coded like all others.

An adapter to the package ``dictlearn``. Training patches and sizes, 64 x 256, are those of the shipped
unstructured dictionary: the two differ in how they were learned and in nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from sedil.analytic import odct
from sedil.choices import ShippedName
from sedil.dictionary import SeparableDictionary
from sedil_studies.harness.learned import learned_once
from sedil_studies.harness.meter import Show, silent
from sedil_studies.peers.packages import DICTLEARN
from sedil_studies.pretrained.recipes import N_PATCHES, RECIPES, training_patches

FILE = "ksvd.npz"  # in the folder of the results
TRAINED_LIKE: ShippedName = "unstructured-8x8"
# Chosen on photographs that are neither trained on nor among the test images (docs/reproduce.md).
N_COEFFICIENTS = 6
N_ITERATIONS = 60


def settings() -> dict[str, Any]:
    """All that decides the dictionary besides the version of dictlearn."""
    return {
        "patches": f"{N_PATCHES} of {TRAINED_LIKE}, {RECIPES[TRAINED_LIKE].waves:.0%} waves",
        "start": "ODCT",
        "coefficients": N_COEFFICIENTS,
        "iterations": N_ITERATIONS,
    }


def ksvd_dictionary(folder: Path, show: Show = silent) -> SeparableDictionary:
    """The K-SVD dictionary in `folder`; it is learned and saved there if it is not, which takes minutes."""
    recipe = settings() | {DICTLEARN.name: DICTLEARN.version().removeprefix(f"{DICTLEARN.name} ")}
    return learned_once(
        folder / FILE, recipe, lambda: learn_ksvd(training_patches(RECIPES[TRAINED_LIKE]), show)
    )


def learn_ksvd(patches: np.ndarray, show: Show = silent) -> SeparableDictionary:
    """Learn an unstructured dictionary of patches (n, 64) with K-SVD, beginning with the ODCT."""
    dictlearn = DICTLEARN.load()
    atoms = first_atoms()
    began = time.perf_counter()
    model = dictlearn.DictionaryLearning(
        len(atoms),
        fit_algorithm="ksvd",
        transform_algorithm=_counting_pursuit(dictlearn, show),
        n_nonzero_coefs=N_COEFFICIENTS,
        max_iter=N_ITERATIONS,
        dict_init=atoms,
        random_state=0,
    ).fit(patches)
    return SeparableDictionary(
        [np.ascontiguousarray(model.components_.T, dtype=np.float32)],
        normalize=True,
        signal_shape=RECIPES[TRAINED_LIKE].patch_shape,
        info={
            "name": "K-SVD",
            "seconds": time.perf_counter() - began,
            "error": float(model.error_[-1]),
        },
    )


def first_atoms() -> np.ndarray:
    """The ODCT, atoms as rows, as dictlearn has them."""
    shape = RECIPES[TRAINED_LIKE].patch_shape
    return odct(shape, tuple(2 * side for side in shape)).as_matrix().T


def _counting_pursuit(dictlearn: Any, show: Show) -> Callable[..., np.ndarray]:
    """The pursuit of dictlearn, showing each of its calls: dictlearn itself tells nothing on its way."""
    calls = 0

    def code(patches: np.ndarray, atoms: np.ndarray, *, n_nonzero_coefs: int, **_: Any) -> np.ndarray:
        nonlocal calls
        show(calls, N_ITERATIONS + 1, "learning K-SVD, once")
        calls += 1
        return dictlearn.sparse_encode(patches, atoms, algorithm="omp", n_nonzero_coefs=n_nonzero_coefs)

    return code
