"""The processes that a run starts for itself."""

import os

import pytest

pytest.importorskip("distributed", reason="Dask is not installed: clusters were not tested")

from sedil.cluster.clusters import connected


def test_workers_keep_their_memory_and_take_one_thread_each(monkeypatch):
    monkeypatch.delenv("MALLOC_TRIM_THRESHOLD_", raising=False)  # which another cluster may have left
    with connected(None, 1) as client:
        environment = client.submit(lambda: dict(os.environ)).result()
    assert "MALLOC_TRIM_THRESHOLD_" not in environment
    assert environment["OMP_NUM_THREADS"] == "1"
