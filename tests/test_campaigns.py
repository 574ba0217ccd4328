"""A bounded part of the campaigns of `fuzz`, which attack the package in child processes.

A few cases of each here, many under the mark `soak`, and as many as you like by ``make fuzz``.
"""

import sys

import pytest

from fuzz.runner import run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        sys.platform != "linux", reason="memory and processes are looked at as Linux shows them"
    ),
]

FEW = {"api": 600, "files": 400, "kills": 4, "bounds": 20}
MANY = {"api": 4000, "files": 1500, "kills": 12, "bounds": 60, "indices": 25}


def nothing_is_found(campaign, n_cases):
    report = run(campaign, n_cases, seed=1)
    assert report.n_cases == n_cases
    assert not report.findings, report.as_text()


@pytest.mark.parametrize("campaign", FEW)
def test_nothing_is_found(campaign):
    nothing_is_found(campaign, FEW[campaign])


@pytest.mark.soak
@pytest.mark.parametrize("campaign", MANY)
def test_nothing_is_found_in_many_cases(campaign):
    nothing_is_found(campaign, MANY[campaign])
