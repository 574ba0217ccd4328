"""The bookkeeping around Algorithm 2: history, checkpoints, callbacks, reasons to stop."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from sedil.arrays import Array
from sedil.checks import require_count, require_positive
from sedil.dictionary import SeparableDictionary
from sedil.learning.checkpoint import Checkpoint, save_checkpoint
from sedil.learning.conjugate_gradient import State
from sedil.learning.defaults import smallest_coefficient, smoothed
from sedil.learning.engines import LearningEngine
from sedil.learning.interrupt import Interruption
from sedil.learning.line_search import LineSearch
from sedil.learning.result import History, LearningResult, Record, StopReason
from sedil.manifold import Point, ProductManifold
from sedil.objective import Weights, mutual_coherence

_STALL_WINDOW = 20  # iterations


class Progress(NamedTuple):
    """What a callback is told after each iteration.

    Attributes
    ----------
    record : Record of the iteration
    max_iterations : where the run ends at the latest, None if that is not known
    factors : the current factors
    """

    record: Record
    max_iterations: int | None
    factors: tuple[Array, ...]


Callback = Callable[[Progress], bool | None]


class Stopping(NamedTuple):
    """The rules that end a run, or its warm-up."""

    max_iterations: int
    tolerance: float
    gradient_tolerance: float

    def checked(self) -> Stopping:
        """The same rules, or an error that names the one out of range."""
        return Stopping(
            require_count(self.max_iterations, "max_iterations"),
            require_positive(self.tolerance, "tolerance", zero_allowed=True),
            require_positive(self.gradient_tolerance, "gradient_tolerance", zero_allowed=True),
        )

    def reason(self, history: History) -> StopReason | None:
        """The first rule that says stop, if any."""
        last = history[-1]
        if last.gradient_norm <= self.gradient_tolerance * history[0].gradient_norm:
            return StopReason.GRADIENT
        if self._has_stalled(history):
            return StopReason.STALLED
        if last.iteration >= self.max_iterations:
            return StopReason.ITERATIONS
        return None

    def _has_stalled(self, history: History) -> bool:
        """Whether C of Algorithm 1 has all but stopped falling; the cost itself goes up and down."""
        recent = history[-1 - _STALL_WINDOW :]
        if self.tolerance == 0 or len(recent) <= _STALL_WINDOW:
            return False
        if recent[0].sparsity_scale != recent[-1].sparsity_scale:
            return False
        return recent[-1].reference >= (1 - self.tolerance) * recent[0].reference


@dataclass
class Run:
    """One run of Algorithm 2: call `begin` or `restore`, then `until_it_stops`, then `result`.

    The first `warm_up` iterations minimise a smoother cost (`defaults.smoothed`), the rest the cost with
    `weights`.
    """

    engine: LearningEngine
    weights: Weights
    warm_up: int
    manifold: ProductManifold
    constants: LineSearch
    stopping: Stopping
    callback: Callback | None = None
    checkpoint: str | Path | None = None
    checkpoint_every: int = 50
    identity: dict[str, Any] = field(default_factory=dict)
    history: History = field(default_factory=History)
    seconds: float = 0.0

    def begin(self, factors: tuple[Array, ...], *, trusted: bool) -> None:
        """Start from these factors, with codes that suit them.

        Untrusted factors start with X(0) = A^T S B; Algorithm 2 prints A S B^T, whose shapes do not match.
        Those codes are dense and would soon lead good factors astray, so `trusted` ones start with sparse
        codes (Eq. 34), which the joint cost has little reason to leave.
        """
        began = time.perf_counter()
        if self.warm_up:
            self.engine.weights = smoothed(self.weights)
        if trusted:
            codes = self.engine.sparse_codes(factors, smallest_coefficient(self.engine.weights))
        else:
            codes = self.engine.correlations(factors)
        self._enter(self.engine.start(self.manifold, Point(codes, factors)), began)

    def restore(self, saved: Checkpoint) -> None:
        """Go on where a checkpoint left off."""
        self.state, self.history = saved.state, saved.history
        self.warm_up, self.identity = saved.identity["warm_up"], saved.identity
        self.seconds = saved.history[-1].seconds
        self.engine.n_evaluations = saved.history[-1].n_evaluations
        if saved.history[-1].sparsity_scale != self.weights.sparsity_scale:
            self.engine.weights = smoothed(self.weights)

    def until_it_stops(self) -> StopReason:
        """Iterate; the loop of Algorithm 2 with its ways out."""
        reason = self._own_reason()
        with Interruption() as interruption:
            while reason is None:
                began = time.perf_counter()
                state = self.engine.advance(self.manifold, self.state, self.constants)
                if state is None:
                    reason = self._end_warm_up_or(StopReason.NO_PROGRESS)
                    continue
                self._enter(state, began)
                if state.iteration % self.checkpoint_every == 0:
                    self._save()
                reason = self._reason_from_outside(interruption) or self._own_reason()
        self._save()
        return reason

    def _reason_from_outside(self, interruption: Interruption) -> StopReason | None:
        if self._callback_says_stop():
            return StopReason.CALLBACK
        return StopReason.INTERRUPTED if interruption.requested else None

    def _own_reason(self) -> StopReason | None:
        reason = self.stopping.reason(self.history)
        if reason is None and self.state.iteration < self.warm_up:
            return None
        return reason if reason == StopReason.ITERATIONS else self._end_warm_up_or(reason)

    def _end_warm_up_or(self, reason: StopReason | None) -> StopReason | None:
        """The reason to stop; but what ends the warm-up does not end the run."""
        if self.engine.weights == self.weights:
            return reason
        self._end_warm_up()
        return None

    def _end_warm_up(self) -> None:
        """Go on with the cost proper from where the smoother one led, without memory of its steps.

        The history gets a second record of this iteration, with the cost proper.
        """
        began = time.perf_counter()
        self.engine.weights = self.weights
        fresh = self.engine.start(self.manifold, self.state.point)
        self._enter(replace(fresh, iteration=self.state.iteration), began)

    def result(self, reason: StopReason, settings: dict[str, Any]) -> LearningResult:
        """The result, with the dictionary's own account of how it was learned."""
        self._end_warm_up_or(None)  # a run that ends inside the warm-up still reports the cost proper
        info = {
            "method": "separable dictionary learning",
            **settings,
            **self.weights._asdict(),
            "n_iterations": self.history[-1].iteration,
            "objective": self.history[-1].objective,
            "stop_reason": str(reason),
        }
        dictionary = SeparableDictionary(self.state.point.factors, info=info)
        codes = self.engine.unpack(self.state.point.codes)
        return LearningResult(
            dictionary, codes, self.history, reason, self.weights, self.engine.n_evaluations
        )

    def _enter(self, state: State, began: float) -> None:
        self.state = state
        self.seconds += time.perf_counter() - began
        self.history.append(
            Record(
                iteration=state.iteration,
                sparsity_scale=self.engine.weights.sparsity_scale,
                objective=state.terms.total,
                **state.terms._asdict(),
                reference=state.reference.value,
                gradient_norm=state.gradient_norm,
                step_size=state.step_size,
                n_evaluations=self.engine.n_evaluations,
                seconds=self.seconds,
                mutual_coherence=max(mutual_coherence(factor) for factor in state.point.factors),
            )
        )

    def _callback_says_stop(self) -> bool:
        if self.callback is None:
            return False
        progress = Progress(self.history[-1], self.stopping.max_iterations, self.state.point.factors)
        return bool(self.callback(progress))

    def _save(self) -> None:
        if self.checkpoint is not None:
            save_checkpoint(self.checkpoint, Checkpoint(self.state, self.history, self.identity))
