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
from sedil_studies.bench.results import Bar, Findings, Measurement, named, speed_bar
from sedil_studies.bench.setting import PORTABLE, Setting, training_images
from sedil_studies.bench.timing import Contestant, race
from sedil_studies.peers.jax_cost import jax_cost
from sedil_studies.peers.packages import JAX, make_installed

_SHAPE, _ATOMS = (8, 8), (16, 16)
OURS, _JAX = "sedil, fused engine", "JAX, jitted"


class Start(NamedTuple):
    """Where learning starts: patches (n, 8, 8), codes (n, 16, 16), factors, weights; all float32."""

    patches: np.ndarray
    codes: np.ndarray
    factors: tuple[np.ndarray, ...]
    weights: Weights


def run(setting: Setting) -> Findings:
    """Time both engines and JAX at the same point, where learning starts."""
    names, start = _start(setting)
    makers = {OURS: _fused, PORTABLE: _portable, _JAX: _jax}
    contestants, notes = make_installed(
        {name: partial(make, setting, start) for name, make in makers.items()}
    )
    found = race(list(contestants.values()), setting.tell)
    words = f"{len(start.patches):,} patches of 8x8 from {names}, 16x16 atoms, float32"
    return Findings(words, found, _bars(found), notes)


def _start(setting: Setting) -> tuple[str, Start]:
    names, images = training_images(setting)
    count = setting.choose(40_000, 2_000)
    # A few more than asked for: flat ones are left out.
    drawn = sedil.sample_patches(images, _SHAPE, count + count // 10, random_state=0)
    patches = np.ascontiguousarray(sedil.normalize_patches(drawn)[:count], np.float32)
    factors = initial_factors("random", patches, _ATOMS, np.random.default_rng(0))
    codes = unpack(products.analyze(factors, pack(patches)))
    return names, Start(patches, codes, factors, from_data(_SHAPE, _ATOMS, 1.0))


def _bars(found: list[Measurement]) -> list[Bar]:
    ours = named(found, OURS)
    return [
        *speed_bar("times faster than the portable engine on NumPy", ours, named(found, PORTABLE), 5),
        *speed_bar("times faster than jitted JAX", ours, named(found, _JAX), 3),
    ]


def _fused(setting: Setting, start: Start) -> Contestant:
    from sedil.engines.fused.training import FusedTrainingSet

    training_set = FusedTrainingSet(start.patches, _ATOMS, setting.threads)
    return _contestant(OURS, setting, _evaluation(training_set, start))


def _portable(setting: Setting, start: Start) -> Contestant:
    return _contestant(PORTABLE, setting, _evaluation(PortableTrainingSet(start.patches), start))


def _evaluation(training_set: TrainingSet, start: Start) -> Callable[[], tuple[float, float]]:
    objective = Objective(training_set, start.weights)
    point = Point(training_set.correlations(start.factors), start.factors)
    spare = np.zeros_like(point.codes)

    def evaluate() -> tuple[float, float]:
        # Of weight one, so that the gradient of the codes is the Euclidean one.
        evaluation, gradient = objective.at(point, 1.0, spare)
        return evaluation.value, gradient.new_squared + _squared(*gradient.factor_gradients)

    return evaluate


def _jax(setting: Setting, start: Start) -> Contestant:
    package = JAX.version()
    packed = pack(start.patches), pack(start.codes)
    evaluate = jax_cost(*packed, start.factors, start.weights)

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
