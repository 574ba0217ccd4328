"""Facts about the machine, and how a run is held to some of its cores."""

import os
from time import sleep

import pytest

from sedil.bench import machine


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


def test_rates_count_all_loops(in_a_moment):
    """Loops that wait for 1 ms can run side by side on any machine."""

    def wait(times):
        sleep(1e-3 * times)

    (alone,) = machine.rates([wait], rounds=1)
    (together,) = machine.rates([wait, wait], rounds=1)
    assert 200 < alone < 1000
    assert 1.2 < together / alone < 2.8


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="the system cannot hold a process to cores")
def test_process_is_held_to_cores_and_let_go():
    before = os.sched_getaffinity(0)
    with machine.held_to(1):
        assert len(os.sched_getaffinity(0)) == 1
    assert os.sched_getaffinity(0) == before
    with pytest.raises(RuntimeError, match="stop"), machine.held_to(1):
        raise RuntimeError("stop")
    assert os.sched_getaffinity(0) == before
