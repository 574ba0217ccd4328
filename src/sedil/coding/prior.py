"""What is known of the codes of a class of signals before one is seen: the prior of Eq. (35).

The paper's prior is the l1 norm: every atom is as likely as any other. A class such as faces says more. Two
priors can be learned (`sedil.learning.prior_learning`), both for codes ``x = m + e`` of signals
``s = D x + noise``, the noise of deviation sigma:

- `LaplacePrior`: the e_i are independent and sparse, of mean size b_i. The most likely codes solve Eq. (35)
  with weights: ``min 1/2 ||M (D e - (s - D m))||^2 + sigma^2 sum_i |e_i| / b_i``.
- `GaussianPrior`: e is Gaussian with the covariance ``U U^T + diag(c)``, U of few columns. The most likely
  codes, which here are also the expected ones, solve a linear system (`conditional_mean`).

Of m and U only D m and D U enter, so they are what is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import device as device_of

from sedil.arrays import AnyArray, Array, namespace, pack, to_numpy, unpack
from sedil.engines.contract import Effort
from sedil.engines.portable import products
from sedil.engines.portable.l1 import dot, ratio

Operator = Callable[[Array], Array]


class LaplacePrior(NamedTuple):
    """Sparse codes about a mean, in the units of the signals.

    Attributes
    ----------
    mean : array of shape patch_shape
        ``D m``, the mean signal.
    scales : array of shape n_atoms
        ``b``: the mean size of each coefficient, positive.
    noise : float
        ``sigma``: standard deviation of what the codes need not explain.
    """

    mean: Array
    scales: Array
    noise: float

    @property
    def thresholds(self) -> Array:
        """Penalties of the coefficients, shape n_atoms."""
        return self.noise**2 / self.scales

    @property
    def n_numbers(self) -> int:
        """How many numbers have to be stored."""
        return prod(self.mean.shape) + prod(self.scales.shape) + 1


class GaussianPrior(NamedTuple):
    """Gaussian codes about a mean, in the units of the signals.

    Attributes
    ----------
    mean : array of shape patch_shape
        ``D m``, the mean signal.
    components : array of shape (k, *patch_shape)
        Columns of ``D U``.
    variances : array of shape n_atoms
        ``c``: the variance of each coefficient besides.
    noise : float
        ``sigma``: standard deviation of what the codes need not explain.
    """

    mean: Array
    components: Array
    variances: Array
    noise: float

    @property
    def n_numbers(self) -> int:
        """How many numbers have to be stored."""
        return sum(prod(array.shape) for array in (self.mean, self.components, self.variances)) + 1


def conditional_mean(
    factors: Sequence[Array], prior: GaussianPrior, rest: AnyArray, known: Array, effort: Effort
) -> AnyArray:
    """Expected signals less the mean, given their known entries. Paper: Eq. (35) with a Gaussian prior.

    With ``S = D (U U^T + diag(c)) D^T`` and M the known entries, it is ``S M (M S M + sigma^2)^-1 M rest``,
    by conjugate gradients on the known entries. D is applied by its factors; S is never formed.

    Parameters
    ----------
    factors : sequence of arrays
    prior : GaussianPrior
    rest : array of shape (n, *patch_shape)
        Signals less the mean, zero where missing.
    known : array of shape (n, *patch_shape), or (1, *patch_shape) for all
        1 where data is known, 0 where it is missing.
    effort : Effort
        A signal is done when its residual is at most ``tolerance`` times as long as at the start.

    Returns
    -------
    array of shape (n, *patch_shape)
    """
    xp = namespace(rest)
    components = xp.reshape(prior.components, (-1, prod(prior.mean.shape))).T
    variances = prior.variances[..., None]
    mask = pack(xp.broadcast_to(known, rest.shape))

    def covariance(signals: Array) -> Any:
        codes = products.analyze(factors, signals)
        flat = xp.reshape(signals, (-1, signals.shape[-1]))
        together = xp.reshape(components @ (components.T @ flat), signals.shape)
        return together + products.synthesize(factors, variances * codes)

    def system(signals: Array) -> Array:
        return mask * covariance(signals) + prior.noise**2 * signals

    # All but the components varies about as much as this, on average over the entries.
    floor = prior.noise**2 + float(xp.sum(prior.variances)) / prod(prior.mean.shape)
    precondition = _Preconditioner(components, xp.reshape(known, (known.shape[0], -1)), mask, floor)
    weights = _conjugate_gradients(system, precondition, pack(rest), effort)
    return unpack(covariance(weights))


class _Preconditioner:
    """``(M V V^T M + floor)^-1`` on the known entries, by Woodbury's identity."""

    def __init__(self, components: Array, known: Array, mask: Array, floor: float) -> None:
        xp = namespace(components)
        self._components, self._mask, self._floor = components, mask, floor
        rows = (known[k, ...] for k in range(known.shape[0]))
        grams = [to_numpy((components * row[:, None]).T @ components).astype(np.float64) for row in rows]
        inverses = np.linalg.inv(np.stack(grams) + floor * np.eye(components.shape[1]))
        self._gains = xp.asarray(inverses, dtype=components.dtype, device=device_of(components))

    def __call__(self, residual: Array) -> Array:
        xp = namespace(residual)
        projections = self._components.T @ xp.reshape(residual, (-1, residual.shape[-1]))
        if self._gains.shape[0] == 1:
            explained = self._gains[0, ...] @ projections
        else:
            explained = xp.matmul(self._gains, projections.T[..., None])[..., 0].T
        share = self._mask * xp.reshape(self._components @ explained, residual.shape)
        return (residual - share) / self._floor


def _conjugate_gradients(
    system: Operator, precondition: Operator, right: AnyArray, effort: Effort
) -> AnyArray:
    """Solve ``system(x) = right`` for each sample on its own; packed. Samples that are done rest."""
    xp = namespace(right)
    solution, residual = xp.zeros_like(right), right
    direction = xp.zeros_like(right)
    slope = xp.ones_like(dot(right, right))
    goal = effort.tolerance**2 * dot(right, right)
    for _ in range(effort.max_iterations):
        active = dot(residual, residual) > goal
        if not bool(xp.any(active)):
            break
        downhill = precondition(residual)
        new_slope = dot(residual, downhill)
        direction = downhill + ratio(new_slope, slope, active) * direction
        slope = new_slope
        image = system(direction)
        size = ratio(slope, dot(direction, image), active)
        solution = solution + size * direction
        residual = residual - size * image
    return solution
