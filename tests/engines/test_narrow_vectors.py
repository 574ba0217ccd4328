"""The fused engine as on a machine without AVX-512: vectors of 8 lanes, two tiles across a block."""

import os
import subprocess
import sys

SCRIPT = """
import llvmlite.binding as binding
features, binding.get_host_cpu_features = binding.get_host_cpu_features, dict
from sedil.engines.fused.kernels import tiles, vectors
binding.get_host_cpu_features = features  # Numba asks as well
assert (vectors.LANES, tiles.COLUMNS, vectors.WIDTH) == (8, 16, 32)

import numpy as np
from sedil.engines import fused
from sedil.engines.contract import Effort, L1Problem
from sedil.engines.portable.l1 import LassoProblem
from sedil.arrays import pack

rng = np.random.default_rng(0)
for sizes in ([(5, 9)], [(4, 7), (3, 6)], [(3, 5), (2, 4), (3, 4)]):
    factors = [rng.standard_normal(size) for size in sizes]
    factors = [(factor / np.linalg.norm(factor, axis=0)).astype(np.float32) for factor in factors]
    patches = rng.standard_normal((45, *(length for length, _ in sizes))).astype(np.float32)
    problem = LassoProblem(
        [factor.astype(np.float64) for factor in factors], pack(patches.astype(np.float64)), 0.3
    )
    for solver in ("fista", "admm", "descent"):
        found = fused.ENGINE.solve_l1(L1Problem(factors, patches, 0.3), Effort(1e-4, 6000), solver)
        gap = problem.relative_gap(pack(found.codes.astype(np.float64))).max()
        assert gap < 1.1e-4, (sizes, solver, gap)
"""


def test_codes_are_as_good_with_vectors_of_eight(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "OMP_NUM_THREADS": "1"}
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
