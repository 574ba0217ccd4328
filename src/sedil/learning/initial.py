"""Where learning starts: random, cosine or data atoms, or a given dictionary."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from numbers import Integral
from typing import NamedTuple

import numpy as np
from array_api_compat import device as device_of

from sedil import spheres
from sedil.analytic import odct_factor
from sedil.arrays import AnyArray, Array, namespace, to_numpy
from sedil.checks import as_generator
from sedil.choices import StartName
from sedil.dictionary import SeparableDictionary
from sedil.errors import DictionaryFileError
from sedil.learning.checkpoint import fingerprint
from sedil.objective import Weights, total_coherence
from sedil.pretrained import DictionaryLike, as_dictionary

_CANDIDATES = 4096  # fibres of the data to draw atoms from


def random_atoms(patches: Array, axis: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """Uniform on the sphere; what the paper starts from."""
    return spheres.random_point((patches.shape[axis + 1], count), rng)


def cosine_atoms(patches: Array, axis: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """Overcomplete DCT; on an axis of length 1 the only atoms there are."""
    length = patches.shape[axis + 1]
    return odct_factor(length, count) if length > 1 else np.ones((1, count))


def data_atoms(patches: Array, axis: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """Fibres of the patches along the axis, drawn at random, scaled to unit length.

    Where the data has too few different fibres, random atoms fill up.
    """
    chosen = rng.choice(patches.shape[0], size=min(patches.shape[0], _CANDIDATES), replace=False)
    xp = namespace(patches)
    sample = xp.take(patches, xp.asarray(np.sort(chosen), device=device_of(patches)), axis=0)
    fibres = np.moveaxis(to_numpy(sample).astype(np.float64), axis + 1, 0).reshape(sample.shape[axis + 1], -1)
    fibres = fibres[:, rng.permutation(fibres.shape[1])]
    atoms: list[np.ndarray] = []
    for fibre in fibres.T:
        length = np.linalg.norm(fibre)
        if len(atoms) == count:
            break
        if length > 0 and all(abs(atom @ fibre) < 0.99 * length for atom in atoms):
            atoms.append(fibre / length)
    missing = count - len(atoms)
    filling = spheres.random_point((fibres.shape[0], missing), rng)
    return np.column_stack([*atoms, filling])


STARTS: dict[StartName, Callable[..., np.ndarray]] = {
    "random": random_atoms,
    "odct": cosine_atoms,
    "data": data_atoms,
}


class Start(NamedTuple):
    """Where a run starts.

    Attributes
    ----------
    origin : a name in `STARTS`, or a dictionary
    random_state : what atoms are drawn with
    """

    origin: StartName | SeparableDictionary
    random_state: int | np.random.Generator | None

    @classmethod
    def checked(
        cls, initial: StartName | DictionaryLike, random_state: int | np.random.Generator | None
    ) -> Start:
        """From what a user passes; an unknown name lists the known ones."""
        as_generator(random_state)  # is it one?
        if isinstance(initial, str) and initial in STARTS:
            return cls(initial, random_state)
        try:
            return cls(as_dictionary(initial), random_state)
        except DictionaryFileError:
            raise
        except (FileNotFoundError, TypeError, ValueError) as error:
            known = ", ".join(map(repr, STARTS))
            raise ValueError(f"initial must be one of {known} or a dictionary. {error}") from error

    @property
    def is_dictionary(self) -> bool:
        """Whether it is a given dictionary, and not drawn."""
        return isinstance(self.origin, SeparableDictionary)

    def describe(self) -> str:
        """Where a run started, for the record and to tell one run from another."""
        if isinstance(self.origin, SeparableDictionary):
            return "dictionary " + " ".join(fingerprint(factor) for factor in self.origin.factors)
        seed = f" {self.random_state}" if isinstance(self.random_state, Integral) else ""
        return f"{self.origin}{seed}"

    def factors(self, patches: AnyArray, n_atoms: Sequence[int], weights: Weights) -> tuple[AnyArray, ...]:
        """Factors to start from; refused if two of their atoms coincide, where the barrier is infinite."""
        rng = as_generator(self.random_state)
        factors = initial_factors(self.origin, patches, n_atoms, rng)
        if weights.coherence_weight and not isfinite(total_coherence(factors)):
            raise ValueError(
                "Two atoms of a factor of the initial dictionary coincide, where the coherence barrier is "
                'infinite: start from other atoms (initial="random") or set coherence_weight=0.'
            )
        return factors


def initial_factors(
    origin: StartName | SeparableDictionary,
    patches: AnyArray,
    n_atoms: Sequence[int],
    rng: np.random.Generator,
) -> tuple[AnyArray, ...]:
    """Factors with unit columns, in the library, precision and device of `patches` ``(n, *patch_shape)``."""
    if isinstance(origin, SeparableDictionary):
        wanted = (tuple(patches.shape[1:]), tuple(n_atoms))
        if (origin.patch_shape, origin.n_atoms) != wanted:
            raise ValueError(
                f"The initial dictionary has patches {origin.patch_shape} and atoms {origin.n_atoms}, "
                f"but {wanted[0]} and {wanted[1]} are to be learned."
            )
        return origin.like(patches).factors
    factors = [STARTS[origin](patches, axis, count, rng) for axis, count in enumerate(n_atoms)]
    return SeparableDictionary(factors).like(patches).factors
