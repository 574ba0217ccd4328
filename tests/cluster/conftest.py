import pytest


@pytest.fixture
def small_chunks(monkeypatch):
    """Chunks as small as halos allow, so that there are seams in small images."""
    from sedil.cluster import parts

    monkeypatch.setattr(parts, "_HALOS_PER_CHUNK", 1)


@pytest.fixture(scope="session")
def client():
    """A cluster of two processes."""
    distributed = pytest.importorskip("distributed")
    quiet = {"dashboard_address": ":0", "silence_logs": 50}
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, **quiet) as local,
        distributed.Client(local) as client,
    ):
        yield client
