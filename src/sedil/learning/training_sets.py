"""Which engine learns from given patches, and the patches in its layout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from sedil.arrays import Array
from sedil.engines import choose_engine
from sedil.engines.contract import Effort, TrainingSet
from sedil.engines.portable.training import PortableTrainingSet

EngineName = Literal["fused", "portable"]

FIRST_CODES = Effort(tolerance=1e-2, max_iterations=50)  # codes to start from need not be exact


def choose_training_engine(
    name: str | None, patches: Array, n_atoms: Sequence[int], *, masked: bool = False
) -> str:
    """Name of the engine; where entries are missing, the portable one unless the caller wants another."""
    if name is None and masked:
        return "portable"
    chosen = choose_engine(name, patches, n_atoms)
    if chosen == "fused" and patches.dtype != np.float32:
        raise ValueError('engine="fused" computes in float32: leave out engine="fused" or dtype="float64".')
    if chosen == "fused" and masked:
        raise ValueError('engine="fused" cannot learn from missing entries: leave engine out.')
    return chosen


def training_set(
    name: str, patches: Array, n_atoms: Sequence[int], mask: Array | None = None, threads: int | None = None
) -> TrainingSet:
    """Patches in the layout of the engine of that name; missing entries, True in `mask`, must hold zero."""
    if name == "portable":
        return PortableTrainingSet(patches, mask)
    from sedil.engines.fused.training import FusedTrainingSet

    return FusedTrainingSet(patches, n_atoms, threads)
