"""A bounded part of the campaign of `fuzz` that calls functions with Dask arrays."""

import pytest

from fuzz.runner import run

pytest.importorskip("dask.array", reason="Dask is not installed: Dask arrays were not tested")
pytestmark = pytest.mark.slow


def test_calls_with_dask_arrays_of_every_kind():
    report = run("dask", 600, seed=1)
    assert report.n_cases == 600
    assert not report.findings, report.as_text()
