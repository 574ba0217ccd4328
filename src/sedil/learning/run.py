"""The bookkeeping around Algorithm 2: history, checkpoints, callbacks, reasons to stop."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from sedil.dictionary import SeparableDictionary
from sedil.engines import portable
from sedil.engines.portable import Array
from sedil.learning.checkpoint import Checkpoint, save_checkpoint
from sedil.learning.conjugate_gradient import State, advance, start
from sedil.learning.interrupt import Interruption
from sedil.learning.line_search import LineSearch
from sedil.learning.result import History, LearningResult, Record, StopReason
from sedil.manifold import Point, ProductManifold
from sedil.objective import Objective, mutual_coherence

_STALL_WINDOW = 10  # iterations; the cost may rise for a few, so one alone says nothing


class Progress(NamedTuple):
    """What a callback is told after each iteration.

    Attributes
    ----------
    record : Record of the iteration
    max_iterations : where the run ends at the latest
    factors : the current factors
    """

    record: Record
    max_iterations: int
    factors: tuple[Array, ...]


Callback = Callable[[Progress], bool | None]


class Stopping(NamedTuple):
    """The rules that end a run."""

    max_iterations: int
    tolerance: float
    gradient_tolerance: float

    def reason(self, history: History) -> StopReason | None:
        """The first rule that says stop, if any."""
        last = history[-1]
        if last.gradient_norm <= self.gradient_tolerance * history[0].gradient_norm:
            return StopReason.GRADIENT
        if len(history) > _STALL_WINDOW:
            before = history[-1 - _STALL_WINDOW].objective
            if abs(before - last.objective) <= self.tolerance * abs(last.objective):
                return StopReason.STALLED
        if last.iteration >= self.max_iterations:
            return StopReason.ITERATIONS
        return None


@dataclass
class Run:
    """One run of Algorithm 2: call `begin` or `restore`, then `until_it_stops`, then `result`."""

    objective: Objective
    manifold: ProductManifold
    constants: LineSearch
    stopping: Stopping
    callback: Callback | None = None
    checkpoint: str | Path | None = None
    checkpoint_every: int = 50
    identity: dict[str, Any] = field(default_factory=dict)
    history: History = field(default_factory=History)
    seconds: float = 0.0

    def begin(self, factors: tuple[Array, ...]) -> None:
        """Start from these factors with the codes X(0) = A^T S B.

        Deviation: Algorithm 2 prints A S B^T, whose shapes do not match.
        """
        began = time.perf_counter()
        point = Point(portable.analyze(factors, self.objective.patches), factors)
        self._enter(start(self.objective, self.manifold, point), began)

    def restore(self, saved: Checkpoint) -> None:
        """Go on where a checkpoint left off."""
        self.state, self.history = saved.state, saved.history
        self.seconds = saved.history[-1].seconds
        self.objective.n_evaluations = saved.history[-1].n_evaluations

    def until_it_stops(self) -> StopReason:
        """Iterate; the loop of Algorithm 2 with its ways out."""
        with Interruption() as interruption:
            while (reason := self.stopping.reason(self.history)) is None:
                began = time.perf_counter()
                state = advance(self.objective, self.manifold, self.state, self.constants)
                if state is None:
                    reason = StopReason.NO_PROGRESS
                    break
                self._enter(state, began)
                if interruption.requested:
                    reason = StopReason.INTERRUPTED
                elif self._callback_says_stop():
                    reason = StopReason.CALLBACK
                if reason is not None:
                    break
                if state.iteration % self.checkpoint_every == 0:
                    self._save()
        self._save()
        return reason

    def result(self, reason: StopReason, settings: dict[str, Any]) -> LearningResult:
        """The result, with the dictionary's own account of how it was learned."""
        weights = self.objective.weights
        info = {
            "method": "separable dictionary learning",
            **settings,
            **weights._asdict(),
            "n_iterations": self.history[-1].iteration,
            "objective": self.history[-1].objective,
            "stop_reason": str(reason),
        }
        dictionary = SeparableDictionary(self.state.point.factors, info=info)
        codes = portable.unpack(self.state.point.codes)
        return LearningResult(dictionary, codes, self.history, reason, weights)

    def _enter(self, state: State, began: float) -> None:
        self.state = state
        self.seconds += time.perf_counter() - began
        self.history.append(
            Record(
                iteration=state.iteration,
                objective=state.terms.total,
                **state.terms._asdict(),
                gradient_norm=state.gradient_norm,
                step_size=state.step_size,
                n_evaluations=self.objective.n_evaluations,
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
