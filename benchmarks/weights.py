"""Why rho = 3 n / E: noisy patches of held-out photographs, coded by OMP over dictionaries of other rho.

Usage: python benchmarks/weights.py --data DATA
Writes results/weights.csv. lambda = 1 / rho throughout; no test image is used.
"""

import argparse
from pathlib import Path

import numpy as np
from defaults import HELD_OUT, TRAINING
from rows import write_rows
from sklearn.linear_model import orthogonal_mp

import sedil
from sedil.image_files.grey_images import read_grey

SIGMA = 20.0
ERROR_GAIN = 1.15  # OMP stops at this many standard deviations of noise per pixel


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds images/train")
    parser.add_argument("--output", type=Path, default=Path("results/weights.csv"))
    arguments = parser.parse_args()
    training, held_out = (
        [read_grey(arguments.data / "images/train" / f"{name}.png") for name in names]
        for names in (TRAINING, HELD_OUT)
    )
    rows = [row for side in (8, 12) for row in measure(side, training, held_out)]
    write_rows(arguments.output, rows)


def measure(side: int, training: list, held_out: list):
    shape, n_atoms = (side, side), (2 * side, 2 * side)
    patches = sedil.normalize_patches(sedil.sample_patches(training, shape, 8000, random_state=0))
    clean = sedil.sample_patches(held_out, shape, 2000, random_state=1).astype(np.float64)
    noisy = clean + SIGMA * np.random.default_rng(2).standard_normal(clean.shape)
    yield row(side, "ODCT", sedil.odct(shape, n_atoms), clean, noisy)
    for multiple in (1.0, 2.0, 3.0, 5.0, 10.0):
        rho = multiple * side**2  # E = 1: the patches have unit length
        result = sedil.learn(patches, n_atoms, sparsity_scale=rho, sparsity_weight=1 / rho, random_state=0)
        yield row(side, f"rho = {multiple:g} n / E", result.dictionary, clean, noisy)


def row(side: int, name: str, dictionary, clean: np.ndarray, noisy: np.ndarray) -> dict:
    matrix = dictionary.like(clean).as_matrix()
    means = noisy.mean(axis=(1, 2), keepdims=True)
    signals = (noisy - means).reshape(len(noisy), -1)
    bound = (ERROR_GAIN * SIGMA) ** 2 * side**2
    estimates = np.zeros_like(signals)
    for estimate, signal in zip(estimates, signals, strict=True):
        if signal @ signal > bound:
            estimate[:] = matrix @ orthogonal_mp(matrix, signal, tol=bound)
    error = np.mean((estimates.reshape(clean.shape) + means - clean) ** 2)
    facts = {"patch": f"{side}x{side}", "dictionary": name, "psnr": 10 * np.log10(255**2 / error)}
    print(facts, flush=True)
    return facts


if __name__ == "__main__":
    main()
