"""Mini-batches beside the joint learner: held-out cost, time and memory, on photographs.

Usage: python benchmarks/minibatch.py --data DATA [--patches 40000 1000000] [--joint-up-to 40000]
Writes results/minibatch.csv. Each run has a process of its own, so that its peak memory is its own.

The held-out cost is Eq. (16) with codes solved anew for patches of photographs that were not learned from.
For more patches than --joint-up-to the joint learner takes a few iterations only, which tell its time and
memory; the bar is then that of fewer patches. The settings of `learn_minibatch` were chosen on the default
--held-out photographs; results/minibatch-kodak.csv is for six that no setting was chosen on:
--patches 40000 --held-out kodak24/kodim01 kodak24/kodim05 kodak24/kodim09 kodak24/kodim13 kodak24/kodim17
kodak24/kodim21 --output results/minibatch-kodak.csv
"""

import argparse
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rows import write_rows

import sedil
from sedil.image_files.grey_images import read_grey
from sedil.objective import Weights
from sedil.progress import Progress
from sedil_studies.measures.held_out_cost import held_out_terms
from sedil_studies.measures.memory import peak_memory, reset_peak

TRAINING = ("baboon", "cameraman256", "couple", "hill", "jetplane", "man", "walkbridge", "woman_blonde")
HELD_OUT = ("lake", "woman_darkhair")
ATOMS = (16, 16)
NEAR = 1.02  # times the cost at the end of the joint learner from the same start
GROWTH = 1.3  # between the times at which a dictionary is looked at
MISSING = 0.25  # of the entries that `learn_with_holes` sees
PROBE = 3  # iterations of a joint learner that would take too long


class Outcome(NamedTuple):
    """A run: looks are pairs of seconds so far and factors."""

    looks: list[tuple[float, list[np.ndarray]]]
    seconds: float
    cpu_seconds: float
    n_iterations: int
    weights: Weights
    megabytes: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds images/train")
    parser.add_argument("--patches", type=int, nargs="+", default=[40_000, 1_000_000])
    parser.add_argument("--held-out", nargs="+", default=HELD_OUT, help="photographs in images/train")
    parser.add_argument("--joint-up-to", type=int, default=40_000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--output", type=Path, default=Path("results/minibatch.csv"))
    arguments = parser.parse_args()

    held_out = draw(arguments.data, arguments.held_out, 5_000, seed=1)
    bars: dict[str, float] = {}
    rows: list[dict[str, Any]] = []
    for n_patches in arguments.patches:
        probe = {} if n_patches <= arguments.joint_up_to else {"max_iterations": PROBE}
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "patches.npy"
            np.save(file, draw(arguments.data, TRAINING, n_patches, seed=0))
            for initial in ("random", "odct"):
                settings = {"initial": initial, "threads": arguments.threads}
                learners = {learn_jointly: probe, learn_in_batches: {}}
                if not probe:
                    learners[learn_with_holes] = {}
                for learner, limits in learners.items():
                    outcome = in_own_process(learner, file, settings | limits)
                    costs = [cost(factors, held_out, outcome.weights) for _, factors in outcome.looks]
                    if learner is learn_jointly and not probe:
                        bars[initial] = costs[-1]
                    found = row(learner, settings, outcome, costs, bars[initial])
                    rows.append({"n_patches": n_patches, **found})
                    print(rows[-1], flush=True)
                    write_rows(arguments.output, rows)


def draw(data: Path, names: Sequence[str], n_patches: int, seed: int) -> np.ndarray:
    images = [read_grey(data / "images/train" / f"{name}.png") for name in names]
    patches = sedil.sample_patches(images, (8, 8), n_patches, random_state=seed)
    return sedil.normalize_patches(patches)


def row(
    learner: Callable, settings: dict[str, Any], outcome: Outcome, costs: list[float], bar: float
) -> dict[str, Any]:
    """One measurement; `bar` is the joint learner's cost from the same start."""
    near = [seconds for (seconds, _), value in zip(outcome.looks, costs, strict=True) if value <= NEAR * bar]
    return {
        "learner": learner.__name__,
        "initial": settings["initial"],
        "n_iterations": outcome.n_iterations,
        "held_out_cost": round(costs[-1], 6),
        "over_joint": round(costs[-1] / bar, 4),
        "seconds": round(outcome.seconds, 1),
        "cpu_seconds": round(outcome.cpu_seconds, 1),
        "seconds_to_within_2_percent": round(near[0], 2) if near else "",
        "peak_megabytes": round(outcome.megabytes),
        "threads": settings["threads"],
        "sedil": sedil.__version__,
    }


def cost(factors: list[np.ndarray], held_out: np.ndarray, weights: Weights) -> float:
    return held_out_terms(sedil.SeparableDictionary(factors, normalize=True), held_out, weights).total


def in_own_process(learner: Callable[..., Outcome], *arguments: object) -> Outcome:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(learner, arguments)


def learn_jointly(file: Path, settings: dict[str, Any]) -> Outcome:
    return followed(sedil.learn, np.load(file), settings)


def learn_in_batches(file: Path, settings: dict[str, Any]) -> Outcome:
    return followed(sedil.learn_minibatch, file, settings)


def learn_with_holes(file: Path, settings: dict[str, Any]) -> Outcome:
    patches = np.load(file)
    patches[np.random.default_rng(0).random(patches.shape) < MISSING] = np.nan
    return followed(sedil.learn_minibatch, patches, settings)


def followed(learner: Callable, data: np.ndarray | Path, settings: dict[str, Any]) -> Outcome:
    """Learn with a look now and then, after a little run that compiles."""
    learner(np.random.default_rng(0).standard_normal((64, 8, 8)).astype(np.float32), ATOMS, **settings)
    reset_peak()
    began = time.process_time()
    looks: list[tuple[float, list[np.ndarray]]] = []

    def look(progress: Progress) -> None:
        seconds = progress.record.seconds
        if not looks or seconds >= GROWTH * looks[-1][0]:
            looks.append((seconds, [np.array(factor) for factor in progress.factors]))

    result = learner(data, ATOMS, random_state=0, progress=look, **settings)
    looks.append((result.seconds, list(result.dictionary.factors)))
    spent = time.process_time() - began
    return Outcome(looks, result.seconds, spent, result.n_iterations, result.weights, peak_memory() / 1e6)


if __name__ == "__main__":
    main()
