"""Parameters of the cost that suit the data, whatever its units and patch size.

With E the mean squared length of a patch, n its number of entries and P the number of pairs of atoms
in all factors together:

    rho    = 3 n / E          coefficients are measured against the mean square of an entry
    lambda = 1 / rho          at zero the penalty then curves twice as much as the data term
    kappa  = 0.01 E / P       the mean over the pairs is what counts, not their number

Multiplying the patches by c multiplies E by c^2, and every term of the cost with it: the learned
dictionary is the same. The three constants were chosen on photographs (8x8, 12x12 and 16x16
patches; see docs/notation.md for the figures).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from sedil.errors import require_choice, require_positive
from sedil.objective import Weights

_SCALE, _SPARSITY, _COHERENCE = 3.0, 1.0, 0.01


def from_data(patch_shape: Sequence[int], n_atoms: Sequence[int], energy: float) -> Weights:
    """Weights derived from the data, the default."""
    scale = _SCALE * prod(patch_shape) / energy
    pairs = sum(count * (count - 1) // 2 for count in n_atoms)
    return Weights(scale, _SPARSITY / scale, _COHERENCE * energy / max(pairs, 1))


def from_paper(patch_shape: Sequence[int], n_atoms: Sequence[int], energy: float) -> Weights:
    """rho = 100, lambda = kappa = 0.1 / (a b). Paper: Sec. 5; meant for patches of unit length."""
    weight = 0.1 / prod(n_atoms)
    return Weights(100.0, weight, weight)


PRESETS: dict[str, Callable[..., Weights]] = {"data": from_data, "paper": from_paper}


def choose_weights(
    preset: str,
    patch_shape: Sequence[int],
    n_atoms: Sequence[int],
    energy: float,
    **given: float | None,
) -> Weights:
    """Weights of the preset, with those `given` by the caller in place of its own."""
    weights = PRESETS[require_choice(preset, "preset", tuple(PRESETS))](patch_shape, n_atoms, energy)
    for name, value in given.items():
        if value is not None:
            require_positive(value, name, zero_allowed=name != "sparsity_scale")
            weights = weights._replace(**{name: float(value)})
    return weights
