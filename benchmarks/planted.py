"""Planted recovery: patches made from a random dictionary, which learning must find again.

Usage: python benchmarks/planted.py [--seeds 5]
Writes results/planted.csv. An atom is found when a learned one correlates with it by at least 0.97.
"""

import argparse
import time
from math import prod
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rows import write_rows

import sedil


class Case(NamedTuple):
    """Factors of shape (side, atoms) on each axis; `nonzeros` standard normal coefficients a patch."""

    name: str
    n_axes: int
    side: int
    atoms: int
    nonzeros: int
    n_patches: int
    snr_db: float = np.inf


CASES = (
    Case("2 axes", 2, 8, 12, 4, 3000),
    Case("2 axes, 30 dB", 2, 8, 12, 4, 3000, 30.0),
    Case("3 axes", 3, 5, 7, 5, 3000),
    Case("3 axes, 30 dB", 3, 5, 7, 5, 3000, 30.0),
)


def plant(case: Case, seed: int) -> tuple[sedil.SeparableDictionary, np.ndarray]:
    rng = np.random.default_rng([2013, seed])
    truth = sedil.SeparableDictionary(
        [rng.standard_normal((case.side, case.atoms)) for _ in range(case.n_axes)], normalize=True
    )
    n_coefficients = prod(truth.n_atoms)
    codes = np.zeros((case.n_patches, n_coefficients))
    for code in codes:
        code[rng.choice(n_coefficients, case.nonzeros, replace=False)] = rng.standard_normal(case.nonzeros)
    patches = truth.synthesize(codes.reshape(-1, *truth.n_atoms))
    noise = np.sqrt(np.mean(patches**2)) * 10 ** (-case.snr_db / 20)
    return truth, patches + noise * rng.standard_normal(patches.shape)


def share_found(truth: sedil.SeparableDictionary, learned: sedil.SeparableDictionary) -> float:
    correlation = np.abs(truth.as_matrix().T @ learned.as_matrix())
    return float(np.mean(correlation.max(axis=1) >= 0.97))


def recover(case: Case, seed: int) -> dict:
    truth, patches = plant(case, seed)
    began = time.perf_counter()
    result = sedil.learn(patches, case.atoms, random_state=seed, max_iterations=1000)
    return {
        "case": case.name,
        "seed": seed,
        "share_found": share_found(truth, result.dictionary),
        "objective": result.objective,
        "n_iterations": result.n_iterations,
        "seconds": round(time.perf_counter() - began, 1),
        "sedil": sedil.__version__,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--output", type=Path, default=Path("results/planted.csv"))
    arguments = parser.parse_args()
    rows = [recover(case, seed) for case in CASES for seed in range(arguments.seeds)]
    write_rows(arguments.output, rows)
    for case in CASES:
        shares = [row["share_found"] for row in rows if row["case"] == case.name]
        print(f"{case.name:14s} median {np.median(shares):.3f}  all {[round(share, 2) for share in shares]}")


if __name__ == "__main__":
    main()
