"""`SeparableDictionary`: a dictionary that is the Kronecker product of small factors.

Order of the product, said once. NumPy ravels row-major, so with factors A, B the matrix of
``ravel(code) -> ravel(patch)`` is ``A (x) B``; that is what `SeparableDictionary.as_matrix` returns.
The paper stacks columns and writes the same map as ``B (x) A`` (Eq. (3)).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from functools import reduce
from math import exp, prod, sqrt
from pathlib import Path
from typing import Any

import numpy as np
from array_api_compat import device as device_of

from sedil import checks, mosaic, objective, spheres
from sedil.arrays import (
    AnyArray,
    Array,
    are_workable,
    kronecker,
    largest_sizes,
    namespace,
    pack,
    to_numpy,
    unpack,
)
from sedil.engines import choose_engine
from sedil.errors import DictionaryFileError, kind_of
from sedil.files import read_archive, write_archive

FILE_KIND = "dictionary"
_ARRAYS = "factor[0-3]"
# In a file, with their types.
_FACTS = {
    "patch_shape": list,
    "n_atoms": list,
    "signal_shape": list,
    "threshold": float | int | None,
    "info": dict,
}
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
    signal_shape : tuple of int, optional
        Shape of the block that a patch stands for, if it is not the patch shape: (8, 8) for an unstructured
        dictionary of 64 entries. It decides how atoms are drawn and which patches of an image are coded.
    threshold : float, optional
        Threshold that suits these atoms in `sedil.denoise`, in multiples of sigma.
    info : mapping, optional
        How the dictionary came about: anything that JSON can hold. A record, which decides nothing.

    Attributes
    ----------
    factors : tuple of arrays
    patch_shape, n_atoms : tuple of int
    signal_shape : tuple of int
    threshold : float or None
    info : dict

    Examples
    --------
    >>> import numpy as np, sedil
    >>> dictionary = sedil.SeparableDictionary([np.eye(3), np.eye(2)])
    >>> dictionary.synthesize(np.ones((5, 3, 2))).shape
    (5, 3, 2)
    """

    def __init__(
        self,
        factors: Sequence[Array],
        *,
        normalize: bool = False,
        signal_shape: Sequence[int] | None = None,
        threshold: float | None = None,
        info: Mapping[str, Any] | None = None,
    ) -> None:
        self.factors: tuple[Any, ...] = _checked_factors(factors, normalize)
        self.patch_shape: tuple[int, ...] = tuple(factor.shape[0] for factor in self.factors)
        self.n_atoms: tuple[int, ...] = tuple(factor.shape[1] for factor in self.factors)
        self.signal_shape = _checked_signal_shape(signal_shape, self.patch_shape)
        self.threshold = None if threshold is None else checks.require_threshold(threshold)
        self.info = _checked_info({} if info is None else info)

    # Applying it ---------------------------------------------------------------------------------

    def synthesize(self, codes: AnyArray) -> AnyArray:
        """Patches from codes: ``(..., *n_atoms) -> (..., *patch_shape)``. Paper: Eq. (1), (3)."""
        codes = self.own_array(codes, "codes")
        checks.require_code_shape(codes, self.n_atoms)
        return self._applied(choose_engine(None, codes, self.n_atoms).synthesize, codes, "codes")

    def analyze(self, patches: AnyArray) -> AnyArray:
        """Inner products with all atoms: ``(..., *patch_shape) -> (..., *n_atoms)``.

        This is the adjoint of `synthesize`.
        """
        patches = self.own_array(patches, "patches")
        checks.require_patch_shape(patches, self.patch_shape)
        return self._applied(choose_engine(None, patches, self.n_atoms).analyze, patches, "patches")

    def as_matrix(self) -> Any:
        """The dense matrix, ``(prod(patch_shape), prod(n_atoms))``; for tests and small cases."""
        return reduce(kronecker, self.factors)

    def atoms(self) -> Any:
        """All atoms as blocks, shape ``(prod(n_atoms), *patch_shape)``; the last axis varies fastest."""
        matrix = self.as_matrix()
        xp = namespace(matrix)
        return xp.reshape(xp.matrix_transpose(matrix), (-1, *self.patch_shape))

    def apply(self, function: Callable[..., Any], samples: AnyArray) -> AnyArray:
        """``function(factors, packed)`` over all leading axes of `samples` at once."""
        xp = namespace(samples)
        leading = samples.shape[: samples.ndim - len(self.factors)]
        stack = xp.reshape(samples, (prod(leading), *samples.shape[len(leading) :]))
        result = unpack(function(self.factors, pack(stack)))
        return xp.reshape(result, (*leading, *result.shape[1:]))

    def _applied(self, function: Callable[..., Any], samples: AnyArray, name: str) -> AnyArray:
        """As `apply`; nothing goes in or comes out that is not finite."""
        checks.require_finite(samples, name)
        with np.errstate(over="ignore", invalid="ignore"):
            result = self.apply(function, samples)
        if not checks.is_finite(result):
            raise ValueError(f"{name} are too large for {_dtype_name(samples)}: rescale them.")
        return result

    def own_array(self, values: AnyArray, name: str) -> AnyArray:
        """`values` in the precision of the dictionary; an error if of another library or device."""
        values = checks.as_real_array(values, name)
        checks.require_same_library(values, self.factors[0], name, "the dictionary")
        if values.dtype != self.factors[0].dtype:
            with np.errstate(over="ignore", under="ignore"):  # what is too large is infinite then
                values = namespace(values).astype(values, self.factors[0].dtype)
        return values

    # Coherence -----------------------------------------------------------------------------------

    def mutual_coherence(self) -> float:
        """Largest size of an inner product of two atoms. Paper: Eq. (6), from the factors by Eq. (11)."""
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
        return sqrt(1 - exp(-lower)), sqrt(1 - exp(-max(barriers)))

    # Moving, saving, showing ---------------------------------------------------------------------

    def like(self, array: Array) -> SeparableDictionary:
        """The same dictionary in the array library, precision and device of `array`."""
        checks.require_array(array)
        xp = namespace(array)
        floating = array.dtype if array.dtype in (xp.float32, xp.float64) else xp.float64
        factors = [
            xp.asarray(to_numpy(factor), dtype=floating, device=device_of(array)) for factor in self.factors
        ]
        # Unit length holds to the precision of the source, so a wider type asks for it anew.
        return SeparableDictionary(factors, normalize=True, **self._settings())

    def replace(
        self,
        *,
        signal_shape: Sequence[int] | None = None,
        threshold: float | None = None,
        info: Mapping[str, Any] | None = None,
    ) -> SeparableDictionary:
        """The same factors with other settings, or another record; what is left out stays."""
        given = {"signal_shape": signal_shape, "threshold": threshold, "info": info}
        changes = {name: value for name, value in given.items() if value is not None}
        return SeparableDictionary(self.factors, **(self._settings() | changes))

    def save(self, path: str | Path) -> None:
        """Write factors, settings and record to one ``.npz`` file, which `load_dictionary` reads."""
        path = checks.as_path(path, "path")
        arrays = {f"factor{k}": to_numpy(factor) for k, factor in enumerate(self.factors)}
        settings = self._settings() | {"info": _checked_info(self.info)}
        facts = {"patch_shape": self.patch_shape, "n_atoms": self.n_atoms, **settings}
        write_archive(path, FILE_KIND, arrays, facts)

    def _settings(self) -> dict[str, Any]:
        """All but the factors, as the constructor takes it."""
        return {"signal_shape": self.signal_shape, "threshold": self.threshold, "info": self.info}

    @classmethod
    def load(cls, path: str | Path) -> SeparableDictionary:
        """Read a dictionary that `save` wrote."""
        path = checks.as_path(path, "path")
        arrays, facts = read_archive(path, FILE_KIND, _ARRAYS)
        try:
            factors = _factors_of(arrays, facts)
            return cls(factors, **{name: facts[name] for name in ("signal_shape", "threshold", "info")})
        except (TypeError, ValueError) as error:
            raise DictionaryFileError(f"{path} is damaged: {error!s:.300}") from error

    @property
    def redundancy(self) -> float:
        """Atoms per dimension of the patch: 1 is complete, above 1 overcomplete."""
        return prod(self.n_atoms) / prod(self.patch_shape)

    def __repr__(self) -> str:
        return f"<SeparableDictionary: {self.describe()}>"

    def describe(self) -> str:
        """Sizes, redundancy, coherence and precision in one line."""
        return (
            f"patches {format_shape(self.patch_shape)}, atoms {format_atoms(self.n_atoms)},"
            f" redundancy {self.redundancy:.3g}, coherence {self.mutual_coherence():.3f},"
            f" {_dtype_name(self.factors[0])}"
        )

    def _repr_html_(self) -> str:
        facts = f"SeparableDictionary: {self.describe()}"
        return f'<p>{facts}</p><img alt="atoms" src="{mosaic.as_data_uri(mosaic.draw(self))}">'


def format_shape(lengths: Sequence[int]) -> str:
    """Lengths of axes as people write them: ``8x8``."""
    return "x".join(str(length) for length in lengths)


def format_atoms(counts: Sequence[int]) -> str:
    """Atoms per axis, and of several axes in all: ``16x16 = 256``."""
    return format_shape(counts) + (f" = {prod(counts)}" if len(counts) > 1 else "")


def _factors_of(arrays: Mapping[str, Any], facts: Mapping[str, Any]) -> list[Array]:
    """Factors of a saved dictionary; the errors say in what it is damaged."""
    for name, kind in _FACTS.items():
        if name not in facts:
            raise ValueError(f"it lacks {name}.")
        if not isinstance(facts[name], kind):
            wanted = kind.__name__ if isinstance(kind, type) else str(kind).replace(" |", ",")
            raise TypeError(f"its {name} is {kind_of(facts[name])}, not a {wanted}.")
    patch_shape = facts["patch_shape"]
    factors: list[Array] = []
    for k, count in enumerate(checks.atom_counts(facts["n_atoms"], patch_shape)):
        name = f"factor{k}"
        if name not in arrays:
            raise ValueError(f"it lacks {name}.")
        factor = checks.as_real_array(arrays[name], name)
        if factor.shape != (patch_shape[k], count):
            raise ValueError(f"{name} has shape {factor.shape}, not {(patch_shape[k], count)} as it says.")
        largest = np.abs(arrays[name]).max(initial=0)
        if largest > 1000:  # and perhaps too large to be squared
            raise ValueError(f"{name} must have unit columns, but has an entry of size {largest:g}.")
        violation = spheres.explain_violation(factor, _TOLERANCE)
        if violation:
            raise ValueError(f"{name} must have unit columns, but {violation}.")
        factors.append(factor)
    return factors


def _checked_signal_shape(
    signal_shape: Sequence[int] | None, patch_shape: tuple[int, ...]
) -> tuple[int, ...]:
    """The shape that a patch stands for: another than its own only if it has one axis."""
    if signal_shape is None:
        return patch_shape
    shape = checks.patch_lengths(signal_shape, "signal_shape")
    fits = prod(shape) == patch_shape[0] if len(patch_shape) == 1 else shape == patch_shape
    if not fits or len(shape) > checks.MAX_AXES:
        raise ValueError(f"signal_shape {shape} does not hold a patch of shape {patch_shape}.")
    return shape


def _checked_info(info: Mapping[Any, Any]) -> dict[str, Any]:
    """A copy of `info`, down to its last list, if JSON can hold it."""
    if not isinstance(info, Mapping):
        raise TypeError(f"info must be a dict, got {checks.short(info)}.")
    for key, value in info.items():
        if not isinstance(key, str):
            raise TypeError(f"info has the key {checks.short(key)}: keys must be text.")
        try:
            json.dumps(value)
        except (TypeError, ValueError, RecursionError) as error:
            raise TypeError(
                f"info[{checks.short(key)}] cannot be saved ({error}): use text, numbers, lists and dicts."
            ) from None
    return deepcopy(dict(info))


def _checked_factors(factors: Sequence[Array], normalize: bool) -> tuple[Array, ...]:
    if not isinstance(factors, list | tuple):
        raise TypeError(f"factors must be a list of matrices, one per axis, got {checks.short(factors)}.")
    checks.require_flag(normalize, "normalize")
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
        factor = namespace(factor).asarray(factor, copy=True)
        factor = _normalized(factor) if normalize else factor
        violation = spheres.explain_violation(factor, _TOLERANCE)
        if violation:
            remedy = "" if normalize else ": pass normalize=True"
            raise ValueError(f"factors[{k}] must have unit columns, but {violation}{remedy}.")
        checked.append(factor)
    return tuple(checked)


def _normalized(factor: AnyArray) -> AnyArray:
    """Columns of unit length, whatever their lengths were."""
    largest = largest_sizes(factor, axis=0)
    return spheres.normalize(factor if are_workable(largest) else factor / largest)


def _dtype_name(array: Array) -> str:
    return str(array.dtype).rpartition(".")[2]
