"""Facts about the machine, and how a run is held to some of its cores."""

import os

import pytest

from sedil_studies.bench import machine


@pytest.fixture
def in_a_moment(monkeypatch):
    monkeypatch.setattr(machine, "_SECONDS", 4e-3)


def test_facts_are_told(in_a_moment):
    facts = machine.machine_facts(1)
    assert facts["cpu"]
    assert facts["cores"] >= 1
    assert facts["memory_bytes"] > 2**28
    assert {"numpy", "numba"} <= set(facts["packages"])
    assert facts["blas"]
    assert 1 < facts["fma_peak_gflops"] < 10_000


def test_rates_count_all_loops(monkeypatch):
    done = []
    monkeypatch.setattr(machine, "_calibrated", lambda loop: 10)
    monkeypatch.setattr(machine, "perf_counter", iter(range(100)).__next__)  # each round takes one second
    assert machine.rates([done.append, done.append], rounds=3) == [20, 20, 20]
    assert done == [10] * 6


def test_loop_is_repeated_for_as_long_as_a_round_should_take(monkeypatch):
    """A loop that takes 1 ms a time, by a clock of its own."""
    now = 0.0

    def loop(times):
        nonlocal now
        now += 1e-3 * times

    monkeypatch.setattr(machine, "perf_counter", lambda: now)
    monkeypatch.setattr(machine, "_SECONDS", 0.5)
    assert machine._calibrated(loop) == 500


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="the system cannot hold a process to cores")
def test_process_is_held_to_cores_and_let_go():
    before = os.sched_getaffinity(0)
    with machine.held_to(1):
        assert len(os.sched_getaffinity(0)) == 1
    assert os.sched_getaffinity(0) == before
    with pytest.raises(RuntimeError, match="stop"), machine.held_to(1):
        raise RuntimeError("stop")
    assert os.sched_getaffinity(0) == before
