"""The processes that a run starts for itself."""

import os
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest

pytest.importorskip("distributed", reason="Dask is not installed: clusters were not tested")

from sedil.cluster.clusters import aside, connected, connecting


def test_workers_keep_their_memory_and_take_one_thread_each(monkeypatch):
    monkeypatch.delenv("MALLOC_TRIM_THRESHOLD_", raising=False)  # which another cluster may have left
    with connected(None, 1) as client:
        environment = client.submit(lambda: dict(os.environ)).result()
    assert "MALLOC_TRIM_THRESHOLD_" not in environment
    assert environment["OMP_NUM_THREADS"] == "1"


def test_a_context_is_entered_while_other_work_goes_on():
    met, left = threading.Barrier(2, timeout=10), []

    @contextmanager
    def slow():
        met.wait()
        yield 7
        left.append(True)

    with aside(slow()) as entered:
        met.wait()  # breaks if one waits for the other
        assert entered() == 7
    assert left


def test_what_keeps_a_context_from_being_entered_is_told_to_who_waits_for_it():
    @contextmanager
    def broken():
        raise OSError("2 processes to work in could not be started")
        yield

    with pytest.raises(OSError, match="could not be started"), aside(broken()) as entered:
        entered()
    with pytest.raises(KeyboardInterrupt), aside(broken()):  # what came first
        raise KeyboardInterrupt


def test_a_client_that_came_aside_can_be_used_and_goes():
    with connecting(None, 1) as client:
        assert client().submit(lambda: 7).result() == 7
    assert client().status == "closed"


def test_all_of_dask_is_loaded_before_two_threads_work_with_it():
    """One of two threads that load a package at a time may find it half loaded: a run died of that."""
    code = """
import sys
from sedil.cluster import clusters
clusters.aside = lambda context: sys.exit(not {"dask.array", "distributed"} <= set(sys.modules))
with clusters.connecting(None, 1): pass
sys.exit(2)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
