"""Warm-up, rounds, median, memory."""

import numpy as np
import pytest

from sedil_studies.bench import timing
from sedil_studies.bench.timing import Contestant, race
from sedil_studies.measures import memory
from sedil_studies.measures.memory import memory_of

MEGABYTE = 2**20


def silent(words):
    pass


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still unless it is moved."""

    class Clock:
        now = 0.0

        def perf_counter(self):
            return self.now

    clock = Clock()
    monkeypatch.setattr(timing, "time", clock)
    return clock


def moving(clock, steps, name="ours", **options):
    """A contestant whose runs take these seconds, the warm-up and the run for the memory included."""
    waiting = iter(steps)

    def run():
        clock.now += next(waiting)
        return name

    return Contestant(name, "sedil 1", run, repeats=len(steps) - 2, **options)


def test_warm_up_and_memory_run_are_off_the_clock(clock):
    (found,) = race([moving(clock, [100, 50, 3, 1, 2])], silent)
    assert found.seconds == (3, 1, 2)
    assert found.median == 2


def test_contestants_take_turns(clock):
    told = []
    ours, peer = moving(clock, [0, 0, 1, 1, 1]), moving(clock, [0, 0, 5], "peer")
    found = race([ours, peer], told.append)
    assert [each.seconds for each in found] == [(1, 1, 1), (5,)]
    assert told[-4:] == ["ours, 1 of 3", "peer, 1 of 1", "ours, 2 of 3", "ours, 3 of 3"]


def test_time_of_a_part_is_extrapolated_and_its_memory_not_told(clock):
    waiting = [100, 3, 4]  # no run for the memory
    contestant = moving(clock, [*waiting, 0], share=0.01)
    (found,) = race([contestant], silent)
    assert found.seconds == (300, 400)
    assert found.peak_bytes is None


def test_result_of_the_warm_up_is_judged(clock):
    judged = moving(clock, [1, 1, 1], judge=lambda result: {"letters": len(result)})
    assert race([judged], silent)[0].figures == {"letters": 4}


@pytest.mark.skipif(
    memory.reset_peak() is None, reason="the system does not tell the peak of a part of a run"
)
def test_memory_is_what_a_run_takes_at_its_peak():
    def work():
        large = np.ones(40 * MEGABYTE, np.uint8)
        small = large[: 10 * MEGABYTE].copy()
        del large
        return small

    taken = memory_of(work)
    assert 48 * MEGABYTE < taken < 60 * MEGABYTE
    assert memory_of(lambda: None) < 2 * MEGABYTE
