"""What the campaigns of `fuzz` would see; what they find is in test_campaigns."""

import warnings

import numpy as np
import pytest

import sedil
from fuzz.calls import Call
from fuzz.judge import Judge
from fuzz.runner import run


def test_crashes_hangs_and_faults_are_seen_and_the_rest_is_done():
    report = run("broken_campaign", 12, seed=4)
    assert report.n_cases == 12
    assert {kind: [case for case, _ in cases] for kind, cases in report.findings.items()} == {
        "the process ended with SIGSEGV": [3],
        "no end after 1 s": [5],
        "the campaign failed": [7],
        "odd": [9],
    }
    ((_, words),) = report.findings["the process ended with SIGSEGV"]
    assert "case 3 of seed 4" in words
    assert "Segmentation fault" in words


def _changing(values):
    values[0] = 7
    return values


def _warning():
    warnings.warn("careful", stacklevel=1)


def _global_numbers():
    np.random.standard_normal()  # noqa: NPY002


FAULTS = {
    "changes its arguments": (_changing, {"values": np.zeros(3)}),
    "warns: careful": (_warning, {}),
    "changes: random numbers": (_global_numbers, {}),
    "inner ZeroDivisionError": (lambda: 1 / 0, {}),
    "inner ValueError": (lambda: float("abc"), {}),
    "case: not as promised": (lambda: None, {}),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_the_judge_sees(kind):
    function, arguments = FAULTS[kind]
    check = (lambda arguments, result: "not as promised") if kind.startswith("case") else (lambda *_: None)
    outcome = Judge().judge(Call("case", function, arguments, check))
    assert [kind in finding.kind for finding in outcome.findings] == [True]


def test_words_of_ours_are_no_finding():
    outcome = Judge().judge(Call("case", sedil.odct, {"patch_shape": "abc", "n_atoms": 3}, lambda *_: None))
    assert outcome.label == "case: refused"
    assert not outcome.findings
