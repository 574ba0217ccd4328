"""How contestants are timed: warm-up first, then round after round, so that all meet the same weather."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from sedil_studies.bench.results import Measurement
from sedil_studies.measures.memory import memory_of

Tell = Callable[[str], None]


class Contestant(NamedTuple):
    """Who is timed.

    Attributes
    ----------
    name, package : for the report
    run : the work, nothing else
    judge : figures of a result of `run`, off the clock
    repeats : timed repetitions, after one that is not
    size : where it stands on the horizontal axis of the picture
    share : part of the work that `run` does; its time is divided by it
    """

    name: str
    package: str
    run: Callable[[], Any]
    judge: Callable[[Any], dict[str, float]] | None = None
    repeats: int = 5
    size: float = 0.0
    share: float = 1.0


def race(contestants: Sequence[Contestant], tell: Tell) -> list[Measurement]:
    """Time all contestants, round after round: a change of the machine's pace meets them all.

    Two runs of each are off the clock: the warm-up, whose result is judged, and one for its memory.
    """
    figures = [_warm_up(each, tell) for each in contestants]
    peaks = [_memory(each, tell) for each in contestants]
    seconds: list[list[float]] = [[] for _ in contestants]
    for number in range(max((each.repeats for each in contestants), default=0)):
        for k, contestant in enumerate(contestants):
            if number < contestant.repeats:
                tell(f"{contestant.name}, {number + 1} of {contestant.repeats}")
                seconds[k].append(clocked(contestant.run) / contestant.share)
    return [
        Measurement(each.name, tuple(times), each.package, each.size, each.share, peak, found)
        for each, times, peak, found in zip(contestants, seconds, peaks, figures, strict=True)
    ]


def clocked(run: Callable[[], Any]) -> float:
    """Seconds of one run."""
    gc.collect()  # what others left is not on the clock
    began = time.perf_counter()
    result = run()
    seconds = time.perf_counter() - began
    del result  # off the clock too
    return seconds


def _warm_up(contestant: Contestant, tell: Tell) -> dict[str, float]:
    tell(f"{contestant.name}, warm-up")
    result = contestant.run()
    return contestant.judge(result) if contestant.judge else {}


def _memory(contestant: Contestant, tell: Tell) -> int | None:
    # Memory does not grow in proportion to the work, so that of a part says nothing of the whole.
    if contestant.share != 1:
        return None
    tell(f"{contestant.name}, memory")
    return memory_of(contestant.run)
