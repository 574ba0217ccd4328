"""The default weights suit any units and patch size: learned against ODCT on patches of other images.

Usage: python benchmarks/defaults.py --data DATA
Writes results/defaults.csv. Both dictionaries code the same held-out patches at the same l1 penalty;
the cost is relative to that of zero codes, so 0 is perfect and 1 useless.
"""

import argparse
from pathlib import Path

import numpy as np
from rows import write_rows

import sedil
from sedil.image_files.grey_images import read_grey

TRAINING = ("couple", "hill", "man", "jetplane")
HELD_OUT = ("lake", "walkbridge", "woman_blonde", "woman_darkhair")
PENALTIES = (0.05, 0.1, 0.2)  # of the length of a patch


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds images/train")
    parser.add_argument("--patches", type=int, default=8_000)
    parser.add_argument("--output", type=Path, default=Path("results/defaults.csv"))
    arguments = parser.parse_args()
    folder = arguments.data / "images/train"
    training = [read_grey(folder / f"{name}.png") for name in TRAINING]
    held_out = [read_grey(folder / f"{name}.png") for name in HELD_OUT]
    rows = [
        measure(side, units, training, held_out, arguments.patches)
        for side in (8, 12, 16)
        for units in (1.0, 255.0)
    ]
    write_rows(arguments.output, rows)


def measure(side: int, units: float, training: list, held_out: list, n_patches: int) -> dict:
    shape, n_atoms = (side, side), (2 * side, 2 * side)
    patches, others = (
        sedil.normalize_patches(sedil.sample_patches(images, shape, count, random_state=0))
        for images, count in ((training, n_patches), (held_out, 1000))
    )
    result = sedil.learn(units * patches, n_atoms, random_state=0)
    row = {"patch": f"{side}x{side}", "units": units, "n_iterations": result.n_iterations}
    row["objective / units^2"] = result.objective / units**2
    row["seconds"] = round(result.seconds, 1)
    for name, dictionary in {"learned": result.dictionary, "odct": sedil.odct(shape, n_atoms)}.items():
        for penalty in PENALTIES:
            row[f"{name} at {penalty}"] = relative_cost(dictionary.like(others), others, penalty)
    print(
        {key: round(value, 4) if isinstance(value, float) else value for key, value in row.items()},
        flush=True,
    )
    return row


def relative_cost(dictionary: sedil.SeparableDictionary, patches: np.ndarray, penalty: float) -> float:
    codes = sedil.sparse_code(dictionary, patches, penalty)
    misfit = np.sum((dictionary.synthesize(codes) - patches) ** 2, dtype=np.float64) / 2
    return float((misfit + penalty * np.abs(codes).sum(dtype=np.float64)) / (np.sum(patches**2) / 2))


if __name__ == "__main__":
    main()
