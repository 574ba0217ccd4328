"""Dictionaries that a study learns once and keeps, and how they are told apart."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

import sedil
from sedil.arrays import to_numpy


def learned_once(
    path: Path, recipe: Any, learn: Callable[[], sedil.SeparableDictionary]
) -> sedil.SeparableDictionary:
    """The dictionary in a file if it was learned by this recipe; else it is learned, and saved there.

    Parameters
    ----------
    path : Path
    recipe : lists, dicts, texts and numbers
        All that decides the dictionary; it is kept in the file.
    learn : callable
    """
    if path.exists():
        saved = sedil.load_dictionary(path)
        if saved.info.get("recipe") == recipe:
            return saved
    learned = learn()
    learned.info["recipe"] = recipe
    learned.save(path)
    return learned


def fingerprint_of_atoms(*dictionaries: sedil.SeparableDictionary) -> str:
    """A few letters that change with the atoms: a dictionary learned anew is another setting."""
    digest = sha256()
    for factor in (factor for dictionary in dictionaries for factor in dictionary.factors):
        digest.update(np.ascontiguousarray(to_numpy(factor), dtype=np.float32).tobytes())
    return digest.hexdigest()[:8]


def weights_for_unit_patches(
    scale: float, coherence: float, n_entries: int, n_atoms: tuple[int, ...]
) -> dict[str, Any]:
    """rho, lambda and kappa of Eq. (16) for patches of unit length.

    Parameters
    ----------
    scale : rho as a multiple of the number of entries of a patch; lambda is 1 / rho
    coherence : kappa as a multiple of 1 over the number of pairs of atoms
    n_entries : of a patch
    n_atoms : along each axis
    """
    rho = scale * n_entries
    n_pairs = sum(count * (count - 1) // 2 for count in n_atoms)
    return {"sparsity_scale": rho, "sparsity_weight": 1 / rho, "coherence_weight": coherence / n_pairs}
