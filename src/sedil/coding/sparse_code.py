"""`sparse_code`: codes of patches over a given dictionary."""

from __future__ import annotations

from collections.abc import Sequence
from math import frexp, ldexp, prod
from typing import Any, get_args
from warnings import warn

import numpy as np

from sedil import checks
from sedil.arrays import (
    AnyArray,
    Array,
    exponent_to_work_in,
    in_precision,
    is_same_kind,
    largest_size,
    namespace,
    times_power_of_two,
)
from sedil.choices import CodingMethod, Precision
from sedil.coding.rounded_codes import is_rounding_much, surer_gaps
from sedil.dictionary import SeparableDictionary
from sedil.engines import EngineName, choose_engine
from sedil.engines.contract import Effort, Engine, L1Problem, PursuitCoding, Solver
from sedil.pretrained import DictionaryLike, as_dictionary

METHODS: tuple[CodingMethod, ...] = get_args(CodingMethod)
SOLVERS: tuple[Solver, ...] = get_args(Solver)
_FAR = 100.0  # times the cost of the zero code
_LARGEST = 2.0**60  # penalty, error or gap that is computed with: beyond it nothing is coded at all
_FURTHEST_POWER = 2000  # of two: whatever it is applied to in float64 ends beyond all that is computed with
# Penalties whose squares are still numbers: patches that these let through have a length.
_SMALLEST = {"float32": 2.0**-60, "float64": 2.0**-500}
REFIT_ITERATIONS = 30  # far more than the small supports need


def sparse_code(
    dictionary: DictionaryLike,
    patches: Array,
    penalty: float | None = None,
    *,
    method: CodingMethod = "l1",
    solver: Solver | None = None,
    weights: Array | None = None,
    mask: Array | None = None,
    initial: Array | None = None,
    max_error: float | None = None,
    max_atoms: int | None = None,
    tolerance: float = 1e-4,
    max_iterations: int = 1000,
    sparse: bool = False,
    dtype: Precision | None = None,
    engine: EngineName | None = None,
    threads: int | None = None,
) -> Any:
    r"""Sparse codes of patches over a dictionary, each patch on its own.

    With ``method="l1"``, the default, it solves the problem of Eq. (34),

    .. math:: \min_x \tfrac12 \|D x - s\|^2 + \text{penalty} \sum_i w_i |x_i| ,

    to a duality gap; ``"refit"`` then replaces the non-zero coefficients by their least-squares values,
    which undoes the shrinkage; ``"pursuit"`` adds one atom after the other until
    :math:`\|D x - s\| \le \text{max\_error}`.

    Parameters
    ----------
    dictionary : SeparableDictionary, or the path of a file, or the name of a shipped one
    patches : array of shape (..., *patch_shape)
        In any units. Of any array library that follows the array API standard; the dictionary follows it
        there.
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
        Codes to start from, for "l1" and "refit". Default: zero, also in place of those that cost a hundred
        times as much.
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
    dtype : {"float32", "float64"}, optional
        What is computed in. Default: float32 for NumPy arrays, with sums in float64, which is many times
        faster; their own precision for arrays of other libraries. Codes of float32 and float64 arrays have
        their type, all others that which was computed in.
    engine : {"fused", "portable"}, optional
        Default: "fused", many times faster, for NumPy arrays in float32, else "portable", which keeps the
        library and device of the arrays.
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
    samples = checks.as_real_array(patches, "patches")
    dictionary = as_dictionary(dictionary)
    checks.require_patch_shape(samples, dictionary.patch_shape)
    checks.require_choice(method, "method", METHODS)
    threads = checks.require_threads(threads)
    checks.require_flag(sparse, "sparse")
    if mask is not None:
        mask = checks.require_mask(mask, samples)
        xp = namespace(samples)
        samples = xp.where(mask, xp.zeros_like(samples), samples)
    checks.require_finite(samples, "patches")
    # A power of two of patches and penalties makes the same power of the codes, to the last digit.
    largest = largest_size(samples)
    exponent = exponent_to_work_in(largest)
    exact, own_dictionary = times_power_of_two(samples, exponent), dictionary
    samples = checks.in_working_precision(exact, "patches", checks.working_precision(dtype, patches))
    dictionary = _in_kind_of(samples, dictionary)
    if sparse and not isinstance(samples, np.ndarray):
        raise TypeError("sparse=True needs NumPy arrays: convert the patches, or leave it out.")
    chosen = choose_engine(engine, samples, dictionary.n_atoms)
    leading = tuple(samples.shape[: samples.ndim - len(dictionary.factors)])
    stack = _stacked(samples, dictionary.patch_shape)
    wanted = checks.floating_dtype(patches)
    how: dict[str, Any] = {"sparse": sparse, "threads": threads}
    if method == "pursuit":
        coding = _checked_pursuit(dictionary, max_error, max_atoms, mask, exponent)
        codes = chosen.pursue(dictionary.factors, stack, coding, **how)
    else:
        thresholds = _checked_thresholds(dictionary, penalty, weights, method, exponent)
        problem = _problem(dictionary, stack, thresholds, mask)
        if initial is not None:
            first = _checked_initial(dictionary, initial, leading, exponent)
            problem = problem._replace(initial=_not_far_off(dictionary, problem, first))
        effort = Effort(
            min(checks.require_positive(tolerance, "tolerance"), _LARGEST),
            checks.require_count(max_iterations, "max_iterations", minimum=1),
        )
        by = _choose_solver(solver, chosen, dictionary.n_atoms, mask is not None)
        refits = REFIT_ITERATIONS if method == "refit" else 0
        codes, gaps, n_iterations = chosen.solve_l1(problem, effort, by, refits=refits, **how)
    codes = _in_own_units(_rounded(codes, wanted), exponent)
    _require_representable(codes.data if sparse else codes)
    if method != "pursuit":
        computed = checks.floating_dtype(samples)
        if method == "l1" and is_rounding_much(thresholds, largest, exponent, computed, wanted):
            problem = _exact_problem(problem, own_dictionary, exact)
            gaps = surer_gaps(problem, codes, exponent, gaps, effort.tolerance)
        _warn_if_unfinished(gaps, n_iterations, effort.tolerance)
    if sparse:
        return codes
    return namespace(codes).reshape(codes, (*leading, *dictionary.n_atoms))


def _rounded(codes: Any, dtype: Precision) -> Any:
    """Codes, sparse or not, in the type of the result."""
    return codes.astype(dtype, copy=False) if hasattr(codes, "toarray") else in_precision(codes, dtype)


def _in_own_units(codes: Any, exponent: int) -> Any:
    with np.errstate(over="ignore", under="ignore"):
        return times_power_of_two(codes, -exponent)


def _require_representable(codes: Array) -> None:
    if not checks.is_finite(codes):
        raise ValueError(f"Codes of patches as large as these are beyond {codes.dtype}: rescale the patches.")


def _in_kind_of(samples: Array, dictionary: SeparableDictionary) -> SeparableDictionary:
    """The dictionary in the library, device and precision of the samples."""
    factor = dictionary.factors[0]
    if is_same_kind(factor, samples) and factor.dtype == samples.dtype:
        return dictionary
    return dictionary.like(samples)


def _stacked(samples: AnyArray, shape: Sequence[int]) -> AnyArray:
    """All leading axes as one, first."""
    xp = namespace(samples)
    return xp.reshape(samples, (prod(samples.shape[: samples.ndim - len(shape)]), *shape))


def _checked_thresholds(
    dictionary: SeparableDictionary, penalty: float | None, weights: Any, method: str, exponent: int
) -> float | Array:
    """What each coefficient costs, in the units that are computed in."""
    if penalty is None:
        raise ValueError(f'method="{method}" needs penalty=..., in the units of the patches.')
    penalty = checks.require_positive(penalty, "penalty")
    thresholds: float | Array
    if weights is None:
        least = thresholds = _scaled(penalty, exponent)
    else:
        weights = _checked_weights(dictionary, weights)
        products = dictionary.own_array(_scaled_weights(weights, penalty, exponent), "weights")
        least, thresholds = float(namespace(products).min(products)), products
    if least < _SMALLEST[checks.floating_dtype(dictionary.factors[0])]:
        raise ValueError(
            f"penalty {penalty:g} is nothing beside patches as large as these: use a larger one, or code "
            f"large and small patches apart."
        )
    return thresholds


def _problem(
    dictionary: SeparableDictionary, stack: Array, thresholds: float | Array, mask: Array | None
) -> L1Problem:
    known = None
    if mask is not None:
        known = namespace(stack).astype(~_stacked(mask, dictionary.patch_shape), stack.dtype)
    return L1Problem(dictionary.factors, stack, thresholds, known)


def _exact_problem(problem: L1Problem, dictionary: SeparableDictionary, samples: Array) -> L1Problem:
    """The problem before dictionary and patches were rounded to what is computed in."""
    if is_same_kind(dictionary.factors[0], samples):
        problem = problem._replace(factors=dictionary.factors)
    return problem._replace(patches=_stacked(samples, dictionary.patch_shape))


def _scaled(value: float, exponent: int) -> float:
    """A number times a power of two; what is beyond all patches stays there, and within float32."""
    try:
        return min(ldexp(value, exponent), _LARGEST)
    except OverflowError:
        return _LARGEST


def _scaled_weights(weights: AnyArray, penalty: float, exponent: int) -> AnyArray:
    """A penalty times weights in the units that are computed in, cut as in `_scaled`.

    Cut at the end alone: a penalty that is large in these units may have weights as small.
    """
    fraction, own_exponent = frexp(penalty)
    # Further off, all products are cut or refused; and two raised to it would be no number.
    power = min(max(exponent + own_exponent, -_FURTHEST_POWER), _FURTHEST_POWER)
    with np.errstate(over="ignore", under="ignore"):
        products = times_power_of_two(weights, power) * fraction
    return namespace(products).clip(products, max=_LARGEST)


def _not_far_off(dictionary: SeparableDictionary, problem: L1Problem, initial: AnyArray) -> AnyArray:
    """Codes to start from, zero in place of those that cost far more than it.

    From there the solution is out of reach: float32 no longer sees the patch beside the code.
    """
    xp = namespace(initial)
    axes = tuple(range(1, initial.ndim))
    zeros = xp.zeros_like(initial)
    # Such a penalty may be larger still, and nothing is coded with it: a small start is not, either.
    initial = xp.where(zeros + problem.thresholds >= _LARGEST, zeros, initial)
    with np.errstate(over="ignore", invalid="ignore"):
        synthesize = choose_engine(None, initial, dictionary.n_atoms).synthesize
        residual = dictionary.apply(synthesize, initial) - problem.patches
        if problem.known is not None:
            residual = residual * problem.known
        price = xp.sum(xp.astype(problem.thresholds * xp.abs(initial), xp.float64), axis=axes)
        # What is not a number is far, too.
        is_far = ~(_energy(residual) + price <= _FAR * _energy(problem.patches))
    return xp.where(xp.reshape(is_far, (-1, *(1 for _ in axes))), zeros, initial)


def _energy(patches: Array) -> Any:
    """Half the squared length of each."""
    xp = namespace(patches)
    return xp.sum(xp.astype(patches, xp.float64) ** 2, axis=tuple(range(1, patches.ndim))) / 2


def _choose_solver(solver: Solver | None, engine: Engine, n_atoms: Sequence[int], masked: bool) -> Solver:
    offered = engine.solvers(n_atoms, masked)
    if solver is None:
        return offered[0]
    checks.require_choice(solver, "solver", SOLVERS)
    if solver in offered:
        return solver
    if masked:
        raise ValueError(f"The solver {solver!r} cannot take a mask: use solver='fista'.")
    raise ValueError(
        f"The {engine.name} engine has no solver {solver!r}, only {', '.join(map(repr, offered))}: "
        f"choose one of these, or another engine."
    )


def _warn_if_unfinished(gaps: Array, n_iterations: int, tolerance: float) -> None:
    xp = namespace(gaps)
    # "not <=" counts gaps that are not numbers, too.
    n_unfinished = int(xp.sum(xp.astype(~(gaps <= tolerance), xp.int64)))
    if n_unfinished:
        from sklearn.exceptions import ConvergenceWarning

        warn(
            f"{n_unfinished} of {len(gaps)} patches have a duality gap above {tolerance:g}, "
            f"the largest {float(xp.max(gaps)):.2g}, after {n_iterations} "
            f"iteration{'s' if n_iterations != 1 else ''}: "
            "allow more max_iterations, a larger tolerance or penalty, or float64 for patches and dtype.",
            ConvergenceWarning,
            stacklevel=3,
        )


def _checked_pursuit(
    dictionary: SeparableDictionary,
    max_error: float | None,
    max_atoms: int | None,
    mask: Array | None,
    exponent: int,
) -> PursuitCoding:
    if mask is not None:
        raise ValueError('method="pursuit" cannot take a mask: use "l1" or "refit".')
    if max_error is None:
        raise ValueError('method="pursuit" needs max_error=..., in the units of the patches.')
    max_error = checks.require_positive(max_error, "max_error", zero_allowed=True)
    n_entries = prod(dictionary.patch_shape)
    limit = max(n_entries // 2, 1) if max_atoms is None else checks.require_count(max_atoms, "max_atoms", 1)
    return PursuitCoding(_scaled(max_error, exponent), min(limit, n_entries, prod(dictionary.n_atoms)))


def _checked_weights(dictionary: SeparableDictionary, weights: Any) -> Array:
    """Weights in their own precision: what is small or large in it may be neither times the penalty."""
    weights = checks.as_real_array(weights, "weights")
    xp = namespace(weights)
    if tuple(weights.shape) != dictionary.n_atoms:
        raise ValueError(f"weights must be of shape {dictionary.n_atoms}, got {tuple(weights.shape)}.")
    checks.require_finite(weights, "weights")
    if not bool(xp.all(weights > 0)):
        raise ValueError(f"weights must be positive, but the least is {float(xp.min(weights)):g}.")
    return weights


def _checked_initial(
    dictionary: SeparableDictionary, initial: Any, leading: tuple[int, ...], exponent: int
) -> Array:
    """Codes to start from, in the units that are computed in; what is beyond these is infinite."""
    initial = checks.as_real_array(initial, "initial")
    expected = (*leading, *dictionary.n_atoms)
    if tuple(initial.shape) != expected:
        raise ValueError(f"initial must be codes of shape {expected}, got shape {tuple(initial.shape)}.")
    checks.require_finite(initial, "initial")
    if exponent:
        with np.errstate(over="ignore", under="ignore"):
            initial = times_power_of_two(in_precision(initial, "float64"), exponent)
    return _stacked(dictionary.own_array(initial, "initial"), dictionary.n_atoms)


def quick_codes(
    factors: Sequence[Array],
    patches: AnyArray,
    thresholds: float | Array,
    effort: Effort,
    known: Array | None = None,
) -> AnyArray:
    """Codes (n, *n_atoms) of patches (n, *patch_shape) by FISTA, in one thread. Paper: Eq. (34), (35).

    Arguments as in `sedil.engines.contract.L1Problem`.
    """
    engine = choose_engine(None, patches, [factor.shape[1] for factor in factors])
    return engine.solve_l1(L1Problem(factors, patches, thresholds, known), effort, threads=1).codes
