"""A bounded part of the campaigns of `fuzz`, which attack the package in child processes."""

import sys

import pytest

from fuzz.runner import run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        sys.platform != "linux", reason="memory and processes are looked at as Linux shows them"
    ),
]


@pytest.mark.parametrize(("campaign", "n_cases"), [("files", 1500), ("kills", 12)])
def test_nothing_is_found(campaign, n_cases):
    report = run(campaign, n_cases, seed=1)
    assert report.n_cases == n_cases
    assert not report.findings, report.as_text()
