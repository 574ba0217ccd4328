"""`SeparableDictionary`: a dictionary that is the Kronecker product of small factors.

Order of the product, said once. NumPy ravels row-major, so with factors A, B the matrix of
``ravel(code) -> ravel(patch)`` is ``A (x) B``; that is what `SeparableDictionary.as_matrix` returns.
The paper stacks columns and writes the same map as ``B (x) A`` (Eq. (3)).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from math import exp, prod, sqrt
from pathlib import Path
from typing import Any

from array_api_compat import array_namespace
from array_api_compat import device as device_of

from sedil import checks, mosaic, objective, spheres
from sedil.arrays import Array, pack, to_numpy, unpack
from sedil.engines.portable import products
from sedil.errors import DictionaryFileError
from sedil.files import read_archive, write_archive

FILE_KIND = "dictionary"
_FACTS = {"patch_shape": list, "n_atoms": list, "info": dict}  # in a file, with their types
_TOLERANCE = 1e-5  # of the unit lengths: float32 factors from elsewhere must pass


class SeparableDictionary:
    """A sparse dictionary with one factor per axis of the patch. Paper: Eq. (3).

    Parameters
    ----------
    factors : sequence of 1 to 4 arrays
        ``factors[k]`` has shape ``(patch_shape[k], n_atoms[k])`` and columns of unit length, all of
        one array library, device and precision. They are copied.
    normalize : bool, default False
        Scale the columns to unit length first; without it other lengths are an error.
    info : mapping, optional
        How the dictionary came about: anything that JSON can hold. It is saved with the factors.

    Attributes
    ----------
    factors : tuple of arrays
    patch_shape, n_atoms : tuple of int
    info : dict

    Examples
    --------
    >>> import numpy as np, sedil
    >>> dictionary = sedil.SeparableDictionary([np.eye(3), np.eye(2)])
    >>> dictionary.synthesize(np.ones((5, 3, 2))).shape
    (5, 3, 2)
    """

    def __init__(
        self, factors: Sequence[Array], *, normalize: bool = False, info: Mapping | None = None
    ) -> None:
        self.factors = _checked_factors(factors, normalize)
        self.patch_shape = tuple(factor.shape[0] for factor in self.factors)
        self.n_atoms = tuple(factor.shape[1] for factor in self.factors)
        self.info = _checked_info(info or {})

    # Applying it ---------------------------------------------------------------------------------

    def synthesize(self, codes: Array) -> Array:
        """Patches from codes: ``(..., *n_atoms) -> (..., *patch_shape)``. Paper: Eq. (1), (3)."""
        codes = self.own_array(codes, "codes")
        checks.require_code_shape(codes, self.n_atoms)
        return self.apply(products.synthesize, codes)

    def analyze(self, patches: Array) -> Array:
        """Inner products with all atoms: ``(..., *patch_shape) -> (..., *n_atoms)``.

        This is the adjoint of `synthesize`.
        """
        patches = self.own_array(patches, "patches")
        checks.require_patch_shape(patches, self.patch_shape)
        return self.apply(products.analyze, patches)

    def as_matrix(self) -> Array:
        """The dense matrix, ``(prod(patch_shape), prod(n_atoms))``; for tests and small cases."""
        return reduce(_kronecker, self.factors)

    def atoms(self) -> Array:
        """All atoms as blocks, shape ``(prod(n_atoms), *patch_shape)``; the last axis varies fastest."""
        matrix = self.as_matrix()
        xp = array_namespace(matrix)
        return xp.reshape(xp.matrix_transpose(matrix), (-1, *self.patch_shape))

    def apply(self, function: Callable[..., Array], samples: Array) -> Array:
        """``function(factors, packed)`` over all leading axes of `samples` at once."""
        xp = array_namespace(samples)
        leading = samples.shape[: samples.ndim - len(self.factors)]
        stack = xp.reshape(samples, (prod(leading), *samples.shape[len(leading) :]))
        result = unpack(function(self.factors, pack(stack)))
        return xp.reshape(result, (*leading, *result.shape[1:]))

    def own_array(self, values: Any, name: str) -> Array:
        """`values` in the precision of the dictionary; an error if of another library or device."""
        values = checks.as_real_array(values, name)
        checks.require_same_library(values, self.factors[0], name, "the dictionary")
        if values.dtype != self.factors[0].dtype:
            values = array_namespace(values).astype(values, self.factors[0].dtype)
        return values

    # Coherence -----------------------------------------------------------------------------------

    def mutual_coherence(self) -> float:
        """Largest |inner product| of two different atoms. Paper: Eq. (6), from the factors by Eq. (11)."""
        return max(objective.mutual_coherence(factor) for factor in self.factors)

    def coherence_barrier(self) -> float:
        """The paper's differentiable coherence, summed over the factors as in Eq. (16). Paper: Eq. (7)."""
        return objective.total_coherence(self.factors)

    def coherence_bounds(self) -> tuple[float, float]:
        """Lower and upper bound of `mutual_coherence` from the barrier alone. Paper: Eq. (8), (14).

        From ``max r_k / N_k <= -ln(1 - mu^2) <= max r_k`` with N_k pairs of atoms in factor k.
        """
        barriers = [objective.coherence(factor) for factor in self.factors]
        pairs = [max(count * (count - 1) // 2, 1) for count in self.n_atoms]
        lower = max(barrier / n for barrier, n in zip(barriers, pairs, strict=True))
        return tuple(sqrt(1 - exp(-bound)) for bound in (lower, max(barriers)))  # type: ignore[return-value]

    # Moving, saving, showing ---------------------------------------------------------------------

    def like(self, array: Array) -> SeparableDictionary:
        """The same dictionary in the array library, precision and device of `array`."""
        xp = array_namespace(array)
        floating = array.dtype if array.dtype in (xp.float32, xp.float64) else xp.float64
        factors = [
            xp.asarray(to_numpy(factor), dtype=floating, device=device_of(array)) for factor in self.factors
        ]
        # Unit length holds to the precision of the source, so a wider type asks for it anew.
        return SeparableDictionary(factors, normalize=True, info=self.info)

    def save(self, path: str | Path) -> None:
        """Write factors and `info` to one ``.npz`` file, which `load_dictionary` reads."""
        arrays = {f"factor{k}": to_numpy(factor) for k, factor in enumerate(self.factors)}
        info = _checked_info(self.info)
        facts = {"patch_shape": self.patch_shape, "n_atoms": self.n_atoms, "info": info}
        write_archive(path, FILE_KIND, arrays, facts)

    @classmethod
    def load(cls, path: str | Path) -> SeparableDictionary:
        """Read a dictionary that `save` wrote."""
        arrays, facts = read_archive(path, FILE_KIND)
        try:
            return cls(_factors_of(arrays, facts), info=facts["info"])
        except (TypeError, ValueError) as error:
            raise DictionaryFileError(f"{path} is damaged: {error}") from error

    @property
    def redundancy(self) -> float:
        """Atoms per dimension of the patch: 1 is complete, above 1 overcomplete."""
        return prod(self.n_atoms) / prod(self.patch_shape)

    def __repr__(self) -> str:
        return f"<SeparableDictionary: {self.describe()}>"

    def describe(self) -> str:
        """Sizes, redundancy, coherence and precision in one line."""
        atoms = f"{format_shape(self.n_atoms)} = {prod(self.n_atoms)}"
        return (
            f"patches {format_shape(self.patch_shape)}, atoms {atoms},"
            f" redundancy {self.redundancy:.3g}, coherence {self.mutual_coherence():.3f},"
            f" {_dtype_name(self.factors[0])}"
        )

    def _repr_html_(self) -> str:
        facts = f"SeparableDictionary: {self.describe()}"
        return f'<p>{facts}</p><img alt="atoms" src="{mosaic.as_data_uri(mosaic.draw(self))}">'


def load_dictionary(path: str | Path) -> SeparableDictionary:
    """Read a dictionary from a file written by `SeparableDictionary.save` or ``sedil learn``.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    SeparableDictionary

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    DictionaryFileError
        If it is damaged, of another program, or of a newer format than this version reads.
    """
    return SeparableDictionary.load(path)


def format_shape(lengths: Sequence[int]) -> str:
    """Lengths of axes as people write them: ``8x8``."""
    return "x".join(str(length) for length in lengths)


def _factors_of(arrays: Mapping[str, Any], facts: Mapping[str, Any]) -> list[Array]:
    """Factors of a saved dictionary; the errors say in what it is damaged."""
    for name, kind in _FACTS.items():
        if name not in facts:
            raise ValueError(f"it lacks {name}.")
        if not isinstance(facts[name], kind):
            raise TypeError(f"its {name} is a {type(facts[name]).__name__}, not a {kind.__name__}.")
    patch_shape = facts["patch_shape"]
    factors: list[Array] = []
    for k, count in enumerate(checks.atom_counts(facts["n_atoms"], patch_shape)):
        name = f"factor{k}"
        if name not in arrays:
            raise ValueError(f"it lacks {name}.")
        factor = checks.as_real_array(arrays[name], name)
        if factor.shape != (patch_shape[k], count):
            raise ValueError(f"{name} has shape {factor.shape}, not {(patch_shape[k], count)} as it says.")
        violation = spheres.explain_violation(factor, _TOLERANCE)
        if violation:
            raise ValueError(f"{name} must have unit columns, but {violation}.")
        factors.append(factor)
    return factors


def _checked_info(info: Mapping) -> dict[str, Any]:
    """A copy of `info`, if JSON can hold it."""
    for key, value in info.items():
        if not isinstance(key, str):
            raise TypeError(f"info has the key {key!r}: keys must be text.")
        try:
            json.dumps(value)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"info[{key!r}] cannot be saved ({error}): use text, numbers, lists and dicts."
            ) from None
    return dict(info)


def _checked_factors(factors: Sequence[Array], normalize: bool) -> tuple[Array, ...]:
    if not 1 <= len(factors) <= checks.MAX_AXES:
        raise ValueError(f"A dictionary has 1 to {checks.MAX_AXES} factors, got {len(factors)}.")
    checked: list[Array] = []
    for k, factor in enumerate(factors):
        factor = checks.as_real_array(factor, f"factors[{k}]")
        if factor.ndim != 2 or 0 in factor.shape:
            raise ValueError(f"factors[{k}] must be a non-empty matrix, got shape {tuple(factor.shape)}.")
        checks.require_finite(factor, f"factors[{k}]")
        if checked:
            checks.require_same_library(factor, checked[0], f"factors[{k}]", "factors[0]")
            if factor.dtype != checked[0].dtype:
                raise TypeError(f"factors[{k}] is {factor.dtype}, but factors[0] is {checked[0].dtype}.")
        factor = array_namespace(factor).asarray(factor, copy=True)
        factor = spheres.normalize(factor) if normalize else factor
        violation = spheres.explain_violation(factor, _TOLERANCE)
        if violation:
            remedy = "" if normalize else ": pass normalize=True"
            raise ValueError(f"factors[{k}] must have unit columns, but {violation}{remedy}.")
        checked.append(factor)
    return tuple(checked)


def _kronecker(left: Array, right: Array) -> Array:
    xp = array_namespace(left)
    blocks = left[:, None, :, None] * right[None, :, None, :]
    return xp.reshape(blocks, (left.shape[0] * right.shape[0], left.shape[1] * right.shape[1]))


def _dtype_name(array: Array) -> str:
    return str(array.dtype).rpartition(".")[2]


def require_dictionary(dictionary: Any) -> SeparableDictionary:
    """The dictionary, if it is one: a name or a list of factors is not."""
    if not isinstance(dictionary, SeparableDictionary):
        raise TypeError(f"dictionary must be a SeparableDictionary, got a {type(dictionary).__name__}.")
    return dictionary
