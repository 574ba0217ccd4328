"""The cost of a dictionary on patches that it was not learned from."""

from __future__ import annotations

from collections.abc import Sequence

from sedil import checks
from sedil.arrays import Array
from sedil.dictionary import SeparableDictionary
from sedil.engines import EngineName, choose_engine
from sedil.learning.conjugate_gradient import descend
from sedil.learning.defaults import FIRST_CODES, balanced, smallest_coefficient
from sedil.manifold import Point, ProductManifold
from sedil.objective import Objective, Terms, Weights

_ITERATIONS = 200


def held_out_terms(
    dictionary: SeparableDictionary,
    patches: Array,
    weights: Weights,
    *,
    max_iterations: int = _ITERATIONS,
    engine: EngineName | None = None,
    threads: int | None = None,
) -> Terms:
    """The terms of the cost of Eq. (16) with codes that are solved for this dictionary, which stays fixed.

    The codes start from the l1 codes of Eq. (34); the conjugate gradients of Algorithm 2 then move them
    alone.

    Parameters
    ----------
    dictionary : SeparableDictionary
    patches : array of shape (n, *patch_shape)
        Patches that learning has not seen, prepared in the same way.
    weights : Weights
        rho, lambda and kappa; the same for all dictionaries that are compared.
    max_iterations : int, default 200
        Enough for a cost within 0.1 % of its end on photographs.
    engine, threads : as in `sedil.learn`

    Returns
    -------
    Terms
        Its ``total`` is what to compare.
    """
    patches = checks.as_real_array(patches, "patches")
    checks.require_patches(patches)
    checks.require_patch_shape(patches, dictionary.patch_shape)
    chosen = choose_engine(engine, patches, dictionary.n_atoms)
    factors = dictionary.like(patches).factors
    samples = chosen.training_set(patches, dictionary.n_atoms, None, threads)
    codes = samples.sparse_codes(factors, smallest_coefficient(weights), FIRST_CODES)
    # The energy only scales the metric of the factors, which stay.
    manifold = _FixedFactors(*balanced(dictionary.patch_shape, dictionary.n_atoms, patches.shape[0], 1.0))
    return descend(Objective(samples, weights), manifold, Point(codes, factors), max_iterations).terms


class _FixedFactors(ProductManifold):
    """A manifold with the factors held where they are: only the codes move."""

    def gradient_of_factors(self, factors: Sequence[Array], euclidean: Sequence[Array]) -> tuple[Array, ...]:
        """Zero: they stay."""
        return tuple(0 * factor for factor in factors)
