"""The planted recovery of benchmarks/planted.py, at full size."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks/planted.py"


@pytest.fixture(scope="module")
def planted():
    spec = importlib.util.spec_from_file_location("planted_benchmark", BENCHMARK)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize("case", [0, 1], ids=["no noise", "30 dB"])
def test_most_planted_atoms_are_found(planted, case):
    shares = [planted.recover(planted.CASES[case], seed)["share_found"] for seed in range(3)]
    assert np.median(shares) >= 0.9
