"""`learn`: the public entry to Algorithm 2."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import sedil
from sedil import checks
from sedil.arrays import Array, in_precision, namespace
from sedil.choices import MetricName, Precision, PresetName, StartName
from sedil.cluster.dask_arrays import in_memory
from sedil.engines import EngineName, choose_engine
from sedil.learning.checkpoint import CheckpointFile, fingerprint
from sedil.learning.defaults import CostSettings, choose_atoms, choose_warm_up, mean_energy
from sedil.learning.initial import Start
from sedil.learning.joint import JointLearner
from sedil.learning.line_search import LineSearch
from sedil.learning.result import LearningResult, StopReason, learned_dictionary
from sedil.learning.run import StoppingRules, run
from sedil.objective import Objective
from sedil.pretrained import DictionaryLike
from sedil.progress import ProgressOption


def learn(
    patches: Array,
    n_atoms: int | Sequence[int] | None = None,
    *,
    initial: StartName | DictionaryLike = "random",
    preset: PresetName = "data",
    sparsity_scale: float | None = None,
    sparsity_weight: float | None = None,
    coherence_weight: float | None = None,
    metric: MetricName = "balanced",
    warm_up: int | None = None,
    max_iterations: int = 500,
    tolerance: float = 1e-5,
    gradient_tolerance: float = 1e-8,
    c1: float = LineSearch().c1,
    c2: float = LineSearch().c2,
    eta: float = LineSearch().eta,
    random_state: int | np.random.Generator | None = None,
    progress: ProgressOption = False,
    checkpoint: str | Path | None = None,
    checkpoint_every: int = 50,
    resume: bool = False,
    engine: EngineName | None = None,
    threads: int | None = None,
    dtype: Precision | None = None,
) -> LearningResult:
    r"""Learn a separable dictionary from patches. Paper: Algorithm 2.

    Minimises, over codes :math:`X_j` and factors :math:`A_k` with unit columns (Eq. 16),

    .. math::
        \frac{1}{2m} \sum_j \| A_1 \cdots A_K X_j - S_j \|^2
        + \frac{\lambda}{m} \sum_{j,i} \ln(1 + \rho x_{ij}^2) + \kappa \sum_k r(A_k) .

    Parameters
    ----------
    patches : array of shape (n, *patch_shape), 1 to 4 patch axes
        Training data in any units, of any array library that follows the array API standard. The input is
        never modified. For photographs remove each patch's mean first (`sedil.normalize_patches`).
    n_atoms : int or one int per patch axis, optional
        Atoms of each factor. Default: twice the length of each axis. One patch axis gives an ordinary,
        unstructured dictionary, by default with four times as many atoms as entries.
    initial : {"random", "odct", "data"} or a dictionary, default "random"
        Factors to start from; a dictionary is a SeparableDictionary, the path of a file or the name of a
        shipped one.
    preset : {"data", "paper"}, default "data"
        Where the three weights come from: "data" derives them so that units and patch size do not
        matter, "paper" takes rho = 100, lambda = kappa = 0.1/(ab), meant for patches of unit length.
    sparsity_scale, sparsity_weight, coherence_weight : float, optional
        rho, lambda and kappa, in place of the preset's. Larger lambda gives sparser codes, larger kappa
        less similar atoms.
    metric : {"balanced", "paper"}, default "balanced"
        How codes and factors are weighed against each other in the gradient (`sedil.learning.defaults`).
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
    progress : bool or callable, default False
        True shows a bar in a terminal or a notebook. A function is called with a `sedil.progress.Progress`
        after each iteration; returning True stops the run.
    checkpoint : path, optional
        File for the state of the run, written every `checkpoint_every` iterations and at the end.
    checkpoint_every : int, default 50
    resume : bool, default False
        Continue from `checkpoint` if that file exists. The data and settings must be the same;
        `max_iterations` and tolerances may differ. The end is that of an uninterrupted run, to the bit.
    engine : {"fused", "portable"}, optional
        Default: "fused", several times faster and in less memory, for NumPy arrays in float32, else
        "portable".
    threads : int, optional
        Of the fused engine; the result does not depend on it. Default: the environment variable
        NUMBA_NUM_THREADS or OMP_NUM_THREADS, else one per core.
    dtype : {"float32", "float64"}, optional
        Precision to compute in. Default: float32, with sums in float64, for NumPy arrays and whole numbers,
        and its own for any other array. Results come back in the precision of the input, or in float32 for
        whole numbers.

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
    patches = in_memory(patches, "patches", "use sedil.learn_minibatch")
    working = checks.as_working_array(patches, "patches", dtype)
    checks.require_patches(working)
    threads = checks.require_threads(threads)
    patch_shape = tuple(working.shape[1:])
    counts = choose_atoms(n_atoms, patch_shape)
    rules = StoppingRules(max_iterations, tolerance, gradient_tolerance).checked()
    constants = LineSearch(c1, c2, eta).checked()
    file = CheckpointFile(checkpoint, checkpoint_every, resume).checked()
    start = Start.checked(initial, random_state)
    chosen = choose_engine(engine, working, counts)
    energy = mean_energy(working)
    cost = CostSettings(preset, sparsity_scale, sparsity_weight, coherence_weight, metric).checked()
    weights = cost.weights(patch_shape, counts, energy)
    learner = JointLearner(
        Objective(chosen.training_set(working, counts, None, threads), weights),
        cost.manifold(patch_shape, counts, working.shape[0], energy),
        choose_warm_up(warm_up, preset, start.is_dictionary, rules.max_iterations),
        rules,
        constants,
    )
    facts: dict[str, Any] = {"metric": metric, "engine": chosen.name, "line_search": list(constants)}
    facts["start"] = start.describe()
    identity = facts | {"learner": "joint", "n_atoms": list(counts), "weights": weights._asdict()}
    if checkpoint is not None:
        identity |= {"warm_up": warm_up and int(warm_up), "patches": fingerprint(working)}
    saved = file.load(identity)
    if saved is None:
        learner.begin(start.factors(working, counts, weights), trusted=start.is_dictionary)
    else:
        with file.explaining_damage():
            learner.restore(saved, working)
    reason = run(learner, progress, file, identity)
    facts |= {"preset": preset, "n_patches": working.shape[0], "tolerance": rules.tolerance}
    return _result(learner, reason, checks.floating_dtype(patches), facts)


def _result(
    learner: JointLearner, reason: StopReason, dtype: Precision, facts: dict[str, Any]
) -> LearningResult:
    """What was learned, with the dictionary's own account of how."""
    last, weights = learner.history[-1], learner.objective.weights
    info = {
        "method": "separable dictionary learning",
        **facts,
        **weights._asdict(),
        "warm_up": learner.warm_up,
        "n_iterations": last.iteration,
        "objective": last.objective,
        "stop_reason": str(reason),
        "sedil": sedil.__version__,
    }
    return LearningResult(
        learned_dictionary(learner.factors, dtype, info),
        _codes_in(dtype, learner.codes),
        learner.history,
        reason,
        weights,
        learner.objective.n_evaluations,
    )


def _codes_in(dtype: Precision, codes: Array) -> Array:
    """Codes in the precision of the patches, or as they are where it cannot hold them."""
    with np.errstate(over="ignore"):
        narrowed = in_precision(codes, dtype)
    if narrowed.dtype == codes.dtype:
        return codes
    xp = namespace(narrowed)
    return narrowed if bool(xp.all(xp.isfinite(narrowed))) else codes
