"""`learn_minibatch`: the public entry to mini-batch learning."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral
from pathlib import Path
from typing import Any, get_args

import numpy as np

import sedil
from sedil import checks
from sedil.arrays import Array
from sedil.choices import MetricName, Precision, PresetName, StartName
from sedil.cluster.clusters import connected
from sedil.cluster.shards import Workers
from sedil.engines import EngineName
from sedil.learning.batch import Batch
from sedil.learning.batches import BatchSource, nan_for_masked, open_batches
from sedil.learning.checkpoint import Checkpoint, CheckpointFile, Kinds, fingerprint, require_kinds
from sedil.learning.defaults import choose_atoms
from sedil.learning.initial import Start
from sedil.learning.minibatch import BATCH_ITERATIONS, MiniBatchLearner
from sedil.learning.result import History, LearningResult, StopReason, learned_dictionary
from sedil.learning.run import run
from sedil.objective import Weights
from sedil.pretrained import DictionaryLike
from sedil.progress import ProgressOption


def learn_minibatch(
    patches: Array | str | Path | Sequence[Any] | Iterable[Array] | Callable[[], Iterable[Array]],
    n_atoms: int | Sequence[int] | None = None,
    *,
    mask: Array | str | Path | Sequence[Any] | None = None,
    batch_size: int = 1000,
    n_epochs: int = 1,
    max_batches: int | None = None,
    batch_iterations: int = BATCH_ITERATIONS,
    initial: StartName | DictionaryLike = "random",
    preset: PresetName = "data",
    sparsity_scale: float | None = None,
    sparsity_weight: float | None = None,
    coherence_weight: float | None = None,
    metric: MetricName = "balanced",
    random_state: int | np.random.Generator | None = None,
    progress: ProgressOption = False,
    checkpoint: str | Path | None = None,
    checkpoint_every: int = 20,
    resume: bool = False,
    engine: EngineName | None = None,
    threads: int | None = None,
    dtype: Precision | None = None,
    scheduler: Any = None,
) -> LearningResult:
    r"""Learn a separable dictionary from data of any size, a batch at a time.

    Minimises the cost of `sedil.learn` (Eq. 16) in a fraction of its time, in memory for one batch. How:
    `sedil.learning.minibatch`.

    Parameters
    ----------
    patches : the training data, one of

        - an array (n, *patch_shape), in memory or mapped (`numpy.memmap`), of any array library;
        - the path of a ``.npy`` file, which is mapped and never read as a whole;
        - a Dask array, or an array of Zarr or its path: chunks are read as they are needed, once an epoch;
        - a list of these: one set of data in several pieces;
        - an iterable of arrays (n, *patch_shape), each n as it likes: a generator, `sedil.stream_patches`;
        - a function that returns such an iterable, called once an epoch.

        Rows of arrays are shuffled, those of iterables taken as they come. Prepare patches as for
        `sedil.learn`. Entries that are NaN, or masked in a masked array of NumPy, count as missing.
    n_atoms : int or one int per patch axis, optional
        As in `sedil.learn`.
    mask : boolean array of the shape of `patches`, or like those a file or a list, optional
        True where an entry is missing. The cost counts known entries only.
    batch_size : int, default 1000
        Samples in a batch, at most; where there are fewer in all, they are one batch.
    n_epochs : int, default 1
        How often the data is gone through.
    max_batches : int, optional
        Stop after so many batches.
    batch_iterations : int, default 40
        Iterations of Algorithm 2 on each batch.
    initial, preset, sparsity_scale, sparsity_weight, coherence_weight, metric
        As in `sedil.learn`; weights of the preset "data" are derived from the first batch.
    random_state : int, numpy.random.Generator or None
        Source of the initial factors and of the order of rows; an int makes the run repeatable.
    progress : bool or callable, default False
        True shows a bar in a terminal or a notebook. A function is called with a `sedil.progress.Progress`
        after each batch; returning True stops the run.
    checkpoint : path, optional
        File for the state of the run, written every `checkpoint_every` batches and at the end.
    checkpoint_every : int, default 20
    resume : bool, default False
        Continue from `checkpoint` if that file exists. Data and settings must be the same, and an iterator
        must start from its beginning; `n_epochs` may be larger and `max_batches` may differ. The end is that
        of an uninterrupted run, to the bit.
    engine, threads, dtype
        As in `sedil.learn`. Batches with missing entries need the portable engine and get it by default.
    scheduler : distributed.Client, or the address of a Dask scheduler, optional
        Each batch is spread over the workers there, which hold its codes (docs/cluster.md). It pays for
        batches of tens of thousands. The result is the same to the bit whatever the number of workers, and
        that without them to rounding.

    Returns
    -------
    LearningResult
        With ``dictionary``, ``history`` (one record per batch, the cost being that of the batch) and
        ``stop_reason``; ``codes`` is None. Ctrl-C ends the run after the current batch and returns what
        there is.

    Raises
    ------
    ValueError, TypeError, OSError
        If the input is not as described; the message says what to do.

    Examples
    --------
    >>> import numpy as np, sedil
    >>> rng = np.random.default_rng(0)
    >>> batches = (rng.standard_normal((200, 4, 4)) for _ in range(3))
    >>> result = sedil.learn_minibatch(batches, n_atoms=(6, 6), batch_size=200, random_state=0)
    >>> result.dictionary.factors[0].shape, result.n_iterations
    ((4, 6), 3)
    """
    batch_size = checks.require_count(batch_size, "batch_size", minimum=1)
    n_epochs = checks.require_count(n_epochs, "n_epochs", minimum=1)
    max_batches = checks.optional_count(max_batches, "max_batches")
    file = CheckpointFile(checkpoint, checkpoint_every, resume).checked()
    learner = MiniBatchLearner(
        n_atoms,
        batch_iterations=batch_iterations,
        initial=initial,
        preset=preset,
        sparsity_scale=sparsity_scale,
        sparsity_weight=sparsity_weight,
        coherence_weight=coherence_weight,
        metric=metric,
        engine=engine,
        threads=threads,
        dtype=dtype,
    )
    start = Start.checked(initial, random_state).describe()
    identity = {"learner": "mini-batch", **learner.settings(), "batch_size": batch_size, "start": start}
    saved = file.load(identity)
    with file.explaining_damage():
        if saved is not None:
            require_kinds(saved.numbers, _NUMBERS)
    seed = _seed(random_state) if saved is None else saved.numbers["seed"]
    learner.random_state = seed
    source = open_batches(patches, mask, batch_size, n_epochs, seed)
    batches = BatchLearner(learner, source, max_batches, seed, keeps_track=checkpoint is not None)
    if saved is not None:
        with file.explaining_damage():
            batches.restore(saved, file)
    with _workers(scheduler) as learner.workers:
        reason = run(batches, progress, file, identity)
    return batches.result(reason, identity | {"n_epochs": n_epochs})


@contextmanager
def _workers(scheduler: Any) -> Iterator[Workers | None]:
    """The workers of a cluster, if there is one."""
    if scheduler is None:
        yield None
    elif isinstance(scheduler, str):
        with connected(scheduler, None) as client:
            yield Workers(client)
    elif hasattr(scheduler, "scheduler_info"):
        yield Workers(scheduler)
    else:
        raise TypeError(
            f"scheduler must be a distributed.Client or the address of a scheduler, got "
            f"{checks.short(scheduler)}."
        )


def _seed(random_state: int | np.random.Generator | None) -> int:
    if isinstance(random_state, Integral):
        return checks.require_count(random_state, "random_state")
    return int(checks.as_generator(random_state).integers(2**63))


# What a checkpoint holds besides factors and history.
_NUMBERS: Kinds = {
    "weights": dict.fromkeys(Weights._fields, "size") | {"sparsity_scale": "positive number"},
    "energy": "positive number",
    "n_samples": "count",
    "result_dtype": get_args(Precision),
    "seed": "count",
    "last_batch": "text",
}


class BatchLearner:
    """A learner and the batches that it learns from, for `sedil.learning.run.run` to drive, in one phase.

    `keeps_track` if checkpoints are wanted, for which each batch gets a fingerprint.
    """

    unit = "batches"
    has_next_phase = False

    def __init__(
        self,
        learner: MiniBatchLearner,
        source: BatchSource,
        max_batches: int | None,
        seed: int,
        *,
        keeps_track: bool,
    ) -> None:
        self._learner, self._source, self._batches = learner, source, source.after(0)
        self._max_batches, self._seed, self._keeps_track = max_batches, seed, keeps_track
        self._last_batch = ""

    @property
    def history(self) -> History:
        """One record per batch."""
        return self._learner.history

    @property
    def factors(self) -> tuple[Array, ...]:
        """The factors at present."""
        return self._learner.factors or ()

    @property
    def total(self) -> int | None:
        """Batches in the whole run, if known."""
        limits = [limit for limit in (self._max_batches, self._source.n_batches) if limit is not None]
        return min(limits, default=None)

    def begin_next_phase(self) -> None:
        """There is none."""

    def step(self) -> StopReason | None:
        """Learn from the next batch."""
        batch = next(self._batches, None)
        if batch is None:
            if not len(self.history):
                raise ValueError("The data is empty: not one batch came.")
            return StopReason.DATA
        self._learner.partial_fit(*batch)
        self._last_batch = _fingerprint(batch) if self._keeps_track else ""
        return None

    def reason_to_stop(self) -> StopReason | None:
        """Whether there have been as many batches as were asked for."""
        is_full = self._max_batches is not None and len(self.history) >= self._max_batches
        return StopReason.BATCHES if is_full else None

    def checkpoint(self, identity: dict[str, Any]) -> Checkpoint:
        """All that is needed to go on from here; codes are not."""
        numbers = self._learner.numbers() | {"seed": self._seed, "last_batch": self._last_batch}
        arrays = {f"factor{k}": factor for k, factor in enumerate(self.factors)}
        return Checkpoint(identity, self.history, numbers, arrays)

    def restore(self, saved: Checkpoint, file: CheckpointFile) -> None:
        """Go on where a checkpoint left off, if the data gives the last batch again."""
        self._batches = self._source.after(len(saved.history) - 1)
        last = next(self._batches, None)
        self._last_batch = saved.numbers["last_batch"]
        came = None if last is None else _fingerprint(last)
        file.require_same_run({"data": self._last_batch}, {"data": came})
        assert last is not None
        like = checks.as_working_array(nan_for_masked(last.patches), "patches", self._learner.dtype)
        sizes = zip(like.shape[1:], choose_atoms(self._learner.n_atoms, like.shape[1:]), strict=True)
        factors = tuple(saved.factor(f"factor{k}", size, like) for k, size in enumerate(sizes))
        self._learner.restore(factors, saved.numbers, saved.history)

    def result(self, reason: StopReason, settings: dict[str, Any]) -> LearningResult:
        """What was learned, with the dictionary's own account of how."""
        learner, last = self._learner, self.history[-1]
        assert learner.weights is not None
        info = {
            "method": "separable dictionary learning, mini-batches",
            **settings,
            **learner.weights._asdict(),
            "n_patches": learner.n_samples,
            "n_batches": learner.n_batches,
            "objective": last.objective,
            "stop_reason": str(reason),
            "sedil": sedil.__version__,
        }
        dictionary = learned_dictionary(self.factors, learner.result_dtype, info)
        return LearningResult(dictionary, None, learner.history, reason, learner.weights, last.n_evaluations)


def _fingerprint(batch: Batch) -> str:
    return " ".join(fingerprint(array) for array in batch if array is not None)
