"""The learning cost in JAX, as a user of it would write it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from sedil.objective import Weights
from sedil_studies.peers.packages import JAX


def jax_cost(
    patches: np.ndarray, codes: np.ndarray, factors: Sequence[np.ndarray], weights: Weights
) -> Callable[[], tuple[float, Any]]:
    """Value and gradient of the cost of Eq. (16), jitted; arrays packed, samples last."""
    jax = JAX.load()
    jnp = import_module("jax.numpy")
    left_of, right_of = (factor.shape for factor in factors)
    n = patches.shape[-1]
    scale, price, kappa = weights

    def coherence(factor: Any) -> Any:
        gram = factor.T @ factor
        pairs = jnp.triu_indices(factor.shape[1], 1)
        return -jnp.sum(jnp.log1p(-(gram[pairs] ** 2)))

    def cost(codes: Any, left: Any, right: Any, patches: Any) -> Any:
        # Two large products; one einsum over all three arrays takes almost twice as long.
        half = jnp.reshape(left @ jnp.reshape(codes, (left_of[1], -1)), (left_of[0], right_of[1], n))
        residual = jnp.einsum("ibn,jb->ijn", half, right) - patches
        logs = jnp.sum(jnp.log1p(scale * codes * codes))
        return (jnp.sum(residual * residual) / 2 + price * logs) / n + kappa * (
            coherence(left) + coherence(right)
        )

    compiled = jax.jit(jax.value_and_grad(cost, argnums=(0, 1, 2)))
    arguments = [jnp.asarray(array) for array in (codes, *factors, patches)]

    def evaluate() -> tuple[float, Any]:
        value, gradient = compiled(*arguments)
        jax.block_until_ready(gradient)
        return float(value), gradient

    return evaluate
