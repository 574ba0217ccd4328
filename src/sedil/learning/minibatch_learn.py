"""`learn_minibatch`: the public entry to mini-batch learning."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

import sedil
from sedil import checks
from sedil.arrays import Array
from sedil.dictionary import SeparableDictionary
from sedil.learning.batches import Batch, Source, open_source
from sedil.learning.checkpoint import fingerprint, require_same_run
from sedil.learning.interrupt import Interruption
from sedil.learning.learn import describe_start, require_place
from sedil.learning.minibatch import BATCH_ITERATIONS, MiniBatchLearner
from sedil.learning.minibatch_checkpoint import MINIBATCH_CHECKPOINT, Saved, load_minibatch, save_minibatch
from sedil.learning.result import LearningResult, StopReason
from sedil.learning.run import Callback, Progress


def learn_minibatch(
    patches: Array | str | Path | Sequence[Any] | Iterable[Array] | Callable[[], Iterable[Array]],
    n_atoms: int | Sequence[int],
    *,
    mask: Array | str | Path | Sequence[Any] | None = None,
    batch_size: int = 1000,
    n_epochs: int = 1,
    max_batches: int | None = None,
    batch_iterations: int = BATCH_ITERATIONS,
    initial: str | SeparableDictionary = "random",
    preset: str = "data",
    sparsity_scale: float | None = None,
    sparsity_weight: float | None = None,
    coherence_weight: float | None = None,
    metric: str = "balanced",
    random_state: int | np.random.Generator | None = None,
    callback: Callback | None = None,
    checkpoint: str | Path | None = None,
    checkpoint_every: int = 20,
    resume: bool = False,
    engine: str | None = None,
    threads: int | None = None,
) -> LearningResult:
    r"""Learn a separable dictionary from data of any size, a batch at a time.

    Minimises the cost of `sedil.learn` (Eq. 16) in a fraction of its time, in memory for one batch. How:
    `sedil.learning.minibatch`.

    Parameters
    ----------
    patches : the training data, one of

        - an array (n, *patch_shape), in memory or mapped (`numpy.memmap`), of any array library;
        - the path of a ``.npy`` file, which is mapped and never read as a whole;
        - a list of these: one set of data in several pieces;
        - an iterable of arrays (n, *patch_shape), each n as it likes: a generator, `sedil.stream_patches`;
        - a function that returns such an iterable, called once an epoch.

        Rows of arrays are shuffled, those of iterables taken as they come. Prepare patches as for
        `sedil.learn`. Entries that are NaN count as missing.
    n_atoms : int or one int per patch axis
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
    callback : callable, optional
        Called with a `Progress` after each batch; returning True stops the run.
    checkpoint : path, optional
        File for the state of the run, written every `checkpoint_every` batches and at the end.
    checkpoint_every : int, default 20
    resume : bool, default False
        Continue from `checkpoint` if that file exists. Data and settings must be the same, and an iterator
        must start from its beginning; `n_epochs` may be larger and `max_batches` may differ. The end is that
        of an uninterrupted run, to the bit.
    engine, threads
        As in `sedil.learn`. Batches with missing entries need the portable engine and get it by default.

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
    checks.require_count(n_epochs, "n_epochs", minimum=1)
    checks.require_count(checkpoint_every, "checkpoint_every", minimum=1)
    if max_batches is not None:
        checks.require_count(max_batches, "max_batches", minimum=1)
    require_place(checkpoint, resume, MINIBATCH_CHECKPOINT)
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
    )
    identity = learner.settings() | {
        "batch_size": batch_size,
        "start": describe_start(initial, random_state),
    }
    saved = load_minibatch(checkpoint) if resume and checkpoint and Path(checkpoint).is_file() else None
    if saved is not None:
        require_same_run(str(checkpoint), saved.identity, identity)
    seed = saved.seed if saved else _seed(random_state)
    learner.random_state = seed
    run = _Run(
        learner,
        open_source(patches, mask, batch_size, n_epochs, seed),
        max_batches,
        callback,
        checkpoint,
        checkpoint_every,
        identity,
        seed,
    )
    reason = run.until_it_stops(saved)
    return run.result(reason, identity | {"n_epochs": n_epochs})


def _seed(random_state: int | np.random.Generator | None) -> int:
    if isinstance(random_state, Integral):
        return checks.require_count(int(random_state), "random_state")
    return int(np.random.default_rng(random_state).integers(2**63))


def _fingerprint(batch: Batch) -> str:
    return " ".join(fingerprint(array) for array in batch if array is not None)


@dataclass
class _Run:
    """A learner, its data, and the bookkeeping around them."""

    learner: MiniBatchLearner
    source: Source
    max_batches: int | None
    callback: Callback | None
    checkpoint: str | Path | None
    checkpoint_every: int
    identity: dict[str, Any]
    seed: int
    last_batch: str = ""

    def until_it_stops(self, saved: Saved | None) -> StopReason:
        """Learn from all batches that are left."""
        n_saved = 0
        batches = self.source.after(0)
        if saved is not None:
            n_saved = len(saved.history)
            batches = self.source.after(n_saved - 1)
            self._restore(saved, next(batches, None))
        if self._is_full():
            return StopReason.BATCHES
        reason = None
        with Interruption() as interruption:
            for batch in batches:
                self.learner.partial_fit(*batch)
                self.last_batch = _fingerprint(batch) if self.checkpoint else ""
                if self.learner.n_batches % self.checkpoint_every == 0:
                    self._save()
                reason = self._reason_to_stop(interruption)
                if reason is not None:
                    break
        if self.learner.n_batches == 0:
            raise ValueError("The data is empty: not one batch came.")
        if self.learner.n_batches > n_saved:
            self._save()
        return reason or StopReason.DATA

    @property
    def total(self) -> int | None:
        """Batches in the whole run, if known."""
        limits = [limit for limit in (self.max_batches, self.source.n_batches) if limit is not None]
        return min(limits, default=None)

    def result(self, reason: StopReason, settings: dict[str, Any]) -> LearningResult:
        """The result, with the dictionary's own account of how it was learned."""
        learner = self.learner
        last = learner.history[-1]
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
        dictionary = SeparableDictionary(learner.factors, info=info)  # type: ignore[arg-type]
        return LearningResult(dictionary, None, learner.history, reason, learner.weights, last.n_evaluations)

    def _restore(self, saved: Saved, last: Batch | None) -> None:
        """Go on where a checkpoint left off, if the data gives the same `last` batch again."""
        came = None if last is None else _fingerprint(last)
        require_same_run(str(self.checkpoint), {"data": saved.last_batch}, {"data": came})
        assert last is not None
        saved.restore(self.learner, last.patches)
        self.last_batch = saved.last_batch

    def _reason_to_stop(self, interruption: Interruption) -> StopReason | None:
        if self._callback_says_stop():
            return StopReason.CALLBACK
        if interruption.requested:
            return StopReason.INTERRUPTED
        return StopReason.BATCHES if self._is_full() else None

    def _is_full(self) -> bool:
        return self.max_batches is not None and self.learner.n_batches >= self.max_batches

    def _callback_says_stop(self) -> bool:
        if self.callback is None:
            return False
        return bool(self.callback(Progress(self.learner.history[-1], self.total, self.learner.factors or ())))

    def _save(self) -> None:
        if self.checkpoint is not None:
            save_minibatch(self.checkpoint, self.learner, self.identity, self.seed, self.last_batch)
