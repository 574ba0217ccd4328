"""What users have today, behind one face: SPAMS, scikit-learn, BM3D and JAX.

A package that is not installed is left out with a sentence. All are given the same patches and threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from importlib.metadata import version
from time import perf_counter
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from sedil.dictionary import SeparableDictionary
from sedil.objective import Weights
from sedil_studies.methods import MissingPackageError

PORTABLE = "sedil, portable engine"
_SPAMS = ("spams", "spams-bin", 'pip install "sedil[bench]"')
_BM3D = ("bm3d", "bm3d", 'pip install "sedil[bench]"')
_JAX = ("jax", "jax", "pip install jax")
_SKLEARN = ("sklearn", "scikit-learn", "pip install scikit-learn")

_SPAMS_PENALISED = 2  # mode: min over x of 1/2 ||s - D x||^2 + lambda |x|, as `sedil.sparse_code`
_OMP_RESIDUAL = 1.15  # sigma, per entry: the gain of Elad and Aharon (2006)


class Checkpoint(NamedTuple):
    """A dictionary on its way: seconds of learning so far, and its atoms, shape (entries, atoms)."""

    seconds: float
    atoms: np.ndarray


def installed(makers: Iterable[Callable[[], Any]]) -> tuple[list[Any], list[str]]:
    """What each maker makes, and a sentence for each whose package is not installed."""
    made, sentences = [], []
    for maker in makers:
        try:
            made.append(maker())
        except MissingPackageError as error:
            sentences.append(str(error))
    return made, sentences


def spams_version() -> str:
    """Name and version; an error if it is not installed."""
    return _version(*_SPAMS)


def bm3d_version() -> str:
    """Name and version; an error if it is not installed."""
    return _version(*_BM3D)


def jax_version() -> str:
    """Name and version; an error if it is not installed."""
    return _version(*_JAX)


def sklearn_version() -> str:
    """Name and version."""
    return _version(*_SKLEARN)


def spams_lasso(patches: np.ndarray, atoms: np.ndarray, penalty: float, threads: int) -> Any:
    """Codes (atoms, n), sparse, of flat patches (n, entries) by the homotopy method, exactly."""
    spams = _package(*_SPAMS)
    return spams.lasso(
        patches.T, np.asfortranarray(atoms), lambda1=penalty, mode=_SPAMS_PENALISED, numThreads=threads
    )


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


def spams_omp_denoise(noisy: np.ndarray, sigma: float, atoms: np.ndarray, threads: int) -> np.ndarray:
    """Denoise by pursuit of all 8x8 patches: extract, remove means, code, synthesise, average."""
    spams = _package(*_SPAMS)
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


def bm3d_denoise(noisy: np.ndarray, sigma: float, threads: int) -> np.ndarray:
    """BM3D of its authors, profile ``np``, both stages."""
    bm3d = _package(*_BM3D)
    profile = bm3d.BM3DProfile()
    profile.num_threads = threads
    return bm3d.bm3d(noisy, sigma, profile)


def spams_learn(
    patches: np.ndarray, n_atoms: int, penalty: float, batch: int, iterations: int, threads: int
) -> Checkpoint:
    """Online dictionary learning of flat patches (n, entries), so many batches."""
    spams = _package(*_SPAMS)
    began = perf_counter()
    atoms = spams.trainDL(
        patches.T,
        K=n_atoms,
        lambda1=penalty,
        mode=_SPAMS_PENALISED,
        batchsize=batch,
        iter=iterations,
        numThreads=threads,
        verbose=False,
    )
    return Checkpoint(perf_counter() - began, np.array(atoms))


def sklearn_learn(
    patches: np.ndarray, n_atoms: int, penalty: float, batch: int, stops: Sequence[int], threads: int
) -> list[Checkpoint]:
    """Online dictionary learning of flat patches, looked at after so many batches; the looks are free."""
    from sklearn.decomposition import MiniBatchDictionaryLearning

    found: list[Checkpoint] = []
    done, paused = 0, 0.0

    def look(state: dict[str, Any]) -> None:
        nonlocal done, paused
        stopped = perf_counter()
        done += 1
        if done in stops:
            found.append(Checkpoint(stopped - began - paused, state["dictionary"].T.copy()))
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


def jax_cost(
    patches: np.ndarray, codes: np.ndarray, factors: Sequence[np.ndarray], weights: Weights
) -> Callable[[], tuple[float, Any]]:
    """Value and gradient of the cost of Eq. (16), jitted; arrays packed, samples last."""
    jax = _package(*_JAX)
    jnp = import_module("jax.numpy")
    left_of, right_of = (factor.shape for factor in factors)
    n = patches.shape[-1]
    scale, price, kappa = weights

    def coherence(factor: Any) -> Any:
        gram = factor.T @ factor
        pairs = jnp.triu_indices(factor.shape[1], 1)
        return -jnp.sum(jnp.log1p(-(gram[pairs] ** 2)))

    def cost(codes: Any, left: Any, right: Any, patches: Any) -> Any:
        # Two large products; one einsum over all three arrays takes almost twice as long.
        half = jnp.reshape(left @ jnp.reshape(codes, (left_of[1], -1)), (left_of[0], right_of[1], n))
        residual = jnp.einsum("ibn,jb->ijn", half, right) - patches
        logs = jnp.sum(jnp.log1p(scale * codes * codes))
        return (jnp.sum(residual * residual) / 2 + price * logs) / n + kappa * (
            coherence(left) + coherence(right)
        )

    compiled = jax.jit(jax.value_and_grad(cost, argnums=(0, 1, 2)))
    arguments = [jnp.asarray(array) for array in (codes, *factors, patches)]

    def evaluate() -> tuple[float, Any]:
        value, gradient = compiled(*arguments)
        jax.block_until_ready(gradient)
        return float(value), gradient

    return evaluate


def unstructured(atoms: np.ndarray, side: int) -> SeparableDictionary:
    """Atoms (entries, atoms) of another library as a dictionary, for patches of so many pixels a side."""
    used = atoms[:, np.linalg.norm(atoms, axis=0) > 0]
    return SeparableDictionary(
        [np.ascontiguousarray(used, dtype=np.float32)], normalize=True, info={"signal_shape": [side, side]}
    )


def _package(module: str, package: str, remedy: str) -> ModuleType:
    try:
        return import_module(module)
    except ImportError:
        raise MissingPackageError(f"{package} is left out, as it is not installed: {remedy}.") from None


def _version(module: str, package: str, remedy: str) -> str:
    _package(module, package, remedy)
    return f"{package} {version(package)}"
