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

from sedil.engines import portable
from sedil.engines.contract import Shrinkage
from sedil.match_grid import MatchGrid
from sedil.patch_grid import PatchGrid

image = rng.integers(0, 50, (1, 30, 31)).astype(np.float32)
noise = np.full((30, 31), 30, np.float32)
for side, n_members in ((6, 40), (5, 20), (3, 30)):  # short sides of 36, 20 and 9: no multiples of 16
    grid = MatchGrid(PatchGrid((30, 31), (side, side), 3), (13, 15))
    for box in grid.grid.boxes(40):
        groups = fused.ENGINE.match_box(grid, image, n_members, box, None)
        other = portable.ENGINE.match_box(grid, image, n_members, box, None)
        assert np.array_equal(np.sort(groups.members), np.sort(other.members))
        ours, theirs = (
            engine.clean_groups(groups, image, noise, Shrinkage(0.58, 1.0, 2)).total
            for engine in (fused.ENGINE, portable.ENGINE)
        )
        assert np.abs(ours - theirs).max() < 1e-4 * theirs.max()
"""


def test_results_are_as_good_with_vectors_of_eight(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "OMP_NUM_THREADS": "1"}
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
