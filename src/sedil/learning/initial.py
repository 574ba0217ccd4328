"""Where learning starts: random, cosine or data atoms, or a given dictionary."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from array_api_compat import array_namespace
from array_api_compat import device as device_of

from sedil import spheres
from sedil.analytic import odct_factor
from sedil.arrays import Array, to_numpy
from sedil.checks import require_choice
from sedil.dictionary import SeparableDictionary

_CANDIDATES = 4096  # fibres of the data to draw atoms from


def random_atoms(patches: Array, axis: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """Uniform on the sphere; what the paper starts from."""
    return spheres.random_point((patches.shape[axis + 1], count), rng)


def cosine_atoms(patches: Array, axis: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """Overcomplete DCT; on an axis of length 1 the only atoms there are."""
    length = patches.shape[axis + 1]
    return odct_factor(length, count) if length > 1 else np.ones((1, count))


def data_atoms(patches: Array, axis: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """Lines of the patches along the axis, drawn at random, scaled to unit length.

    Where the data has too few different lines, random atoms fill up.
    """
    chosen = rng.choice(patches.shape[0], size=min(patches.shape[0], _CANDIDATES), replace=False)
    xp = array_namespace(patches)
    sample = xp.take(patches, xp.asarray(np.sort(chosen), device=device_of(patches)), axis=0)
    lines = np.moveaxis(to_numpy(sample).astype(np.float64), axis + 1, 0).reshape(sample.shape[axis + 1], -1)
    lines = lines[:, rng.permutation(lines.shape[1])]
    atoms: list[np.ndarray] = []
    for line in lines.T:
        length = np.linalg.norm(line)
        if len(atoms) == count:
            break
        if length > 0 and all(abs(atom @ line) < 0.99 * length for atom in atoms):
            atoms.append(line / length)
    missing = count - len(atoms)
    filling = spheres.random_point((lines.shape[0], missing), rng)
    return np.column_stack([*atoms, filling])


STARTS: dict[str, Callable[..., np.ndarray]] = {
    "random": random_atoms,
    "odct": cosine_atoms,
    "data": data_atoms,
}


def initial_factors(
    start: str | SeparableDictionary, patches: Array, n_atoms: Sequence[int], rng: np.random.Generator
) -> tuple[Array, ...]:
    """Factors with unit columns, in the library, precision and device of `patches` ``(n, *patch_shape)``."""
    if isinstance(start, SeparableDictionary):
        wanted = (tuple(patches.shape[1:]), tuple(n_atoms))
        if (start.patch_shape, start.n_atoms) != wanted:
            raise ValueError(
                f"The initial dictionary has patches {start.patch_shape} and atoms {start.n_atoms}, "
                f"but {wanted[0]} and {wanted[1]} are to be learned."
            )
        return start.like(patches).factors
    draw = STARTS[require_choice(start, "initial", tuple(STARTS))]
    factors = [draw(patches, axis, count, rng) for axis, count in enumerate(n_atoms)]
    return SeparableDictionary(factors).like(patches).factors
