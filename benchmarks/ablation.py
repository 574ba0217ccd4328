"""What each departure from the paper buys, on planted dictionaries (the case "2 axes" of planted.py).

Usage: python benchmarks/ablation.py [--seeds 12]
Writes results/ablation.csv.
"""

import argparse
from pathlib import Path
from unittest import mock

import numpy as np
from planted import CASES, plant, share_found
from rows import write_rows

import sedil
from sedil.learning.defaults import METRICS
from sedil.manifold import ProductManifold


def codes_only(patch_shape, n_atoms, n_patches, energy) -> ProductManifold:
    """Codes weighed by 1/m, factors as in the paper."""
    return ProductManifold(1 / n_patches, (1.0,) * len(n_atoms))


VARIANTS = {
    "default": {},
    "no warm-up": {"warm_up": 0},
    "metric: codes by 1/m only": {"metric": "codes only"},
    "metric: paper": {"metric": "paper"},
    "metric: paper, no warm-up": {"metric": "paper", "warm_up": 0},
    "monotone line search": {"eta": 0.0},
    "start from data": {"initial": "data"},
}


def measure(variant: str, seed: int) -> dict:
    truth, patches = plant(CASES[0], seed)
    result = sedil.learn(patches, CASES[0].atoms, random_state=seed, max_iterations=600, **VARIANTS[variant])
    return {
        "variant": variant,
        "seed": seed,
        "share_found": share_found(truth, result.dictionary),
        "objective": result.objective,
        "n_iterations": result.n_iterations,
        "evaluations_per_iteration": result.n_evaluations / result.n_iterations,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=12)
    parser.add_argument("--output", type=Path, default=Path("results/ablation.csv"))
    arguments = parser.parse_args()
    with mock.patch.dict(METRICS, {"codes only": codes_only}):
        rows = [measure(variant, seed) for variant in VARIANTS for seed in range(arguments.seeds)]
    write_rows(arguments.output, rows)
    for variant in VARIANTS:
        mine = [row for row in rows if row["variant"] == variant]
        shares = [row["share_found"] for row in mine]
        cost, evaluations = (
            np.mean([row[k] for row in mine]) for k in ("objective", "evaluations_per_iteration")
        )
        print(
            f"{variant:28s} found: median {np.median(shares):.2f} mean {np.mean(shares):.2f}"
            f"  cost {cost:.4f}  evaluations per iteration {evaluations:.2f}"
        )


if __name__ == "__main__":
    main()
