"""Dictionaries of peers on their way, as dictionaries of sedil."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sedil.dictionary import SeparableDictionary


class Look(NamedTuple):
    """A dictionary on its way: seconds of learning so far."""

    seconds: float
    dictionary: SeparableDictionary


def unstructured(atoms: np.ndarray, side: int) -> SeparableDictionary:
    """Atoms (entries, atoms) of another library as a dictionary, for patches of so many pixels a side."""
    used = atoms[:, np.linalg.norm(atoms, axis=0) > 0]
    return SeparableDictionary(
        [np.ascontiguousarray(used, dtype=np.float32)], normalize=True, signal_shape=(side, side)
    )


def side_of(patches: np.ndarray) -> int:
    """Pixels a side of square patches that are rows."""
    return round(patches.shape[1] ** 0.5)
