"""Samples one a row, as everybody has them, and in the blocks that kernels work on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sedil.engines.fused.kernels import cost
from sedil.engines.fused.kernels.blocks import Operator
from sedil.engines.fused.kernels.vectors import WIDTH

_AT_A_TIME = 64 * WIDTH  # rows, which then stay near the processor


def analyze_rows(factors: Sequence[np.ndarray], patches: np.ndarray) -> np.ndarray:
    """Inner products of patches, one a row, with all atoms."""
    operator = Operator.create(factors)
    workspace = cost.CostWorkspace.create(operator)
    n_atoms = int(np.prod(operator.counts))
    codes = np.empty((len(patches), n_atoms), np.float32)
    for start in range(0, len(patches), _AT_A_TIME):
        part = slice(start, start + _AT_A_TIME)
        blocks = to_blocks(patches[part])
        found = np.empty((len(blocks), n_atoms, WIDTH), np.float32)
        cost.analyze_blocks(operator, blocks, found, workspace)
        codes[part] = from_blocks(found, len(codes[part]))
    return codes


def to_blocks(flat: np.ndarray) -> np.ndarray:
    """``(n, entries) -> (blocks, entries, WIDTH)``, filled up with zeros."""
    n_samples, n_entries = flat.shape
    n_full, n_left = divmod(n_samples, WIDTH)
    blocks = np.zeros((n_full + (n_left > 0), n_entries, WIDTH), np.float32)
    full = flat[: n_samples - n_left].reshape(n_full, WIDTH, n_entries)
    blocks[:n_full] = full.transpose(0, 2, 1)
    if n_left:
        blocks[-1, :, :n_left] = flat[n_samples - n_left :].T
    return blocks


def from_blocks(blocks: np.ndarray, n_samples: int) -> np.ndarray:
    """Inverse of `to_blocks`."""
    return blocks.transpose(0, 2, 1).reshape(-1, blocks.shape[1])[:n_samples]
