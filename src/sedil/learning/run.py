"""The loop around a learner: steps, checkpoints, progress, reasons to stop."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, NamedTuple, Protocol

from sedil.arrays import Array
from sedil.checks import require_count, require_positive
from sedil.learning.checkpoint import Checkpoint, CheckpointFile
from sedil.learning.result import History, StopReason
from sedil.progress import Progress, ProgressOption, Report, reporting

_STALL_WINDOW = 20  # iterations

# Reasons that end a phase; if another one follows, the run goes on with it. All others end the run.
_ENDS_OF_A_PHASE = (StopReason.GRADIENT, StopReason.STALLED, StopReason.NO_PROGRESS, StopReason.WARM_UP)


class Interruption:
    """While active, the first Ctrl-C sets `requested`; a second one interrupts at once, as usual.

    In threads other than the main one Python delivers no signals, and this does nothing.
    """

    def __init__(self) -> None:
        self.requested = False
        self._is_main = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> Interruption:
        if self._is_main:
            self._previous = signal.signal(signal.SIGINT, self._request)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._restore()

    def _request(self, number: int, frame: FrameType | None) -> None:
        self.requested = True
        self._restore()

    def _restore(self) -> None:
        if self._is_main and self._previous is not None:  # None: not set from Python, cannot be restored
            signal.signal(signal.SIGINT, self._previous)


class Learner(Protocol):
    """What a run drives. Its phases are parts that minimise costs of their own, such as a warm-up."""

    unit: str

    @property
    def history(self) -> History:
        """A record of each step."""

    @property
    def factors(self) -> tuple[Array, ...]:
        """The factors at present."""

    @property
    def total(self) -> int | None:
        """Steps at most, if that is known."""

    @property
    def has_next_phase(self) -> bool:
        """Whether a phase follows the present one."""

    def begin_next_phase(self) -> None:
        """Leave the present phase for the next one."""

    def step(self) -> StopReason | None:
        """Take a step and record it, or say why none can be taken."""

    def reason_to_stop(self) -> StopReason | None:
        """Why no further step of this phase should be taken, if so."""

    def checkpoint(self, identity: dict[str, Any]) -> Checkpoint:
        """All that is needed to go on from here."""


def run(
    learner: Learner, progress: ProgressOption, file: CheckpointFile, identity: dict[str, Any]
) -> StopReason:
    """Take steps until there is a reason to stop; `identity` tells checkpoints of this run from others.

    A run that stops in its warm-up still reports the cost proper, as the last record.
    """
    reason = learner.reason_to_stop()
    with Interruption() as interruption, reporting(progress, "learning") as report:
        while reason is None or (reason in _ENDS_OF_A_PHASE and learner.has_next_phase):
            if reason is not None:
                learner.begin_next_phase()
            reason = learner.step()
            if reason is None:
                if file.is_due(learner.history[-1].iteration):
                    file.save(learner.checkpoint(identity))
                reason = _reason_from_outside(learner, report, interruption) or learner.reason_to_stop()
    if file.path is not None:
        file.save(learner.checkpoint(identity))
    while learner.has_next_phase:
        learner.begin_next_phase()
    return reason


def _reason_from_outside(learner: Learner, report: Report, interruption: Interruption) -> StopReason | None:
    """Tell how far the run is, and see whether someone wants it to end."""
    record = learner.history[-1]
    if report(Progress(record.iteration, learner.total, learner.unit, record, learner.factors)):
        return StopReason.PROGRESS
    return StopReason.INTERRUPTED if interruption.requested else None


class StoppingRules(NamedTuple):
    """The rules that end a phase of Algorithm 2."""

    max_iterations: int
    tolerance: float
    gradient_tolerance: float

    def checked(self) -> StoppingRules:
        """The same rules, or an error that names the one out of range."""
        return StoppingRules(
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
