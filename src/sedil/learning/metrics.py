"""How the blocks of the manifold are weighed against each other (Eq. 24).

With the paper's metric, all weights 1, the codes hardly move: the cost averages over m patches, so
their gradient is 1/m of that of the factors. The balanced metric divides each block by the typical
curvature of the cost in it, so that one step length suits all blocks. With E the mean squared
length of a patch:

- codes: the cost curves as ``||D||^2 / m``, and ``||D||^2`` is near the redundancy R of the dictionary;
- a column of factor k: it curves as the energy that passes through it, about ``E / n_atoms[k]``.

Weights in proportion to these, ``R / m`` and ``E / n_atoms[k]``, leave the run unchanged when the patches
are multiplied by a constant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from sedil.choices import MetricName
from sedil.manifold import ProductManifold


def balanced(
    patch_shape: Sequence[int], n_atoms: Sequence[int], n_patches: int, energy: float
) -> ProductManifold:
    """Weights in proportion to the curvature of each block; the default."""
    redundancy = max(prod(n_atoms) / prod(patch_shape), 1.0)
    return ProductManifold(redundancy / n_patches, tuple(energy / count for count in n_atoms))


def paper(
    patch_shape: Sequence[int], n_atoms: Sequence[int], n_patches: int, energy: float
) -> ProductManifold:
    """All weights 1. Paper: Eq. (24), to the letter."""
    return ProductManifold(1.0, (1.0,) * len(n_atoms))


METRICS: dict[MetricName, Callable[..., ProductManifold]] = {"balanced": balanced, "paper": paper}
