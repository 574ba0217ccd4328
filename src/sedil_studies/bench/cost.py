"""One value and gradient of the learning cost, Eq. (16): what learning spends its time on."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import sedil
from sedil.arrays import pack, unpack
from sedil.engines.contract import TrainingSet
from sedil.engines.portable import products
from sedil.engines.portable.training import PortableTrainingSet
from sedil.learning.defaults import from_data
from sedil.learning.initial import initial_factors
from sedil.manifold import Point
from sedil.objective import Objective, Weights
from sedil_studies.bench import peers
from sedil_studies.bench.results import Bar, Measurement, Outcome, named, speed_bar
from sedil_studies.bench.setting import Setting, training_images
from sedil_studies.bench.timing import Contestant, race

_SHAPE, _ATOMS = (8, 8), (16, 16)
OURS, _JAX = "sedil, fused engine", "JAX, jitted"


class Place(NamedTuple):
    """Where the cost is evaluated: patches (n, 8, 8), codes (n, 16, 16), factors, weights; all float32."""

    patches: np.ndarray
    codes: np.ndarray
    factors: tuple[np.ndarray, ...]
    weights: Weights


def run(setting: Setting) -> Outcome:
    """Time both engines and JAX at the same point, where learning starts."""
    names, place = _first_place(setting)
    makers = [
        partial(_fused, setting, place),
        partial(_portable, setting, place),
        partial(_jax, setting, place),
    ]
    contestants, notes = peers.installed(makers)
    found = race(contestants, setting.tell)
    words = f"{len(place.patches):,} patches of 8x8 from {names}, 16x16 atoms, float32"
    return Outcome(words, found, _bars(found), notes)


def _first_place(setting: Setting) -> tuple[str, Place]:
    names, images = training_images(setting)
    count = setting.choose(40_000, 2_000)
    # A few more than asked for: flat ones are left out.
    drawn = sedil.sample_patches(images, _SHAPE, count + count // 10, random_state=0)
    patches = np.ascontiguousarray(sedil.normalize_patches(drawn)[:count], np.float32)
    factors = initial_factors("random", patches, _ATOMS, np.random.default_rng(0))
    codes = unpack(products.analyze(factors, pack(patches)))
    return names, Place(patches, codes, factors, from_data(_SHAPE, _ATOMS, 1.0))


def _bars(found: list[Measurement]) -> list[Bar]:
    ours = named(found, OURS)
    return [
        *speed_bar("times faster than the portable engine on NumPy", ours, named(found, peers.PORTABLE), 5),
        *speed_bar("times faster than jitted JAX", ours, named(found, _JAX), 3),
    ]


def _fused(setting: Setting, place: Place) -> Contestant:
    from sedil.engines.fused.training import FusedTrainingSet

    training_set = FusedTrainingSet(place.patches, _ATOMS, setting.threads)
    return _contestant(OURS, setting, _evaluation(training_set, place))


def _portable(setting: Setting, place: Place) -> Contestant:
    return _contestant(peers.PORTABLE, setting, _evaluation(PortableTrainingSet(place.patches), place))


def _evaluation(training_set: TrainingSet, place: Place) -> Callable[[], tuple[float, float]]:
    objective = Objective(training_set, place.weights)
    point = Point(training_set.correlations(place.factors), place.factors)
    spare = np.zeros_like(point.codes)

    def evaluate() -> tuple[float, float]:
        # Of weight one, so that the gradient of the codes is the Euclidean one.
        evaluation, gradient = objective.at(point, 1.0, spare)
        return evaluation.value, gradient.new_squared + _squared(*gradient.factor_gradients)

    return evaluate


def _jax(setting: Setting, place: Place) -> Contestant:
    package = peers.jax_version()
    packed = pack(place.patches), pack(place.codes)
    evaluate = peers.jax_cost(*packed, place.factors, place.weights)

    def judge(result: tuple[float, Any]) -> dict[str, float]:
        value, gradient = result
        return _judge((value, _squared(*map(np.asarray, gradient))))

    made = _contestant(_JAX, setting, evaluate)
    return made._replace(judge=judge, package=package)


def _contestant(name: str, setting: Setting, evaluate: Any) -> Contestant:
    return Contestant(name, f"sedil {sedil.__version__}", evaluate, _judge, setting.choose(15, 3))


def _judge(result: tuple[float, float]) -> dict[str, float]:
    """Cost and length of its gradient, to see that all compute the same."""
    value, squared = result
    return {"cost": value, "gradient": squared**0.5}


def _squared(*arrays: np.ndarray) -> float:
    return float(sum(np.sum(array.astype(np.float64) ** 2) for array in arrays))
