"""The planted recovery of benchmarks/planted.py, at full size."""

import numpy as np
import planted
import pytest


@pytest.mark.slow
@pytest.mark.parametrize("case", planted.CASES[:2], ids=lambda case: case.name)
def test_most_planted_atoms_are_found(case):
    shares = [planted.recover(case, seed)["share_found"] for seed in range(3)]
    assert np.median(shares) >= 0.9
