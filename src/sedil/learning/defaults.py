"""Parameters of the cost that suit the data, whatever its units and patch size.

With E the mean squared length of a patch, n its number of entries and P the number of pairs of atoms
in all factors together:

    rho    = 3 n / E          coefficients are measured against the mean square of an entry
    lambda = 1 / rho          at zero the penalty then curves twice as much as the data term
    kappa  = 0.01 E / P       the mean over the pairs is what counts, not their number

Multiplying the patches by c multiplies E by c^2, and every term of the cost with it: the learned
dictionary is the same. The three constants were chosen on photographs (8x8, 12x12 and 16x16
patches; see docs/notation.md for the figures).

The cost has many local minima. A warm-up with a smaller rho and a larger lambda, both by a factor of
three, has fewer and leads to better ones (docs/notation.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log1p, prod, sqrt
from sys import float_info
from typing import Any, NamedTuple

from sedil.arrays import Array, namespace
from sedil.checks import atom_counts, require_affordable, require_choice, require_count, require_positive
from sedil.choices import MetricName, PresetName
from sedil.engines.contract import Effort
from sedil.manifold import ProductManifold
from sedil.objective import Weights

_SCALE, _SPARSITY, _COHERENCE = 3.0, 1.0, 0.01
_SMOOTHING = 3.0
_LONGEST_WARM_UP = 100
_FAR_OFF = 1e15  # weights in units of the patches: float32 holds squares of their products with these
FIRST_CODES = Effort(tolerance=1e-2, max_iterations=50)  # codes to start from need not be exact


def balanced(
    patch_shape: Sequence[int], n_atoms: Sequence[int], n_patches: int, energy: float
) -> ProductManifold:
    """Weights in proportion to the curvature of each block, so that one step length suits all; the default.

    With the paper's metric the codes hardly move: the cost averages over m patches, so their gradient is 1/m
    of that of the factors. With E the mean squared length of a patch:

    - codes: the cost curves as ``||D||^2 / m``, and ``||D||^2`` is near the redundancy R of the dictionary;
    - a column of factor k: it curves as the energy that passes through it, about ``E / n_atoms[k]``.

    The weights ``R / m`` and ``E / n_atoms[k]`` leave the run unchanged when the patches are multiplied by a
    constant.
    """
    redundancy = max(prod(n_atoms) / prod(patch_shape), 1.0)
    return ProductManifold(redundancy / n_patches, tuple(energy / count for count in n_atoms))


def paper(
    patch_shape: Sequence[int], n_atoms: Sequence[int], n_patches: int, energy: float
) -> ProductManifold:
    """All weights 1. Paper: Eq. (24), to the letter."""
    return ProductManifold(1.0, (1.0,) * len(n_atoms))


METRICS: dict[MetricName, Callable[..., ProductManifold]] = {"balanced": balanced, "paper": paper}


def from_data(patch_shape: Sequence[int], n_atoms: Sequence[int], energy: float) -> Weights:
    """Weights derived from the data, the default."""
    scale = _SCALE * prod(patch_shape) / energy
    pairs = sum(count * (count - 1) // 2 for count in n_atoms)
    return Weights(scale, _SPARSITY / scale, _COHERENCE * energy / max(pairs, 1))


def from_paper(patch_shape: Sequence[int], n_atoms: Sequence[int], energy: float) -> Weights:
    """rho = 100, lambda = kappa = 0.1 / (a b). Paper: Sec. 5; meant for patches of unit length."""
    weight = 0.1 / prod(n_atoms)
    return Weights(100.0, weight, weight)


PRESETS: dict[PresetName, Callable[..., Weights]] = {"data": from_data, "paper": from_paper}


def default_atoms(patch_shape: Sequence[int]) -> tuple[int, ...]:
    """Twice the length along each axis, and four times for one axis alone: both are the paper's 64 -> 256.

    An axis of length 1 has one atom.
    """
    times = 4 if len(patch_shape) == 1 else 2
    return tuple(1 if side == 1 else times * side for side in patch_shape)


def choose_atoms(n_atoms: int | Sequence[int] | None, patch_shape: Sequence[int]) -> tuple[int, ...]:
    """Atoms of each factor as asked for, else the default; refused if there is no way to learn so many."""
    counts = default_atoms(patch_shape) if n_atoms is None else atom_counts(n_atoms, patch_shape)
    require_affordable(patch_shape, counts)
    for axis, (length, count) in enumerate(zip(patch_shape, counts, strict=True)):
        if length == 1 and count > 1:
            raise ValueError(
                f"Patch axis {axis} has length 1, where all atoms are equal: n_atoms must be 1 there, "
                f"got {count}. Drop the axis or set n_atoms[{axis}] = 1."
            )
    return counts


class CostSettings(NamedTuple):
    """What decides the cost and its metric, as users say it; weights that are None are the preset's."""

    preset: PresetName = "data"
    sparsity_scale: float | None = None
    sparsity_weight: float | None = None
    coherence_weight: float | None = None
    metric: MetricName = "balanced"

    def checked(self) -> CostSettings:
        """The same, or an error that names what is out of range."""
        require_choice(self.preset, "preset", tuple(PRESETS))
        require_choice(self.metric, "metric", tuple(METRICS))
        for name in Weights._fields:
            value = getattr(self, name)
            if value is not None:
                require_positive(value, name, zero_allowed=name != "sparsity_scale")
        return self

    def weights(self, patch_shape: Sequence[int], n_atoms: Sequence[int], energy: float) -> Weights:
        """Weights of the preset, with those that are given in place of its own."""
        self.checked()
        weights = PRESETS[self.preset](patch_shape, n_atoms, energy)
        given = {name: getattr(self, name) for name in Weights._fields}
        weights = weights._replace(
            **{name: float(value) for name, value in given.items() if value is not None}
        )
        _require_sizes(weights, energy)
        return weights

    def manifold(
        self, patch_shape: Sequence[int], n_atoms: Sequence[int], n_patches: int, energy: float
    ) -> ProductManifold:
        """The manifold with the metric of that name."""
        require_choice(self.metric, "metric", tuple(METRICS))
        return METRICS[self.metric](patch_shape, n_atoms, n_patches, energy)

    def as_facts(self) -> dict[str, Any]:
        """The same as plain facts that JSON can hold."""
        given = {name: getattr(self, name) for name in Weights._fields}
        plain = {name: value if value is None else float(value) for name, value in given.items()}
        return self._asdict() | plain


def _require_sizes(weights: Weights, energy: float) -> None:
    """Refuse weights so far from what the patches ask for that the cost is not a number."""
    sizes = {
        "sparsity_scale": weights.sparsity_scale * energy,
        "sparsity_weight": weights.sparsity_weight / energy,
        "coherence_weight": weights.coherence_weight / energy,
    }
    for name, size in sizes.items():
        if size > _FAR_OFF or (name == "sparsity_scale" and size < 1 / _FAR_OFF):
            raise ValueError(
                f"{name} {getattr(weights, name):g} is far from what patches of a mean squared length of "
                f"{energy:.3g} ask for: leave it out, or rescale the patches."
            )


def smoothed(weights: Weights) -> Weights:
    """Weights of the warm-up: the same curvature of the penalty at zero, reached at larger coefficients."""
    return weights._replace(
        sparsity_scale=weights.sparsity_scale / _SMOOTHING,
        sparsity_weight=weights.sparsity_weight * _SMOOTHING,
    )


def choose_warm_up(warm_up: int | None, preset: PresetName, has_dictionary: bool, max_iterations: int) -> int:
    """Iterations of the warm-up: as given, else none for the paper or a given dictionary, else a fifth."""
    if warm_up is not None:
        return require_count(warm_up, "warm_up")
    if preset == "paper" or has_dictionary:
        return 0
    return min(_LONGEST_WARM_UP, max_iterations // 5)


def smallest_coefficient(weights: Weights) -> float:
    """The size x at which keeping a coefficient costs as much as dropping it.

    It is the root of x^2/2 = lambda ln(1 + rho x^2), a rule of thumb for the l1 penalty that suits a
    dictionary learned with these weights.
    """
    relative = weights.sparsity_weight * weights.sparsity_scale
    squared = 2 * relative  # the fixed point of u = 2 relative ln(1 + u), with u = rho x^2
    for _ in range(100):
        squared = 2 * relative * log1p(squared)
    # At or below 1/2 the only root is zero: every coefficient is worth keeping, if shrunk.
    smallest = max(squared, relative, float_info.min)
    return sqrt(smallest / weights.sparsity_scale)


def mean_energy(patches: Array) -> float:
    """Mean squared length of a patch; an error if every patch is zero."""
    xp = namespace(patches)
    largest = float(xp.max(xp.abs(patches)))
    if largest == 0:
        raise ValueError("Every patch is zero: there is nothing to learn from.")
    limits = xp.finfo(patches.dtype)
    if not limits.smallest_normal**0.25 < largest < limits.max**0.25:
        raise ValueError(
            f"The largest entry of the patches is {largest:.3g}, too large or too small to square in "
            f"{patches.dtype}: rescale them, for example by their largest value."
        )
    energy = float(xp.sum(xp.astype(patches, xp.float64) ** 2)) / patches.shape[0]
    if energy > limits.max**0.45:  # gradients are as large, and are squared
        raise ValueError(
            f"The mean squared length of the patches is {energy:.3g}, too large to square in "
            f"{patches.dtype}: rescale them, for example by their largest value."
        )
    return energy
