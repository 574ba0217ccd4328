"""`learn`: the public entry to Algorithm 2."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from numbers import Integral
from pathlib import Path

import numpy as np
from array_api_compat import array_namespace

import sedil
from sedil import checks
from sedil.arrays import Array
from sedil.dictionary import SeparableDictionary
from sedil.engines import choose_engine
from sedil.learning.checkpoint import CHECKPOINT, fingerprint, load_checkpoint, require_replaceable
from sedil.learning.defaults import choose_warm_up, choose_weights
from sedil.learning.engines import learning_engine
from sedil.learning.initial import initial_factors
from sedil.learning.line_search import LineSearch
from sedil.learning.metrics import metric as named_metric
from sedil.learning.result import LearningResult
from sedil.learning.run import Callback, Run, Stopping
from sedil.objective import Weights, total_coherence


def learn(
    patches: Array,
    n_atoms: int | Sequence[int],
    *,
    initial: str | SeparableDictionary = "random",
    preset: str = "data",
    sparsity_scale: float | None = None,
    sparsity_weight: float | None = None,
    coherence_weight: float | None = None,
    metric: str = "balanced",
    warm_up: int | None = None,
    max_iterations: int = 500,
    tolerance: float = 1e-5,
    gradient_tolerance: float = 1e-8,
    c1: float = LineSearch().c1,
    c2: float = LineSearch().c2,
    eta: float = LineSearch().eta,
    random_state: int | np.random.Generator | None = None,
    callback: Callback | None = None,
    checkpoint: str | Path | None = None,
    checkpoint_every: int = 50,
    resume: bool = False,
    engine: str | None = None,
    threads: int | None = None,
) -> LearningResult:
    r"""Learn a separable dictionary from patches. Paper: Algorithm 2.

    Minimises, over codes :math:`X_j` and factors :math:`A_k` with unit columns (Eq. 16),

    .. math::
        \frac{1}{2m} \sum_j \| A_1 \cdots A_K X_j - S_j \|^2
        + \frac{\lambda}{m} \sum_{j,i} \ln(1 + \rho x_{ij}^2) + \kappa \sum_k r(A_k) .

    Parameters
    ----------
    patches : array of shape (n, *patch_shape), 1 to 4 patch axes
        Training data in any units, of any array library that follows the array API standard. Float
        precision and device are kept; integers become float64. The input is never modified. For
        photographs remove each patch's mean first (`sedil.normalize_patches`).
    n_atoms : int or one int per patch axis
        Atoms of each factor. One patch axis gives an ordinary, unstructured dictionary.
    initial : {"random", "odct", "data"} or SeparableDictionary, default "random"
        Factors to start from.
    preset : {"data", "paper"}, default "data"
        Where the three weights come from: "data" derives them so that units and patch size do not
        matter, "paper" takes rho = 100, lambda = kappa = 0.1/(ab), meant for patches of unit length.
    sparsity_scale, sparsity_weight, coherence_weight : float, optional
        rho, lambda and kappa, in place of the preset's. Larger lambda gives sparser codes, larger kappa
        less similar atoms.
    metric : {"balanced", "paper"}, default "balanced"
        How codes and factors are weighed against each other in the gradient (`sedil.learning.metrics`).
    warm_up : int, optional
        Iterations at the start with a smoother cost, which leads to better minima. Default: a fifth of
        `max_iterations`, at most 100; none for ``preset="paper"`` or a given dictionary.
    max_iterations : int, default 500
    tolerance : float, default 1e-5
        Stop when twenty iterations lower the running mean of the cost (C of Algorithm 1) by less than
        this share of it.
    gradient_tolerance : float, default 1e-8
        Stop when the gradient is shorter than this share of its length at the start (the paper's thresh).
    c1, c2, eta : float
        Constants of the line search: shrinking factor in (0, 1), required decrease in (0, 0.5), memory
        in [0, 1]. Defaults 0.5, 1e-4 and 0.85.
    random_state : int, numpy.random.Generator or None
        Source of the initial factors; an int makes the run repeatable.
    callback : callable, optional
        Called with a `Progress` after each iteration; returning True stops the run.
    checkpoint : path, optional
        File for the state of the run, written every `checkpoint_every` iterations and at the end.
    checkpoint_every : int, default 50
    resume : bool, default False
        Continue from `checkpoint` if that file exists. The data and settings must be the same;
        `max_iterations` and tolerances may differ. The end is that of an uninterrupted run, to the bit.
    engine : {"fused", "portable"}, optional
        Default: "fused", several times faster and in less memory, for float32 NumPy arrays, else "portable".
        The fused one computes in float32 whatever it is given.
    threads : int, optional
        Of the fused engine; the result does not depend on it. Default: the environment variable
        NUMBA_NUM_THREADS or OMP_NUM_THREADS, else one per core.

    Returns
    -------
    LearningResult
        With ``dictionary``, ``codes``, ``history`` and ``stop_reason``. Ctrl-C ends the run after the
        current iteration and returns what there is.

    Raises
    ------
    ValueError, TypeError
        If the input is not as described; the message says what to do.

    References
    ----------
    S. Hawe, M. Seibert, M. Kleinsteuber: Separable Dictionary Learning, CVPR 2013.
    doi:10.1109/CVPR.2013.63

    Examples
    --------
    >>> import numpy as np, sedil
    >>> patches = np.random.default_rng(0).standard_normal((200, 4, 4))
    >>> result = sedil.learn(patches, n_atoms=(6, 6), max_iterations=5, random_state=0)
    >>> result.dictionary.factors[0].shape
    (4, 6)
    """
    patches = checks.as_real_array(patches, "patches")
    checks.require_patches(patches)
    patch_shape = tuple(patches.shape[1:])
    counts = checks.atom_counts(n_atoms, patch_shape)
    require_learnable(patch_shape, counts)
    stopping = Stopping(max_iterations, tolerance, gradient_tolerance).checked()
    require_place(checkpoint, resume)
    if threads is not None:
        checks.require_count(threads, "threads", minimum=1)
    engine = choose_engine(
        engine, np.asarray(patches, np.float32) if engine == "fused" else patches, counts
    ).name
    if engine == "fused":
        patches = np.asarray(patches, np.float32)

    has_dictionary = isinstance(initial, SeparableDictionary)
    energy = mean_energy(patches)
    weights = choose_weights(
        preset,
        patch_shape,
        counts,
        energy,
        sparsity_scale=sparsity_scale,
        sparsity_weight=sparsity_weight,
        coherence_weight=coherence_weight,
    )
    run = Run(
        engine=learning_engine(engine, patches, counts, weights, threads),
        weights=weights,
        warm_up=choose_warm_up(warm_up, preset, has_dictionary, stopping.max_iterations),
        manifold=named_metric(metric, patch_shape, counts, patches.shape[0], energy),
        constants=LineSearch(c1, c2, eta).checked(),
        stopping=stopping,
        callback=callback,
        checkpoint=checkpoint,
        checkpoint_every=checks.require_count(checkpoint_every, "checkpoint_every", minimum=1),
    )
    if checkpoint is not None:
        run.identity = {
            "patches": fingerprint(patches),
            "n_atoms": list(counts),
            "weights": list(weights),
            "metric": metric,
            "start": describe_start(initial, random_state),
            "warm_up": run.warm_up,
            "line search": list(run.constants),
            "engine": run.engine.name,
        }
    if resume and checkpoint is not None and Path(checkpoint).is_file():
        # The default warm-up depends on max_iterations, which may differ: the checkpoint's is kept.
        same = {k: v for k, v in run.identity.items() if k != "warm_up" or warm_up is not None}
        run.restore(load_checkpoint(checkpoint, same, patches))
    else:
        factors = initial_factors(initial, patches, counts, np.random.default_rng(random_state))
        require_finite_barrier(factors, weights)
        run.begin(factors, trusted=has_dictionary)
    settings = {
        "preset": preset,
        "metric": metric,
        "n_patches": patches.shape[0],
        "start": describe_start(initial, random_state),
        "warm_up": run.warm_up,
        "tolerance": stopping.tolerance,
        "engine": run.engine.name,
        "line_search": list(run.constants),
        "sedil": sedil.__version__,
    }
    return run.result(run.until_it_stops(), settings)


def describe_start(initial: str | SeparableDictionary, random_state: object) -> str:
    """Where a run started, for the record and to tell one run from another."""
    if isinstance(initial, SeparableDictionary):
        return "dictionary " + " ".join(fingerprint(factor) for factor in initial.factors)
    seed = f" {random_state}" if isinstance(random_state, Integral) else ""
    return f"{initial}{seed}"


def mean_energy(patches: Array) -> float:
    """Mean squared length of a patch; an error if every patch is zero."""
    xp = array_namespace(patches)
    largest = float(xp.max(xp.abs(patches)))
    if largest == 0:
        raise ValueError("Every patch is zero: there is nothing to learn from.")
    limits = xp.finfo(patches.dtype)
    if not limits.smallest_normal**0.25 < largest < limits.max**0.25:
        raise ValueError(
            f"The largest entry of the patches is {largest:.3g}, too large or too small to square in "
            f"{patches.dtype}: rescale them, for example by their largest value."
        )
    return float(xp.sum(xp.astype(patches, xp.float64) ** 2)) / patches.shape[0]


def require_place(checkpoint: str | Path | None, resume: bool, kind: str = CHECKPOINT) -> None:
    """A checkpoint can be written there without replacing anything but a checkpoint."""
    if checkpoint is not None:
        checks.require_folder(checkpoint)
        if not resume:
            require_replaceable(checkpoint, kind)
    elif resume:
        raise ValueError("resume=True needs checkpoint=..., the file to resume from.")


def require_finite_barrier(factors: Sequence[Array], weights: Weights) -> None:
    """Atoms to start from must lie apart."""
    if weights.coherence_weight and not isfinite(total_coherence(factors)):
        raise ValueError(
            "Two atoms of a factor of the initial dictionary coincide, where the coherence barrier is "
            'infinite: start from other atoms (initial="random") or set coherence_weight=0.'
        )


def require_learnable(patch_shape: Sequence[int], counts: Sequence[int]) -> None:
    """Refuse sizes for which there is nothing to learn, or no machine to learn on."""
    checks.require_affordable(patch_shape, counts)
    for axis, (length, count) in enumerate(zip(patch_shape, counts, strict=True)):
        if length == 1 and count > 1:
            raise ValueError(
                f"Patch axis {axis} has length 1, where all atoms are equal: n_atoms must be 1 there, "
                f"got {count}. Drop the axis or set n_atoms[{axis}] = 1."
            )
