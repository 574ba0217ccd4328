"""scikit-learn: l1 codes and online learning. Penalties are those of `sedil.sparse_code`."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np

from sedil_studies.peers.looks import Look, side_of, unstructured


def sklearn_lars(patches: np.ndarray, atoms: np.ndarray, penalty: float, threads: int) -> np.ndarray:
    """Codes (n, atoms) by ``sparse_encode`` as it is: least angle regression, exactly."""
    from sklearn.decomposition import sparse_encode

    return sparse_encode(
        patches, np.ascontiguousarray(atoms.T), algorithm="lasso_lars", alpha=penalty, n_jobs=threads
    )


def sklearn_descent(
    patches: np.ndarray, atoms: np.ndarray, penalty: float, threads: int, tolerance: float
) -> np.ndarray:
    """Codes (n, atoms) by coordinate descent to a duality gap of ``tolerance * ||s||^2 / 2``."""
    from sklearn.linear_model import Lasso
    from sklearn.utils.parallel import Parallel, delayed

    # scikit-learn divides the data term by the number of entries, and its gap by ||s||^2.
    model = Lasso(
        penalty / len(atoms), fit_intercept=False, precompute=True, tol=tolerance / 2, max_iter=10_000
    )
    parts = np.array_split(patches.T, threads, axis=1)
    fitted = Parallel(threads)(delayed(model.fit)(atoms, part) for part in parts)
    return np.concatenate([each.coef_ for each in fitted])


def sklearn_learn(
    patches: np.ndarray, n_atoms: int, penalty: float, batch: int, stops: Sequence[int], threads: int
) -> list[Look]:
    """Online dictionary learning of flat patches, looked at after so many batches; the looks are free."""
    from sklearn.decomposition import MiniBatchDictionaryLearning

    found: list[Look] = []
    done, paused = 0, 0.0

    def look(state: dict[str, Any]) -> None:
        nonlocal done, paused
        stopped = perf_counter()
        done += 1
        if done in stops:
            atoms = unstructured(state["dictionary"].T.copy(), side_of(patches))
            found.append(Look(stopped - began - paused, atoms))
        paused += perf_counter() - stopped

    batches_per_epoch = -(-len(patches) // batch)
    model = MiniBatchDictionaryLearning(
        n_atoms,
        alpha=penalty,
        batch_size=batch,
        max_iter=-(-max(stops) // batches_per_epoch),
        tol=0,
        max_no_improvement=None,
        n_jobs=threads,
        random_state=0,
        callback=look,
    )
    began = perf_counter()
    model.fit(patches)
    return found
