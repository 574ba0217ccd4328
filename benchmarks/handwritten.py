"""What the code written in LLVM's own vectors gains over the same in plain loops over contiguous lanes.

Usage: python benchmarks/handwritten.py [--repeats 9]
Writes results/handwritten.csv: for each row of ``sedil bench``, somewhat smaller, the seconds as it is, and
the time with a piece in plain loops in multiples of that. Each variant runs in a process of its own, on one
thread; they take turns, and the least processor time counts, so that other work on the machine matters less.
"""

import argparse
import importlib
import json
import os
import pkgutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from numba import types
from numba.extending import intrinsic
from rows import write_rows
from skimage import data

import sedil
import sedil.engines.fused.kernels as package
from sedil.engines.fused.kernels import differences
from sedil.engines.fused.kernels.compilation import inlined
from sedil.engines.fused.kernels.tiles import COLUMNS, FLOAT, INDEX, PAIRS, ROWS
from sedil.engines.fused.kernels.vectors import BYTES, LANES
from sedil.engines.fused.training import FusedTrainingSet
from sedil.learning.defaults import from_data
from sedil.learning.initial import initial_factors

SIGMA = 20.0
AS_IT_IS = "as it is"


def values_of(type_, llvm_type):
    @intrinsic
    def values(typing_context, address):
        """The values from an address on."""

        def generate(context, builder, signature, arguments):
            return builder.inttoptr(arguments[0], llvm_type.as_pointer())

        return types.CPointer(type_)(types.intp), generate

    return values


floats, integers = values_of(types.float32, FLOAT), values_of(types.int64, INDEX)


def plain_tile_of(n_rows):
    @inlined
    def tile(out, out_step, matrix, matrix_step, source, source_step, n_terms):
        for row in range(n_rows):
            sums = floats(out + BYTES * row * out_step)
            entries = floats(matrix + BYTES * row * matrix_step)
            for column in range(COLUMNS):
                sums[column] = 0
            for k in range(n_terms):
                values = floats(source + BYTES * k * source_step)
                for column in range(COLUMNS):
                    sums[column] += entries[k] * values[column]

    return tile


def plain_pairs_of(n_left, n_right):
    @inlined
    def pairs(out, left, right, run, runs):
        for i in range(n_left):
            for j in range(n_right):
                sums = floats(out[0] + BYTES * (i * out[1] + j * out[2]))
                at_left, at_right = left[0] + BYTES * i * left[1], right[0] + BYTES * j * right[1]
                for _ in range(runs):
                    for _ in range(run):
                        one, other = floats(at_left), floats(at_right)
                        for lane in range(LANES):
                            sums[lane] += one[lane] * other[lane]
                        at_left, at_right = at_left + BYTES * LANES, at_right + BYTES * LANES
                    at_left, at_right = at_left + BYTES * left[2], at_right + BYTES * right[2]

    return pairs


def plain_differences_of(n_rows):
    @inlined
    def differences(out, out_step, first, offsets, patch, entries, n_entries):
        own, places = floats(patch), integers(entries)
        for row in range(n_rows):
            sums = floats(out + BYTES * row * out_step)
            begin = first + BYTES * integers(offsets)[row]
            for lane in range(LANES):
                sums[lane] = 0
            for k in range(n_entries):
                values = floats(begin + BYTES * places[k])
                for lane in range(LANES):
                    sums[lane] += (values[lane] - own[places[k]]) ** 2

    return differences


TILES = {"tile_of_rows": ROWS, "tile_of_four": 4, "tile_of_one": 1}
PIECES = {
    AS_IT_IS: {},
    "tiles in plain loops": {name: plain_tile_of(n_rows) for name, n_rows in TILES.items()},
    "pairs in plain loops": {
        "pairs_of_many": plain_pairs_of(*PAIRS),
        "pairs_of_one": plain_pairs_of(1, 1),
    },
    "differences in plain loops": {
        "differences_of_rows": plain_differences_of(differences.ROWS),
        "differences_of_one": plain_differences_of(1),
    },
}


def replace(piece: str) -> None:
    """Put the plain loops in place of a piece, in all modules, before anything is compiled."""
    for found in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{found.name}")
        for name, twin in PIECES[piece].items():
            if hasattr(module, name):
                setattr(module, name, twin)


def tasks() -> dict[str, Callable[[], object]]:
    """What is timed."""
    rng = np.random.default_rng(0)
    clean = data.camera().astype(np.float32)[100:260, 150:310]
    noisy = clean + SIGMA * rng.standard_normal(clean.shape).astype(np.float32)
    patches = np.lib.stride_tricks.sliding_window_view(noisy, (8, 8)).reshape(-1, 8, 8)[::3]
    patches = np.ascontiguousarray(patches - patches.mean(axis=(1, 2), keepdims=True))
    odct = sedil.odct((8, 8), (16, 16)).like(patches)
    cube = np.stack([noisy[first : first + 32, :32] for first in range(32)])
    code = partial(sedil.sparse_code, odct, patches, tolerance=1e-3, threads=1)
    denoise = partial(sedil.denoise, noisy, SIGMA, threads=1)
    return {
        "coding, descent, penalty 1 sigma": partial(code, SIGMA, solver="descent"),
        "coding, descent, penalty 2 sigma": partial(code, 2 * SIGMA, solver="descent"),
        "coding, FISTA": partial(code, 2 * SIGMA, solver="fista"),
        "coding, ADMM": partial(code, 2 * SIGMA, solver="admm"),
        "denoising, refit, ODCT": partial(denoise, odct),
        "denoising, pursuit, ODCT": partial(denoise, odct, method="pursuit"),
        "denoising, quick": partial(denoise, method="quick"),
        "denoising, groups": denoise,
        "denoising, groups, volume": partial(sedil.denoise, cube, SIGMA, threads=1),
        "cost": cost_of_learning(sedil.normalize_patches(patches), rng),
    }


def cost_of_learning(patches: np.ndarray, rng: np.random.Generator) -> Callable[[], object]:
    factors = initial_factors("random", patches, (16, 16), rng)
    training_set = FusedTrainingSet(patches, (16, 16), threads=1)
    codes = training_set.correlations(factors)
    penalty, gradient = from_data((8, 8), (16, 16), 1.0).penalty, np.zeros_like(codes)

    def evaluate() -> None:
        for _ in range(5):
            training_set.cost_and_gradient(factors, codes, penalty, 1.0, gradient)

    return evaluate


def serve(piece: str) -> None:
    """Time the rows that standard input asks for."""
    replace(piece)
    work = tasks()
    for task in work.values():
        task()
    print(json.dumps(list(work)), flush=True)
    for line in sys.stdin:
        began = time.process_time()
        work[line.strip()]()
        print(time.process_time() - began, flush=True)


class Variant:
    """A process with one piece in plain loops."""

    def __init__(self, piece: str, folder: str) -> None:
        environment = os.environ | {"NUMBA_CACHE_DIR": str(Path(folder) / piece), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, __file__, "--serve", piece]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(command, env=environment, text=True, **pipes)
        self.rows = json.loads(self.process.stdout.readline())

    def time(self, row: str) -> float:
        self.process.stdin.write(f"{row}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def end(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("results/handwritten.csv"))
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve(arguments.serve)
        return
    with tempfile.TemporaryDirectory() as folder:
        variants = {piece: Variant(piece, folder) for piece in PIECES}
        rows = [measure(row, variants, arguments.repeats) for row in variants[AS_IT_IS].rows]
        for variant in variants.values():
            variant.end()
    write_rows(arguments.output, rows)


def measure(row: str, variants: dict[str, Variant], repeats: int) -> dict[str, object]:
    rounds = [{piece: variant.time(row) for piece, variant in variants.items()} for _ in range(repeats)]
    least = {piece: min(each[piece] for each in rounds) for piece in variants}
    plain = {piece: round(least[piece] / least[AS_IT_IS], 2) for piece in variants if piece != AS_IT_IS}
    found = {"row": row, "seconds": round(least[AS_IT_IS], 4), **plain}
    print(found, flush=True)
    return found


if __name__ == "__main__":
    main()
