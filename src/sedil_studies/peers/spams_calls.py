"""SPAMS: l1 codes, denoising by pursuit, online learning. Penalties are those of `sedil.sparse_code`."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from sedil_studies.peers.looks import Look, side_of, unstructured
from sedil_studies.peers.packages import SPAMS

_PENALISED = 2  # mode: min over x of 1/2 ||s - D x||^2 + lambda |x|, as `sedil.sparse_code`
_OMP_RESIDUAL = 1.15  # sigma, per entry: the gain of Elad and Aharon (2006)


def spams_lasso(patches: np.ndarray, atoms: np.ndarray, penalty: float, threads: int) -> Any:
    """Codes (atoms, n), sparse, of flat patches (n, entries) by the homotopy method, exactly."""
    spams = SPAMS.load()
    return spams.lasso(
        patches.T, np.asfortranarray(atoms), lambda1=penalty, mode=_PENALISED, numThreads=threads
    )


def spams_omp_denoise(noisy: np.ndarray, sigma: float, atoms: np.ndarray, threads: int) -> np.ndarray:
    """Denoise by pursuit of all 8x8 patches: extract, remove means, code, synthesise, average."""
    spams = SPAMS.load()
    side = round(len(atoms) ** 0.5)
    windows = np.lib.stride_tricks.sliding_window_view(noisy, (side, side))
    rows, columns = windows.shape[:2]
    patches = windows.reshape(rows * columns, -1)
    means = patches.mean(axis=1, keepdims=True)
    error = len(atoms) * (_OMP_RESIDUAL * sigma) ** 2
    codes = spams.omp((patches - means).T, np.asfortranarray(atoms), eps=error, numThreads=threads)
    cleaned = codes.T @ np.ascontiguousarray(atoms.T) + means
    # One entry of all patches after the other: each is an image, shifted.
    shifted = np.ascontiguousarray(cleaned.T).reshape(side, side, rows, columns)
    total, count = np.zeros_like(noisy), np.zeros_like(noisy)
    for i, j in np.ndindex(side, side):
        total[i : i + rows, j : j + columns] += shifted[i, j]
        count[i : i + rows, j : j + columns] += 1
    return total / count


def spams_learn(
    patches: np.ndarray, n_atoms: int, penalty: float, batch: int, iterations: int, threads: int
) -> Look:
    """Online dictionary learning of flat patches (n, entries), so many batches."""
    spams = SPAMS.load()
    began = perf_counter()
    atoms = spams.trainDL(
        patches.T,
        K=n_atoms,
        lambda1=penalty,
        mode=_PENALISED,
        batchsize=batch,
        iter=iterations,
        numThreads=threads,
        verbose=False,
    )
    return Look(perf_counter() - began, unstructured(np.array(atoms), side_of(patches)))
