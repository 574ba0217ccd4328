"""Loops around the kernels of the fused engine, so that calls from Python do not count.

Numba is imported with this module: import it inside functions only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from sedil.engines.fused.kernels.blocks import Operator, analyze, synthesize
from sedil.engines.fused.kernels.compilation import kernel
from sedil.engines.fused.kernels.lane_l1 import L1Lanes, Splitting, iterate_fista, split_once
from sedil.engines.fused.kernels.tiles import COLUMNS, ROWS, tile_of_rows

_TILES_PER_CALL = 64


@kernel
def multiply_tiles(out: Any, matrix: Any, source: Any, source_step: int, n_terms: int, times: int) -> None:
    """The innermost product again and again, on the same few numbers."""
    for _ in range(times):
        for _ in range(_TILES_PER_CALL):
            tile_of_rows(
                out.ctypes.data,
                COLUMNS,
                matrix.ctypes.data,
                n_terms,
                source.ctypes.data,
                source_step,
                n_terms,
            )


@kernel
def multiply_block(operator: Any, lanes: Any, times: int) -> None:
    """Synthesis and analysis of one block again and again, as an iteration of ADMM does them."""
    for _ in range(times):
        synthesize(operator, lanes.codes[0], lanes.residual, lanes.workspace)
        analyze(operator, lanes.residual, lanes.slope, lanes.workspace)


@kernel
def repeat_fista(operator: Any, lanes: Any, times: int) -> None:
    """Iterations of FISTA on one block."""
    iterate_fista(operator, lanes, times)


@kernel
def repeat_admm(operator: Any, lanes: Any, splitting: Any, times: int) -> None:
    """Iterations of ADMM on one block."""
    for _ in range(times):
        split_once(operator, lanes, splitting)


Loop = Callable[[int], None]  # does its work so many times


def tile_loop(n_terms: int, moving: bool = True) -> tuple[Loop, int]:
    """A loop over the innermost product with sums of `n_terms`, and its operations per time.

    If not `moving`, it reads the same columns throughout: nothing but multiply-adds is left.
    """
    out = np.zeros((ROWS, COLUMNS), np.float32)
    matrix = np.ones((ROWS, n_terms), np.float32)
    source = np.ones((n_terms if moving else 1, COLUMNS), np.float32)
    step = COLUMNS if moving else 0

    def loop(times: int) -> None:
        multiply_tiles(out, matrix, source, step, n_terms, times)

    return loop, 2 * _TILES_PER_CALL * ROWS * COLUMNS * n_terms


class BlockLoops(NamedTuple):
    """Loops over one block of random patches: synthesis and analysis, or whole iterations."""

    products: Loop
    fista: Loop
    admm: Loop


def block_loops(factors: Sequence[np.ndarray]) -> BlockLoops:
    """Loops for a dictionary; what an iteration does to the numbers does not matter for its time."""
    operator = Operator.create(factors)
    lanes = L1Lanes.create(operator, 1.0, 0.01)
    lanes.patches[:] = np.random.default_rng(0).standard_normal(lanes.patches.shape)
    splitting = Splitting.create(np.ones(len(lanes.patches)), lanes.codes.shape[1], 1.0, 1.0)
    return BlockLoops(
        partial(multiply_block, operator, lanes),
        partial(repeat_fista, operator, lanes),
        partial(repeat_admm, operator, lanes, splitting),
    )
