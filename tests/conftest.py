"""Fixtures: every array library and precision that the package promises to run on."""

import os
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from array_api_compat import array_namespace
from hypothesis import settings
from PIL import Image

from sedil.arrays import to_numpy

os.environ.setdefault("MPLBACKEND", "Agg")
settings.register_profile("sedil", max_examples=40, deadline=None, derandomize=True, database=None)
settings.load_profile("sedil")

NAMESPACES = {
    "numpy": "array_api_compat.numpy",
    "torch": "array_api_compat.torch",
    "array_api_strict": "array_api_strict",
}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what torch changes: ``-m torch`` runs it where all else has been run without torch."""
    for item in items:
        if _uses_tensors(item) or _names_torch(item.path):
            item.add_marker("torch")


def _uses_tensors(item: pytest.Item) -> bool:
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    return parameters.get("library") == "torch" or "torch" in getattr(item, "fixturenames", ())


@cache
def _names_torch(file: Path) -> bool:
    """Whether a file may do something of its own with torch: rather one test too many than one too few."""
    return re.search(r"\btorch\b", file.read_text()) is not None


class Arrays(NamedTuple):
    """One array library in one precision."""

    xp: Any
    precision: str

    @property
    def dtype(self) -> Any:
        return getattr(self.xp, self.precision)

    @property
    def tolerance(self) -> float:
        return 1e-12 if self.precision == "float64" else 1e-5

    def make(self, values: Any) -> Any:
        return self.xp.asarray(np.array(values, dtype=self.precision))

    def check(self, result: Any, expected: Any, tolerance: float | None = None) -> None:
        """`result` is of this library and precision, and equal to the NumPy array `expected`."""
        assert array_namespace(result) is array_namespace(self.xp.empty(0))
        assert result.dtype == self.dtype
        tolerance = tolerance or self.tolerance
        np.testing.assert_allclose(to_numpy(result), expected, rtol=tolerance, atol=tolerance)


def _namespace(name: str) -> Any:
    pytest.importorskip(name, reason=f"{name} is not installed: its arrays were not tested")
    return pytest.importorskip(NAMESPACES[name])


@pytest.fixture(params=list(NAMESPACES))
def library(request: pytest.FixtureRequest) -> Any:
    """The array API namespace of each library."""
    return _namespace(request.param)


@pytest.fixture(params=["float32", "float64"])
def arrays(request: pytest.FixtureRequest, library: Any) -> Arrays:
    """Each library in each precision."""
    return Arrays(library, request.param)


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch", reason="torch is not installed: its arrays were not tested")


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20130623)


@pytest.fixture
def folder_of_two(tmp_path, monkeypatch, rng):
    """A working folder with two small pictures."""
    monkeypatch.chdir(tmp_path)
    Path("photos").mkdir()
    for name, side in {"a.png": 16, "b.png": 32}.items():
        Image.fromarray(rng.integers(90, 160, (side, side), dtype=np.uint8)).save(f"photos/{name}")
    return tmp_path


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
