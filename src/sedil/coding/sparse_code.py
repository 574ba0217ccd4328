"""`sparse_code`: codes of patches over a given dictionary."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple
from warnings import warn

import numpy as np
from array_api_compat import array_namespace

from sedil import checks
from sedil.arrays import Array, pack, unpack
from sedil.coding.fused import FlatResult, in_sparse_rows, solve_l1, solve_pursuit
from sedil.dictionary import SeparableDictionary, require_dictionary
from sedil.engines import choose_engine
from sedil.engines.portable.admm import admm
from sedil.engines.portable.fista import fista
from sedil.engines.portable.lasso import CodingResult, LassoProblem
from sedil.engines.portable.pursuit import pursuit
from sedil.engines.portable.refit import REFIT_ITERATIONS, refit

METHODS = ("refit", "l1", "pursuit")
SOLVERS: dict[str, Callable[..., CodingResult]] = {"fista": fista, "admm": admm}
_DESCENT = "descent"  # of the fused engine alone
_LARGEST_GRAM = 4096  # atoms of an axis up to which descent is the default: its Gram matrix is as wide


def sparse_code(
    dictionary: SeparableDictionary,
    patches: Array,
    penalty: float | None = None,
    *,
    method: str = "l1",
    solver: str | None = None,
    weights: Array | None = None,
    mask: Array | None = None,
    initial: Array | None = None,
    max_error: float | None = None,
    max_atoms: int | None = None,
    tolerance: float = 1e-4,
    max_iterations: int = 1000,
    sparse: bool = False,
    engine: str | None = None,
    threads: int | None = None,
) -> Array:
    r"""Sparse codes of patches over a dictionary, each patch on its own.

    With ``method="l1"``, the default, it solves the problem of Eq. (34),

    .. math:: \min_x \tfrac12 \|D x - s\|^2 + \text{penalty} \sum_i w_i |x_i| ,

    to a duality gap; ``"refit"`` then replaces the non-zero coefficients by their least-squares values,
    which undoes the shrinkage; ``"pursuit"`` adds one atom after the other until
    :math:`\|D x - s\| \le \text{max\_error}`.

    Parameters
    ----------
    dictionary : SeparableDictionary
    patches : array of shape (..., *patch_shape)
        In the same array library and on the same device as the dictionary (`SeparableDictionary.like`).
    penalty : float, positive
        For "l1" and "refit", in the units of the patches: contributions of atoms below it are dropped.
        For noise of standard deviation sigma, 2 (l1) to 3 sigma (refit).
    method : {"l1", "refit", "pursuit"}, default "l1"
    solver : {"descent", "fista", "admm"}, optional
        For "l1" and "refit". "descent" is coordinate descent on the atoms in use, several times faster than
        the others unless a penalty is so small that most entries of a patch get an atom; it needs the fused
        engine. "fista" is what the paper uses. "admm" needs about half as many iterations for penalties as
        large as denoising wants. Default: "descent" where it can be, else "fista"; with a mask only "fista".
    weights : array of shape n_atoms, optional
        Positive factors of the penalty, one per coefficient. Default: all 1.
    mask : boolean array of the shape of `patches`, optional
        True where data is missing; whatever `patches` holds there is ignored. Not for "pursuit".
    initial : array of shape (..., *n_atoms), optional
        Codes to start from, for "l1" and "refit". Default: zero.
    max_error : float, positive
        For "pursuit": length of the residual at which a patch is done; for noise of standard deviation
        sigma, 1.1 sigma times the square root of the number of entries.
    max_atoms : int, optional
        For "pursuit": atoms per patch at most. Default: half the number of entries of a patch.
    tolerance : float, default 1e-4
        For "l1" and "refit": each patch is done when its duality gap is at most this share of
        ``||s||^2 / 2``.
    max_iterations : int, default 1000
        A patch that is not done by then is returned as it is, with a `ConvergenceWarning`.
    sparse : bool, default False
        Return a `scipy.sparse.csr_array` with one row per patch: for many patches, whose zeros would take
        more memory, and more time, than their codes. For NumPy arrays.
    engine : {"fused", "portable"}, optional
        Default: "fused", many times faster, for float32 NumPy arrays, else "portable", which keeps the
        library, device and precision of the arrays.
    threads : int, optional
        Of the fused engine. Default: the environment variable NUMBA_NUM_THREADS or OMP_NUM_THREADS, else one
        per core.

    Returns
    -------
    array of shape (..., *n_atoms)
        If `sparse`, of shape (number of patches, number of atoms), both in row-major order: times the
        transpose of `SeparableDictionary.as_matrix` it gives the patches as rows.

    Examples
    --------
    >>> import numpy as np, sedil
    >>> dictionary = sedil.odct((8, 8), (16, 16))
    >>> sedil.sparse_code(dictionary, np.ones((5, 8, 8)), penalty=0.1).shape
    (5, 16, 16)
    >>> codes = sedil.sparse_code(dictionary, np.ones((5, 8, 8)), penalty=0.1, sparse=True)
    >>> codes.shape, (codes @ dictionary.as_matrix().T).shape
    ((5, 256), (5, 64))
    """
    require_dictionary(dictionary)
    patches = dictionary.own_array(patches, "patches")
    checks.require_patch_shape(patches, dictionary.patch_shape)
    checks.require_choice(method, "method", METHODS)
    if mask is not None:
        patches = _without_missing(patches, mask)
    checks.require_finite(patches, "patches")
    if threads is not None:
        checks.require_count(threads, "threads", minimum=1)
    engine = choose_engine(engine, patches, dictionary.n_atoms)
    if sparse and not isinstance(patches, np.ndarray):
        raise TypeError("sparse=True needs NumPy arrays: convert patches and dictionary, or leave it out.")
    if method == "pursuit":
        return _pursue(dictionary, patches, max_error, max_atoms, mask, sparse, engine, threads)
    if penalty is None:
        raise ValueError(f'method="{method}" needs penalty=..., in the units of the patches.')
    checks.require_positive(penalty, "penalty")
    checks.require_positive(tolerance, "tolerance")
    checks.require_count(max_iterations, "max_iterations", minimum=1)
    task = _L1Task(
        dictionary,
        patches,
        mask,
        _checked_initial(dictionary, initial, patches),
        penalty,
        _checked_weights(dictionary, weights),
        _choose_solver(solver, engine, mask, max(dictionary.n_atoms)),
        tolerance,
        max_iterations,
        REFIT_ITERATIONS if method == "refit" else 0,
    )
    if engine == "fused":
        codes, gaps, n_iterations = _fused_l1(task, sparse, threads)
    else:
        codes, gaps, n_iterations = _portable_l1(task)
        codes = _as_asked(codes, dictionary, sparse)
    _warn_if_unfinished(gaps, n_iterations, tolerance)
    return codes


class _L1Task(NamedTuple):
    """What "l1" and "refit" are asked for; see `sparse_code`."""

    dictionary: SeparableDictionary
    patches: Array
    mask: Array | None
    initial: Array | None
    penalty: float
    weights: Array | None
    solver: str
    tolerance: float
    max_iterations: int
    refits: int


def _fused_l1(task: _L1Task, sparse: bool, threads: int | None) -> tuple[Any, np.ndarray, int]:
    """Codes, their relative duality gaps, and the iterations of the slowest."""
    dictionary = task.dictionary
    flat = _flat(task.patches, dictionary.patch_shape)
    known = None if task.mask is None else ~_flat(task.mask, dictionary.patch_shape)
    start = None if task.initial is None else _flat(task.initial, dictionary.n_atoms)
    thresholds = task.penalty if task.weights is None else task.penalty * task.weights.ravel()

    def solve(part: slice, threads: int | None, room: np.ndarray | None = None) -> FlatResult:
        return solve_l1(
            dictionary.factors,
            flat[part],
            thresholds,
            task.tolerance,
            task.max_iterations,
            known=None if known is None else known[part],
            initial=None if start is None else start[part],
            refits=task.refits,
            solver=task.solver,
            threads=threads,
            room=room,
        )

    codes, gaps, n_iterations = _solved(solve, task.patches, dictionary, sparse, threads)
    return codes, gaps, int(n_iterations.max(initial=0))


def _portable_l1(task: _L1Task) -> tuple[Array, Array, int]:
    """As `_fused_l1`, the codes dense."""
    factors, n_axes = task.dictionary.factors, len(task.dictionary.factors)
    initial = None if task.initial is None else _packed(task.initial, n_axes)
    mask = None if task.mask is None else _packed(task.mask, n_axes)
    patches = _packed(task.patches, n_axes)
    problem = LassoProblem.create(factors, patches, task.penalty, task.weights, mask)
    result = SOLVERS[task.solver](problem, task.tolerance, task.max_iterations, initial)
    codes = refit(problem, result.codes, task.refits) if task.refits else result.codes
    return _unpacked(codes, task.patches, task.dictionary), result.relative_gap, result.n_iterations


def _solved(
    solve: Callable[..., tuple[np.ndarray, ...]],
    patches: np.ndarray,
    dictionary: SeparableDictionary,
    sparse: bool,
    threads: int | None,
) -> tuple[Any, ...]:
    """What a solver of the fused engine finds, with its codes as they are asked for."""
    n = prod(_leading(patches, dictionary))
    if sparse:
        codes, *others = in_sparse_rows(solve, dictionary.factors, n, threads)
        return codes.astype(patches.dtype, copy=False), *others
    codes, *others = solve(slice(n), threads)
    return _shaped(codes, patches, dictionary), *others


def _as_asked(codes: Any, dictionary: SeparableDictionary, sparse: bool) -> Any:
    """Codes (..., *n_atoms) as they are, or as rows of a sparse matrix."""
    if not sparse:
        return codes
    from scipy.sparse import csr_array

    return csr_array(codes.reshape(-1, prod(dictionary.n_atoms)))


def _choose_solver(solver: str | None, engine: str, mask: Array | None, most_atoms: int) -> str:
    if solver is None:
        suits = engine == "fused" and mask is None and most_atoms <= _LARGEST_GRAM
        return _DESCENT if suits else "fista"
    checks.require_choice(solver, "solver", (*SOLVERS, _DESCENT))
    if mask is not None and solver != "fista":
        raise ValueError(f"The solver {solver!r} cannot take a mask: use solver='fista'.")
    if solver == _DESCENT and engine != "fused":
        raise ValueError(
            f"The solver {_DESCENT!r} needs the fused engine (float32 NumPy arrays): use solver='fista'."
        )
    return solver


def _warn_if_unfinished(relative_gap: Array, n_iterations: int, tolerance: float) -> None:
    xp = array_namespace(relative_gap)
    # "not <=" counts gaps that are not numbers, too.
    n_unfinished = int(xp.sum(xp.astype(~(relative_gap <= tolerance), xp.int64)))
    if n_unfinished:
        from sklearn.exceptions import ConvergenceWarning

        worst = float(xp.max(relative_gap))
        warn(
            f"{n_unfinished} of {len(relative_gap)} patches have a duality gap above {tolerance:g}, "
            f"the largest {worst:.2g}, after {n_iterations} iteration{'s' if n_iterations != 1 else ''}: "
            "allow more max_iterations, a larger tolerance or a larger penalty.",
            ConvergenceWarning,
            stacklevel=3,
        )


def _pursue(
    dictionary: SeparableDictionary,
    patches: Array,
    max_error: float | None,
    max_atoms: int | None,
    mask: Array | None,
    sparse: bool,
    engine: str,
    threads: int | None,
) -> Array:
    if mask is not None:
        raise ValueError('method="pursuit" cannot take a mask: use "l1" or "refit".')
    if max_error is None:
        raise ValueError('method="pursuit" needs max_error=..., in the units of the patches.')
    checks.require_positive(max_error, "max_error", zero_allowed=True)
    n_entries = prod(dictionary.patch_shape)
    limit = max(n_entries // 2, 1) if max_atoms is None else checks.require_count(max_atoms, "max_atoms", 1)
    limit = min(limit, n_entries, prod(dictionary.n_atoms))
    if engine == "fused":
        flat = _flat(patches, dictionary.patch_shape)

        def solve(part: slice, threads: int | None, room: np.ndarray | None = None) -> tuple[np.ndarray]:
            return (solve_pursuit(dictionary.factors, flat[part], max_error, limit, threads, room),)

        return _solved(solve, patches, dictionary, sparse, threads)[0]
    codes = pursuit(dictionary.factors, _packed(patches, len(dictionary.factors)), max_error, limit)
    return _as_asked(_unpacked(codes, patches, dictionary), dictionary, sparse)


def _without_missing(patches: Array, mask: Any) -> Array:
    xp = array_namespace(patches)
    if tuple(mask.shape) != tuple(patches.shape) or mask.dtype != xp.bool:
        raise ValueError(
            f"mask must be boolean and have the shape of the patches, {tuple(patches.shape)}, "
            f"got {mask.dtype} of shape {tuple(mask.shape)}."
        )
    return xp.where(mask, xp.zeros_like(patches), patches)


def _checked_weights(dictionary: SeparableDictionary, weights: Any) -> Array | None:
    if weights is None:
        return None
    weights = dictionary.own_array(weights, "weights")
    xp = array_namespace(weights)
    if tuple(weights.shape) != dictionary.n_atoms or not bool(xp.all(weights > 0)):
        raise ValueError(
            f"weights must be positive and of shape {dictionary.n_atoms}, got shape {tuple(weights.shape)}."
        )
    return weights


def _checked_initial(dictionary: SeparableDictionary, initial: Any, patches: Array) -> Array | None:
    if initial is None:
        return None
    initial = dictionary.own_array(initial, "initial")
    expected = (*_leading(patches, dictionary), *dictionary.n_atoms)
    if tuple(initial.shape) != expected:
        raise ValueError(f"initial must be codes of shape {expected}, got shape {tuple(initial.shape)}.")
    checks.require_finite(initial, "initial")
    return initial


def _leading(patches: Array, dictionary: SeparableDictionary) -> tuple[int, ...]:
    return tuple(patches.shape[: patches.ndim - len(dictionary.factors)])


def _flat(samples: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """All leading axes as one, and all entries as another, for the fused engine; float32 if not boolean."""
    dtype = np.bool_ if samples.dtype == np.bool_ else np.float32
    # Numba would compile all kernels a second time for arrays that are read-only or strided.
    return np.require(samples.reshape(-1, prod(shape)), dtype, ["C", "W"])


def _shaped(codes: np.ndarray, patches: np.ndarray, dictionary: SeparableDictionary) -> np.ndarray:
    """Inverse of `_flat` for codes."""
    shape = (*_leading(patches, dictionary), *dictionary.n_atoms)
    return codes.astype(patches.dtype, copy=False).reshape(shape)


def _packed(samples: Array, n_axes: int) -> Array:
    """All leading axes as one, last."""
    xp = array_namespace(samples)
    leading = samples.shape[: samples.ndim - n_axes]
    return pack(xp.reshape(samples, (prod(leading), *samples.shape[len(leading) :])))


def _unpacked(codes: Array, patches: Array, dictionary: SeparableDictionary) -> Array:
    xp = array_namespace(codes)
    return xp.reshape(unpack(codes), (*_leading(patches, dictionary), *dictionary.n_atoms))
