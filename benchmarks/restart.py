"""Why FISTA is tested for restart in every second iteration: gaps reached with rarer and rarer tests.

Usage: python benchmarks/restart.py
Writes results/restart.csv: the median and the 95 % quantile of the relative duality gap over patches of a
noisy photograph of scikit-image, after so many iterations.
"""

import argparse
from itertools import product
from pathlib import Path
from unittest.mock import patch

import numpy as np
from rows import write_rows

import sedil
import sedil.engines.portable.l1 as solver
from sedil.arrays import pack
from sedil.engines.portable.l1 import LassoProblem
from sedil.image_files.grey_images import scikit_image_photographs

SIGMA = 20.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("results/restart.csv"))
    arguments = parser.parse_args()
    clean = scikit_image_photographs(["camera"])[0].astype(np.float64)
    noisy = clean + SIGMA * np.random.default_rng(0).standard_normal(clean.shape)
    patches = sedil.sample_patches([noisy], (8, 8), 2000, random_state=0).astype(np.float64)
    shipped = sedil.shipped_dictionary("separable-8x8")
    dictionaries = {"ODCT": sedil.odct((8, 8), (16, 16)), "separable-8x8": shipped}
    rows = [
        {"dictionary": name, **measure(dictionary, patches, multiple * SIGMA, iterations)}
        for (name, dictionary), multiple, iterations in product(dictionaries.items(), (1, 2), (20, 50, 100))
    ]
    write_rows(arguments.output, rows)


def measure(dictionary, patches: np.ndarray, penalty: float, iterations: int) -> dict:
    factors = dictionary.like(patches).factors
    problem = LassoProblem.create(factors, pack(patches), penalty)
    facts = {"penalty": penalty, "iterations": iterations}
    for every in (1, 2, 3, 5, iterations):
        with patch.object(solver, "TEST_EVERY", every):
            gap = solver.fista(problem, 0.0, iterations).relative_gap
        name = "never" if every == iterations else f"every {every}"
        facts[f"median, {name}"] = f"{np.median(gap):.3g}"
        facts[f"95 %, {name}"] = f"{np.quantile(gap, 0.95):.3g}"
    print(facts, flush=True)
    return facts


if __name__ == "__main__":
    main()
