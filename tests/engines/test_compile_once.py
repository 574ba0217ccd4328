"""Compiling takes seconds on a new machine: no kernel is compiled twice for what is one and the same."""

import os
import subprocess
import sys

SCRIPT = """
import importlib, pkgutil
from numba.extending import is_jitted
import numpy as np, sedil, sedil.engines.fused.kernels as fused

patches = np.random.default_rng(0).standard_normal((40, 4, 4)).astype(np.float32)
dictionary = sedil.odct((4, 4), (6, 6)).like(patches)
for solver in ("descent", "fista"):
    codes = sedil.sparse_code(dictionary, patches, 0.5, solver=solver)
    sedil.sparse_code(dictionary, patches, 0.5, solver=solver, initial=codes)
sedil.denoise(patches.reshape(32, 20), 1.0, dictionary)
sedil.learn(patches, (6, 6), max_iterations=2, random_state=0)
for module in pkgutil.iter_modules(fused.__path__):
    for name, value in vars(importlib.import_module(f"sedil.engines.fused.kernels.{module.name}")).items():
        for signature in value.signatures[1:] if is_jitted(value) else ():
            print(module.name, name, signature)
"""


def test_every_kernel_is_compiled_for_one_signature(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "OMP_NUM_THREADS": "1"}
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True
    )
    assert run.stdout == ""
