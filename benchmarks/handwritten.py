"""What the code written in LLVM's own vectors gains over the same in plain loops over contiguous lanes.

Usage: python benchmarks/handwritten.py [--repeats 9] [--only tile,clear]
Writes results/handwritten.csv: for each piece and each row of the benchmark, the time with the piece in plain
loops over the time as it is. Each variant runs in a process of its own, on one thread; all of them take turns,
and processor time is counted, so that other work on the machine matters little.
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
from pathlib import Path

import numpy as np
from numba import carray, types
from numba.extending import intrinsic
from rows import write_rows

import sedil
import sedil.engines.fused.kernels as package
from sedil.engines.fused.kernels.blocks import after_last_axis, analyze, synthesize_last_axis
from sedil.engines.fused.kernels.decorators import inlined, inner
from sedil.engines.fused.kernels.llvm import FLOAT, LANES, WIDTH, address
from sedil.engines.fused.kernels.tile import COLUMNS, PAIRS, ROWS

SIGMA = 20.0
_BYTES = 4


@intrinsic
def _pointer(typing_context, place):
    def generate(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], FLOAT.as_pointer())

    return types.CPointer(types.float32)(types.intp), generate


@inlined
def floats(place, count):
    """The array that begins at an address."""
    return carray(_pointer(place), count)


def plain_tile_of(n_rows):
    @inlined
    def tile(out, out_step, matrix, matrix_step, source, source_step, n_terms):
        for row in range(n_rows):
            sums = floats(out + _BYTES * row * out_step, COLUMNS)
            entries = floats(matrix + _BYTES * row * matrix_step, n_terms)
            for column in range(COLUMNS):
                sums[column] = 0
            for k in range(n_terms):
                values = floats(source + _BYTES * k * source_step, COLUMNS)
                for column in range(COLUMNS):
                    sums[column] += entries[k] * values[column]

    return tile


@inlined
def plain_pairs(out, out_i, out_j, left, left_i, left_gap, right, right_j, right_gap, run, runs):
    for i in range(PAIRS[0]):
        for j in range(PAIRS[1]):
            sums = floats(out + _BYTES * (i * out_i + j * out_j), LANES)
            at_left, at_right = left + _BYTES * i * left_i, right + _BYTES * j * right_j
            for _ in range(runs):
                for _ in range(run):
                    one, other = floats(at_left, LANES), floats(at_right, LANES)
                    for lane in range(LANES):
                        sums[lane] += one[lane] * other[lane]
                    at_left, at_right = at_left + _BYTES * LANES, at_right + _BYTES * LANES
                at_left, at_right = at_left + _BYTES * left_gap, at_right + _BYTES * right_gap


@inner
def plain_step(operator, lanes, codes, before, image, step, tests):
    """The step apart from the products around it."""

    n_atoms = len(lanes.thresholds)
    analyze(operator, lanes.residual, lanes.slope, lanes.room)
    now, new = floats(codes, n_atoms * WIDTH), floats(before, n_atoms * WIDTH)
    slope = lanes.slope.reshape(-1)
    for atom in range(n_atoms):
        wall = step * lanes.thresholds[atom]
        first = atom * WIDTH
        for lane in range(WIDTH):
            code = now[first + lane]
            ahead = code + lanes.weights[lane] * (code - new[first + lane])
            moved = ahead + step * slope[first + lane]
            following = moved - min(max(moved, -wall), wall)
            if tests:
                lanes.uphill[lane] += (ahead - following) * (following - code)
            new[first + lane] = following
    latest = lanes.codes[0 if address(lanes.codes[0]) == before else 1]
    target = after_last_axis(operator, image, lanes.room)
    synthesize_last_axis(operator, latest, target)


@inlined
def plain_add_scaled(out, scale, source, n_vectors):
    sums, values = floats(out, n_vectors * LANES), floats(source, n_vectors * LANES)
    for entry in range(len(sums)):
        sums[entry] += scale * values[entry]


@inlined
def plain_clear(out, n_vectors):
    values = floats(out, n_vectors * LANES)
    for entry in range(len(values)):
        values[entry] = 0


@inlined
def plain_subtract_and_compare(out, target, product, inverse, n_vectors):
    count = n_vectors * LANES
    left, wanted, found, scale = (
        floats(out, count),
        floats(target, count),
        floats(product, count),
        floats(inverse, count),
    )
    excess = floats(product, count)
    for entry in range(count):
        left[entry] = wanted[entry] - found[entry]
    for entry in range(count):
        excess[entry] = abs(left[entry]) * scale[entry]
    bits = excess.view(np.int32)
    most = np.int32(0)
    for entry in range(count):
        most = max(most, bits[entry])
    for entry in range(count):
        if bits[entry] == most:
            return excess[entry]
    return excess[0]


@inlined
def plain_lanes_above(values, inverse, limit):
    value, scale = floats(values, LANES), floats(inverse, LANES)
    some = np.int32(0)
    for lane in range(LANES):
        some |= np.int32(abs(value[lane]) * scale[lane] >= limit)
    if some == 0:
        return 0
    above = 0
    for lane in range(LANES):
        above |= np.int64(abs(value[lane]) * scale[lane] >= limit) << lane
    return above


@inlined
def plain_residual_ahead(out, patches, known, image, before, weights, n_rows):
    count = n_rows * WIDTH
    left, patch, mask = floats(out, count), floats(patches, count), floats(known, count)
    now, earlier, weight = floats(image, count), floats(before, count), floats(weights, WIDTH)
    for row in range(n_rows):
        for lane in range(WIDTH):
            entry = row * WIDTH + lane
            ahead = now[entry] + weight[lane] * (now[entry] - earlier[entry])
            left[entry] = (patch[entry] - ahead) * mask[entry]


PIECES = {
    "as it is": {},
    "tile": {
        "tile_of_rows": plain_tile_of(ROWS),
        "tile_of_four": plain_tile_of(4),
        "tile_of_one": plain_tile_of(1),
    },
    "pairs": {"pairs_of_many": plain_pairs},
    "step_tile": {"take_step": plain_step},
    "add_scaled": {"add_scaled": plain_add_scaled},
    "clear": {"clear": plain_clear},
    "subtract_and_compare": {"subtract_and_compare": plain_subtract_and_compare},
    "lanes_above": {"lanes_above": plain_lanes_above},
    "residual_ahead": {"residual_ahead": plain_residual_ahead},
    "passes": {
        "add_scaled": plain_add_scaled,
        "clear": plain_clear,
        "subtract_and_compare": plain_subtract_and_compare,
        "lanes_above": plain_lanes_above,
        "residual_ahead": plain_residual_ahead,
    },
}


def replace(piece):
    """Put the plain loops in place of a piece, in all modules, before anything is compiled."""
    for module in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{module.name}")
        for name, twin in PIECES[piece].items():
            if hasattr(module, name):
                setattr(module, name, twin)


def tasks():
    """What is timed: rows of ``sedil bench``, somewhat smaller."""
    from sedil.learning.fused import FusedLearning
    from sedil_studies.bench.kernels import block_loops
    from skimage import data

    from sedil.learning.defaults import from_data
    from sedil.learning.initial import initial_factors

    rng = np.random.default_rng(0)
    clean = data.camera().astype(np.float32)[100:292, 150:342]
    noisy = clean + SIGMA * rng.standard_normal(clean.shape).astype(np.float32)
    patches = np.lib.stride_tricks.sliding_window_view(noisy, (8, 8)).reshape(-1, 8, 8)[::3]
    patches = np.ascontiguousarray(patches - patches.mean(axis=(1, 2), keepdims=True))
    odct = sedil.odct((8, 8), (16, 16)).like(patches)
    unit = sedil.normalize_patches(patches)
    factors = initial_factors("random", unit, (16, 16), rng)
    learning = FusedLearning(unit, (16, 16), from_data((8, 8), (16, 16), 1.0), 1)
    codes = learning.correlations(factors)
    still, gradient = np.zeros_like(codes), np.zeros_like(codes)

    def code(multiple, **options):
        return lambda: sedil.sparse_code(
            odct, patches, multiple * SIGMA, tolerance=1e-3, threads=1, **options
        )

    def iterate(side):
        loop = block_loops(sedil.odct((side, side), (2 * side, 2 * side)).like(patches).factors).fista
        return lambda: loop(200_000 // side**2)

    def denoise(**options):
        return lambda: sedil.denoise(noisy, SIGMA, threads=1, **options)

    return {
        "coding: descent, penalty 1 sigma": code(1.0, solver="descent"),
        "coding: descent, penalty 2 sigma": code(2.0, solver="descent"),
        "coding: FISTA": code(2.0, solver="fista"),
        "coding: ADMM": code(2.0, solver="admm"),
        "denoising: refit, ODCT": denoise(dictionary=odct),
        "denoising: pursuit, ODCT": denoise(dictionary=odct, method="pursuit"),
        "denoising: defaults": denoise(),
        **{f"peak: FISTA, {side}x{side}": iterate(side) for side in (8, 12, 16)},
        "cost": lambda: learning.gradient_along(learning.place(factors), codes, still, 0.0, gradient, 1.0),
    }


def serve(piece):
    """Time the row that standard input asks for, again and again."""
    replace(piece)
    work = tasks()
    chosen = os.environ.get("ROWS")
    work = {
        name: task
        for name, task in work.items()
        if not chosen or any(part in name for part in chosen.split(","))
    }
    for name in work:
        work[name]()
    print(json.dumps(list(work)), flush=True)
    for line in sys.stdin:
        began = time.process_time()
        work[line.strip()]()
        print(time.process_time() - began, flush=True)


class Variant:
    """A process with one piece in plain loops."""

    def __init__(self, piece, folder):
        environment = os.environ | {"NUMBA_CACHE_DIR": str(Path(folder) / piece), "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve", piece],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.rows = json.loads(self.process.stdout.readline())

    def time(self, row):
        self.process.stdin.write(f"{row}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("results/handwritten.csv"))
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--only")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve(arguments.serve)
        return
    pieces = list(PIECES) if not arguments.only else ["as it is", *arguments.only.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        variants = {piece: Variant(piece, folder) for piece in pieces}
        rows = []
        for row in variants["as it is"].rows:
            seconds = {piece: [] for piece in pieces}
            for _ in range(arguments.repeats):
                for piece, variant in variants.items():
                    seconds[piece].append(variant.time(row))
            medians = {piece: min(values) for piece, values in seconds.items()}
            ratios = {piece: round(medians[piece] / medians["as it is"], 2) for piece in pieces[1:]}
            rows.append({"row": row, "seconds": round(medians["as it is"], 3), **ratios})
            print(rows[-1], flush=True)
        for variant in variants.values():
            variant.process.stdin.close()
            variant.process.wait()
    write_rows(arguments.output, rows)


if __name__ == "__main__":
    main()
