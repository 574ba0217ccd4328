"""What the balanced metric buys: the paper's preset with both metrics, same start, same iterations.

Usage: python benchmarks/metric.py --data DATA [--patches 40000] [--iterations 300]
Writes results/metric.csv.
"""

import argparse
from pathlib import Path

import numpy as np
from rows import write_rows

import sedil
from sedil.image_files.grey_images import read_grey

IMAGES = ("couple", "hill", "man", "jetplane")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds images/train")
    parser.add_argument("--patches", type=int, default=40_000)
    parser.add_argument("--iterations", type=int, default=300)
    parser.add_argument("--output", type=Path, default=Path("results/metric.csv"))
    arguments = parser.parse_args()

    images = [read_grey(arguments.data / "images/train" / f"{name}.png") for name in IMAGES]
    patches = sedil.sample_patches(images, (8, 8), arguments.patches, random_state=0)
    patches = sedil.normalize_patches(patches)
    rows = [measure(metric, patches, arguments.iterations) for metric in ("balanced", "paper")]
    write_rows(arguments.output, rows)
    ratio = rows[0]["objective"] / rows[1]["objective"]
    print(f"balanced / paper: {ratio:.3f} (bar: at most 0.25)")


def measure(metric: str, patches: np.ndarray, iterations: int) -> dict:
    result = sedil.learn(
        patches,
        (16, 16),
        preset="paper",
        metric=metric,
        max_iterations=iterations,
        tolerance=0,
        random_state=0,
    )
    print(metric, result, sep="\n")
    objective = result.history["objective"]
    lengths = [np.linalg.norm(factor, axis=0) for factor in result.dictionary.factors]
    return {
        "metric": metric,
        "n_patches": len(patches),
        "n_iterations": result.n_iterations,
        "objective": result.objective,
        **{term: result.history[term][-1] for term in ("data", "sparsity", "coherence")},
        "coefficients_above_0.01": np.count_nonzero(np.abs(result.codes) > 0.01) / len(patches),
        "envelope_is_monotone": bool(np.all(objective[1:] <= np.maximum.accumulate(objective)[:-1])),
        "worst_column_length": max(abs(length - 1).max() for length in lengths),
        "all_finite": bool(np.all(np.isfinite(objective))),
        "n_evaluations": result.n_evaluations,
        "seconds": round(result.seconds, 1),
        "sedil": sedil.__version__,
    }


if __name__ == "__main__":
    main()
