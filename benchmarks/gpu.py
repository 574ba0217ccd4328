"""Learning on a CUDA device: agrees with the CPU, stays on the device, and how long it takes.

Usage: python benchmarks/gpu.py [--output results/gpu.json]
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
import torch

import sedil
from sedil_studies.harness.source_commit import source_commit


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("results/gpu.json"))
    arguments = parser.parse_args()
    facts = {"device": torch.cuda.get_device_name(), "torch": torch.__version__, "sedil": sedil.__version__}
    facts["commit"] = source_commit()
    facts["agreement"] = [check_agreement(n_axes) for n_axes in (1, 2, 3, 4)]
    facts["device_to_host_copies_per_iteration"] = copies_per_iteration()
    facts["learning"] = [
        seconds_per_iteration(device, dtype)
        for device in ("cuda", "cpu")
        for dtype in (torch.float32, torch.float64)
    ]
    arguments.output.write_text(json.dumps(facts, indent=1))
    print(json.dumps(facts, indent=1))


def check_agreement(n_axes: int) -> dict:
    patches = np.random.default_rng(0).standard_normal((500, *(4,) * n_axes))
    runs = {}
    for name, array in {"numpy": patches, "cuda": torch.tensor(patches, device="cuda")}.items():
        runs[name] = sedil.learn(array, 6, max_iterations=30, random_state=0)
    factors = runs["cuda"].dictionary.factors
    assert all(factor.device.type == "cuda" and factor.dtype == torch.float64 for factor in factors)
    assert runs["cuda"].codes.device.type == "cuda"
    codes = sedil.sparse_code(runs["cuda"].dictionary, torch.tensor(patches, device="cuda"), 0.5)
    expected = sedil.sparse_code(runs["cuda"].dictionary.like(patches), patches, 0.5)
    return {
        "n_axes": n_axes,
        "objective_difference": abs(runs["cuda"].objective / runs["numpy"].objective - 1),
        "factor_difference": max(
            float(np.abs(mine.cpu().numpy() - theirs).max())
            for mine, theirs in zip(factors, runs["numpy"].dictionary.factors, strict=True)
        ),
        "code_difference": float(np.abs(codes.cpu().numpy() - expected).max()),
    }


def copies_per_iteration() -> dict:
    """Number and largest size of copies from the device while learning."""
    patches = torch.randn(2000, 8, 8, device="cuda")
    sedil.learn(patches, 16, max_iterations=5, random_state=0)
    with torch.profiler.profile(
        activities=list(torch.profiler.supported_activities()), record_shapes=True
    ) as p:
        result = sedil.learn(patches, 16, max_iterations=20, tolerance=0, random_state=0)
    scalars = sum(event.count for event in p.key_averages() if event.key == "aten::_local_scalar_dense")
    to_host = [event for event in p.events() if "Memcpy DtoH" in event.name]
    return {
        "scalars": scalars / result.n_evaluations,
        "copies": len(to_host) / result.n_evaluations,
        "seconds_in_copies": sum(event.device_time for event in to_host) * 1e-6,
    }


def seconds_per_iteration(device: str, dtype: torch.dtype, n_patches: int = 40_000) -> dict:
    iterations = 100 if device == "cuda" else 10
    patches = torch.randn(n_patches, 8, 8, device=device, dtype=dtype)
    sedil.learn(patches, 16, max_iterations=3, random_state=0)
    began = time.perf_counter()
    result = sedil.learn(patches, 16, max_iterations=iterations, tolerance=0, random_state=0)
    if device == "cuda":
        torch.cuda.synchronize()
    seconds = time.perf_counter() - began
    return {
        "device": device,
        "dtype": str(dtype),
        "n_patches": n_patches,
        "seconds_per_iteration": seconds / result.n_iterations,
    }


if __name__ == "__main__":
    main()
