"""Patches, penalties, weights and codes to start from, of sizes that are far apart."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

import numpy as np

from fuzz.calls import Later, Maker

_SMALLEST, _LARGEST = -320.0, 307.0  # exponents of ten that float64 has


def patches_and_penalty(shape: tuple[int, ...], n_atoms: tuple[int, ...]) -> dict[str, Maker]:
    """Patches of any size, some far smaller than others, and a penalty that is near them as a rule."""

    def patches(random: Random) -> np.ndarray:
        rng = _numbers(random)
        exponent = random.choice((0.0, random.uniform(-40, 37), random.uniform(-310, 300)))
        values = rng.standard_normal(shape) * 10.0**exponent
        if random.random() < 0.3:
            values *= 10 ** rng.uniform(-25, 0, (shape[0], *(1 for _ in shape[1:])))
        with np.errstate(all="ignore"):
            return values.astype(random.choice((np.float32, np.float64)))

    def penalty(random: Random) -> Later:
        share = random.choice((random.uniform(-3, 2), random.uniform(-3, 2), random.uniform(-22, 25)))

        def beside(arguments: Mapping[str, Any]) -> float:
            weights = arguments.get("weights")
            middle = 0.0 if weights is None else _exponent(np.median(weights))
            return _power(_exponent(np.abs(arguments["patches"]).max()) + share - middle)

        return Later(beside)

    return {"patches": patches, "penalty": penalty}


def weights_and_start(shape: tuple[int, ...], n_atoms: tuple[int, ...]) -> dict[str, Maker]:
    """Weights of any size, alike or far apart, and codes near the patches or far off."""

    def weights(random: Random) -> np.ndarray:
        rng, spread = _numbers(random), random.choice((0, 0, 2, 6))
        exponents = random.choice((0.0, random.uniform(-40, 37))) + rng.uniform(-spread, spread, n_atoms)
        with np.errstate(all="ignore"):
            return (10**exponents).astype(random.choice((np.float32, np.float64)))

    def initial(random: Random) -> Later:
        rng, offset = _numbers(random), random.choice((random.uniform(-1, 1.5), random.uniform(-30, 30)))
        used = random.choice((1.0, 0.2))

        def near(arguments: Mapping[str, Any]) -> np.ndarray:
            size = _power(_exponent(np.abs(arguments["patches"]).max()) + offset)
            codes = (shape[0], *n_atoms)
            return size / 10 * rng.standard_normal(codes) * (rng.random(codes) < used)

        return Later(near)

    return {"weights": weights, "initial": initial}


def _numbers(random: Random) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(random.getrandbits(64)))


def _exponent(value: float) -> float:
    return float(np.log10(np.float64(value))) if 0 < value < np.inf else 0.0


def _power(exponent: float) -> float:
    return float(10.0 ** min(max(exponent, _SMALLEST), _LARGEST))
