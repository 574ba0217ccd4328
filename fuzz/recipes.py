"""How each public function is called, and how its result is checked."""

from __future__ import annotations

from math import isfinite
from random import Random
from typing import Any

import numpy as np

from fuzz import results, units
from fuzz.calls import Maker, Recipe, array_of, map_for, mask_for, one_of
from fuzz.stock import Stock
from fuzz.values import any_array

_COUNT, _FEW = one_of(1, 2, np.int64(2), 3), one_of(1, 2, 3, np.int64(2))
_POSITIVE = one_of(0.1, 0.5, 1, 2.5, 10, 30, 1e-3, np.float32(2))
_SEED = one_of(0, 1, 7, None, np.int64(3))
_DTYPE, _ENGINE = one_of("float32", "float64", None), one_of("fused", "portable", None)
_THREADS, _PROGRESS = one_of(1, 1, 2, None), one_of(False, lambda progress: None)
_METHOD = one_of("l1", "refit", "pursuit")
_WEIGHTS = {
    "initial": one_of("random", "odct", "data"),  # or a dictionary, see `make_recipes`
    "preset": one_of("data", "paper"),
    "sparsity_scale": _POSITIVE,
    "sparsity_weight": _POSITIVE,
    "coherence_weight": one_of(0, 0.1, 1),
    "metric": one_of("balanced", "paper"),
    "engine": _ENGINE,
    "threads": _THREADS,
    "dtype": _DTYPE,
}


_IMAGES = [
    (12, 12),
    (10, 13),
    (8, 9),
    (5, 5),
    (12,),
    (6, 6, 6),
    (12, 12, 3),
    (3, 9, 9),
    (4, 4, 4, 4),
    (9, 9, 2),
]
_STACKS = [
    (20, 4, 4),
    (7, 4, 4),
    (20, 3, 4),
    (30, 4),
    (20, 16),
    (9, 2, 3, 3),
    (5, 2, 2, 2, 2),
    (1, 4, 4),
    (4, 4),
]


def make_recipes(stock: Stock) -> dict[str, Recipe]:
    """How each public function is called."""
    sedil = stock.sedil
    common = {"dtype": _DTYPE, "engine": _ENGINE, "threads": _THREADS}
    imaging = common | {
        "channel_axis": one_of(None, -1, 0, 2),
        "max_memory": one_of(512e6, 1e4, 1.0),
        "progress": _PROGRESS,
    }
    denoising = one_of("groups", "quick", "quick", "l1", "pursuit", None)
    starts = ("random", "odct", "data", *stock.by_axes[2][:2], stock.by_axes[1][0])
    learning = _WEIGHTS | {"random_state": _SEED, "initial": one_of(*starts)}
    return {
        "denoise": Recipe(
            lambda random: sedil.denoise,
            {"image": array_of(*_IMAGES), "sigma": _POSITIVE, "dictionary": _suiting(stock, "image")},
            imaging
            | {"method": denoising, "threshold": _POSITIVE, "stride": _COUNT, "noise": one_of("white")},
            results.is_image,
            5,
        ),
        "denoise, defaults": Recipe(
            lambda random: sedil.denoise,
            {"image": array_of((8, 9), (12, 12), (12, 12, 3), (8, 8, 8))},
            imaging
            | {
                "sigma": _POSITIVE,
                "method": denoising,
                "stride": one_of(2, 3, 4),
                "time_axis": one_of(0, -1, None),
                "noise": one_of(None, "auto", "white", "correlated", "poisson-gaussian"),
            },
            results.is_image,
            0.3,
        ),
        "denoise, of a map": Recipe(
            lambda random: sedil.denoise,
            {
                "image": array_of((8, 9), (9, 8, 3), (9, 9), (6, 6, 6), plain=0.5),
                "sigma": lambda random: random.choice(
                    (map_for("image"), map_for("image"), array_of((8, 9), (9,), (3,), (1, 1), (9, 8)))
                )(random),
            },
            imaging | {"method": denoising, "time_axis": one_of(0, None), "stride": _COUNT},
            results.is_image,
            0.5,
        ),
        "denoise, as measured": Recipe(
            lambda random: sedil.denoise,
            {
                "image": array_of((8, 9), (12, 12), (12, 12, 3), plain=0.5),
                "noise": lambda random: stock.estimate(random),
            },
            imaging | {"method": denoising, "dictionary": _suiting(stock, "image"), "sigma": _POSITIVE},
            results.is_image,
            0.4,
        ),
        "denoise, of photons": Recipe(
            lambda random: sedil.denoise,
            {"image": array_of((8, 9), (12, 12), (12, 12, 3)), "noise": one_of("poisson-gaussian")},
            imaging
            | {
                "method": denoising,
                "gain": _POSITIVE,
                "read_noise": one_of(0.0, 0.5, 3.0),
                "offset": one_of(0.0, -2.0, 10.0),
            },
            results.is_image,
            0.3,
        ),
        "inpaint": Recipe(
            lambda random: sedil.inpaint,
            {
                "image": array_of(*_IMAGES),
                "mask": lambda random: None if random.random() < 0.1 else mask_for("image")(random),
                "dictionary": _suiting(stock, "image"),
                "passes": one_of(1, 1, 2, np.int64(3)),  # by default many, all alike
            },
            imaging
            | {
                "method": one_of("groups", "quick", "quick", None),
                "time_axis": one_of(None, None, 0),
                "sigma": lambda random: random.choice((one_of(0, 1.0), map_for("image")))(random),
                "stride": _FEW,
            },
            results.is_image,
            4,
        ),
        "inpaint, defaults": Recipe(
            lambda random: sedil.inpaint,
            {"image": array_of((8, 9), (9, 8, 3), (12,)), "mask": mask_for("image")},
            imaging
            | {"method": one_of("quick", "whole", None), "dictionary": _suiting(stock, "image")}
            | {"sigma": one_of(0, 1.0)},
            results.is_image,
            0.1,
        ),
        "sparse_code, in any units": Recipe(
            lambda random: sedil.sparse_code,
            {"dictionary": one_of(*stock.by_axes[2][:1]), **units.patches_and_penalty((3, 4, 4), (6, 6))},
            common
            | units.weights_and_start((3, 4, 4), (6, 6))
            | {
                "method": one_of("l1", "l1", "refit"),
                "solver": one_of("descent", "fista", "admm", None),
                "mask": mask_for("patches"),
                "tolerance": one_of(1e-2, 1e-4, 1e-6),
                "max_iterations": one_of(1, 30, 1000),
                "sparse": one_of(True, False),
            },
            results.are_codes,
            1.5,
            is_matched=True,
        ),
        "sparse_code": Recipe(
            lambda random: sedil.sparse_code,
            {"dictionary": stock.dictionary, "patches": array_of(*_STACKS), "penalty": _POSITIVE},
            common
            | {
                "method": _METHOD,
                "solver": one_of("descent", "fista", "admm", None),
                "weights": array_of((6, 6), (4, 5)),
                "mask": mask_for("patches"),
                "initial": array_of((20, 6, 6), (7, 6, 6)),
                "max_error": _POSITIVE,
                "max_atoms": _FEW,
                "tolerance": one_of(1e-2, 1e-4),
                "max_iterations": one_of(5, 100, 1000),
                "sparse": one_of(True, False),
            },
            results.are_codes,
            5,
        ),
        "sparse_code, started": Recipe(
            lambda random: sedil.sparse_code,
            {
                "dictionary": one_of(stock.dictionaries[2]),
                "patches": array_of((7, 4, 4)),
                "penalty": _POSITIVE,
                "initial": array_of((7, 6, 6)),
            },
            common | {"solver": one_of("descent", "fista", "admm"), "mask": mask_for("patches")},
            results.are_codes,
            1,
        ),
        "match_patches": Recipe(
            lambda random: sedil.match_patches,
            {
                "image": array_of(*_IMAGES),
                "patch_shape": one_of(1, 2, 3, (2, 3)),
                "n_matches": one_of(1, 2, 3, 8),
            },
            imaging | {"window": one_of(2, 3, 5, (3, 5)), "stride": one_of(1, 2, 3, (1, 2))},
            results.are_matches,
            2,
        ),
        "estimate_noise": Recipe(
            lambda random: sedil.estimate_noise,
            {"image": array_of(*_IMAGES)},
            {"channel_axis": one_of(None, -1, 0)},
            results.is_level,
            2,
        ),
        "measure_noise": Recipe(
            lambda random: sedil.measure_noise,
            {"image": array_of(*_IMAGES)},
            {"channel_axis": one_of(None, -1, 0), "kind": one_of("white", "correlated", "poisson-gaussian")},
            results.is_estimate,
            2,
        ),
        "sample_patches": Recipe(
            lambda random: sedil.sample_patches,
            {
                "images": lambda random: [any_array(random, (9, 8)) for _ in range(random.choice((1, 2)))],
                "patch_shape": one_of((4, 4), (3, 2), [4, 4]),
                "n_patches": one_of(1, 5, 20),
            },
            {"random_state": _SEED},
            results.are_patches,
            2,
        ),
        "stream_patches": Recipe(
            lambda random: sedil.stream_patches,
            {
                "images": lambda random: random.choice(
                    (
                        one_of(stock.pictures, str(stock.pictures), [stock.pictures / "0.png"]),
                        array_of((9, 8), (6, 7, 8), plain=0.5),
                    )
                )(random),
                "patch_shape": one_of((4, 4), (3, 2), 3),
                "n_patches": one_of(1, 5, 20),
            },
            {
                "random_state": _SEED,
                "flatten": one_of(True, False),
                "on_error": one_of(None, lambda path, error: None),
            },
            results.is_stream,
            0.5,
        ),
        "normalize_patches": Recipe(
            lambda random: sedil.normalize_patches,
            {"patches": array_of(*_STACKS)},
            {"unit_length": one_of(True, False)},
            results.are_normalized,
            2,
        ),
        "odct": Recipe(
            lambda random: sedil.odct,
            {"patch_shape": one_of((4, 4), 4, (3, 4, 5)), "n_atoms": one_of(5, 6)},
            {},
            results.is_dictionary,
            1,
        ),
        "SeparableDictionary": Recipe(
            lambda random: sedil.SeparableDictionary,
            {
                "factors": lambda random: [
                    any_array(random, (4, 5)) for _ in range(random.choice((1, 2, 2, 3)))
                ]
            },
            {
                "normalize": one_of(True, True, False),
                "signal_shape": one_of(None, (4, 4), (2, 2)),
                "threshold": _POSITIVE,
                "info": one_of(None, {"a": [1]}),
            },
            results.is_dictionary,
            2,
        ),
        **_methods_of_dictionaries(stock),
        "learn": Recipe(
            lambda random: sedil.learn,
            {"patches": array_of(*_STACKS), "max_iterations": one_of(0, 1, 3)},
            learning
            | {
                "n_atoms": one_of(3, 5, (5, 5), None),
                "warm_up": one_of(0, 1, None),
                "tolerance": one_of(0, 1e-5),
                "gradient_tolerance": one_of(0, 1e-8),
                "c1": one_of(0.5, 0.9),
                "c2": one_of(1e-4, 0.3),
                "eta": one_of(0, 0.85, 1),
                "progress": _PROGRESS,
                "checkpoint": one_of(None, None, stock.folder / "checkpoint.npz"),
                "checkpoint_every": _COUNT,
                "resume": one_of(False, True),
            },
            results.is_learned,
            2,
        ),
        "learn_minibatch": Recipe(
            lambda random: sedil.learn_minibatch,
            {
                "patches": lambda random: (
                    any_array(random, random.choice(_STACKS))
                    if random.random() < 0.7
                    else random.choice(
                        (
                            stock.folder / "patches.npy",
                            [any_array(random, (6, 4, 4)) for _ in range(2)],
                            iter([any_array(random, (6, 4, 4)) for _ in range(2)]),
                        )
                    )
                ),
                "batch_iterations": one_of(1, 2),
            },
            learning
            | {
                "n_atoms": one_of(3, 5, (5, 5), None),
                "mask": mask_for("patches"),
                "batch_size": one_of(3, 10, 1000),
                "n_epochs": one_of(1, 2),
                "max_batches": one_of(None, 1, 2),
                "progress": _PROGRESS,
                "checkpoint": one_of(None, None, stock.folder / "batches.npz"),
                "checkpoint_every": _COUNT,
                "resume": one_of(False, True),
                "scheduler": one_of(None),
            },
            results.is_learned,
            1.5,
        ),
        "MiniBatchLearner": Recipe(
            lambda random: sedil.MiniBatchLearner,
            {},
            learning | {"n_atoms": one_of(3, 5, (5, 5), None), "batch_iterations": one_of(1, 2)},
            results.is_learner,
            1,
        ),
        "MiniBatchLearner.partial_fit": Recipe(
            lambda random: sedil.MiniBatchLearner(5, batch_iterations=1, random_state=0).partial_fit,
            {"patches": array_of(*_STACKS)},
            {"mask": mask_for("patches")},
            results.is_learner,
            1,
        ),
        **_estimator(stock),
        **_rest(stock),
    }


def _suiting(stock: Stock, name: str) -> Maker:
    """A dictionary for the axes of most images."""

    def make(random: Random) -> Any:
        if random.random() < 0.03:
            return stock.file
        return random.choice(stock.by_axes[random.choice((2, 2, 2, 2, 2, 3, 1, 4))])

    return make


def _methods_of_dictionaries(stock: Stock) -> dict[str, Recipe]:
    def method(name: str) -> Maker:
        return lambda random: getattr(random.choice(stock.dictionaries), name)

    return {
        "synthesize": Recipe(
            method("synthesize"),
            {"codes": array_of((6, 6), (3, 6, 6), (3, 4, 5), (2, 6))},
            {},
            results.is_finite_array,
            1,
        ),
        "analyze": Recipe(method("analyze"), {"patches": array_of(*_STACKS)}, {}, results.is_finite_array, 1),
        "like": Recipe(method("like"), {"array": array_of((2,), ())}, {}, results.is_dictionary, 0.5),
        "replace": Recipe(
            method("replace"),
            {},
            {
                "signal_shape": one_of(None, (4, 4), (2, 2)),
                "threshold": _POSITIVE,
                "info": one_of({"a": 1}, None),
            },
            results.is_dictionary,
            0.5,
        ),
        "save": Recipe(
            method("save"),
            {"path": one_of(stock.folder / "saved.npz", str(stock.folder / "b"))},
            {},
            results.anything,
            0.3,
        ),
    }


def _estimator(stock: Stock) -> dict[str, Recipe]:
    sedil = stock.sedil

    def fitting(X: Any, **parameters: Any) -> Any:  # noqa: N803
        return sedil.SeparableDictionaryLearning(**parameters).fit(X).transform(X)

    def partly(X: Any, **parameters: Any) -> Any:  # noqa: N803
        return sedil.SeparableDictionaryLearning(**parameters).partial_fit(X).components_

    parameters = (
        {name: make for name, make in _WEIGHTS.items() if name != "initial"}
        | {"patch_shape": one_of((4, 4), None), "n_atoms": one_of(3, (5, 5), None), "random_state": _SEED}
        | {"penalty": _POSITIVE, "transform_tolerance": one_of(1e-3), "transform_max_iterations": one_of(50)}
        | {"warm_up": one_of(None, 0), "tolerance": one_of(1e-5), "warm_start": one_of(True, False)}
    )
    rows = array_of((12, 16), (12, 4, 4), (1, 16))
    return {
        "fit and transform": Recipe(
            lambda random: fitting,
            {"X": rows, "max_iterations": one_of(1, 2)},
            parameters,
            results.is_finite_array,
            0.7,
        ),
        "partial_fit": Recipe(lambda random: partly, {"X": rows}, parameters, results.is_finite_array, 0.3),
        "transform": Recipe(
            lambda random: stock.model.transform, {"X": rows}, {}, results.is_finite_array, 0.7
        ),
        "inverse_transform": Recipe(
            lambda random: stock.model.inverse_transform,
            {"X": array_of((3, 25), (1, 25))},
            {},
            results.is_finite_array,
            0.7,
        ),
        "score": Recipe(
            lambda random: stock.model.score,
            {"X": rows},
            {"y": one_of(None)},
            lambda arguments, result: None if isfinite(result) else f"score is {result}",
            0.5,
        ),
    }


def _rest(stock: Stock) -> dict[str, Recipe]:
    sedil = stock.sedil
    drawn = (*stock.dictionaries, stock.result, stock.model, stock.file)
    return {
        "load_dictionary": Recipe(
            lambda random: sedil.load_dictionary,
            {"path": one_of(stock.file, str(stock.file), "separable-8x8")},
            {},
            results.is_dictionary,
            0.5,
        ),
        "SeparableDictionary.load": Recipe(
            lambda random: sedil.SeparableDictionary.load,
            {"path": one_of(stock.file, str(stock.file))},
            {},
            results.is_dictionary,
            0.3,
        ),
        "shipped_dictionary": Recipe(
            lambda random: sedil.shipped_dictionary,
            {"name": one_of("separable-8x8")},
            {},
            results.is_dictionary,
            0.3,
        ),
        "plot_atoms": Recipe(
            lambda random: sedil.plot_atoms,
            {"dictionary": one_of(*drawn), "ax": stock.axes},
            {
                "signal_shape": one_of(None, (4, 4), (2, 8), (16,)),
                "order": one_of("frequency", "stored", "use"),
            },
            results.is_axes,
            0.15,
        ),
        "plot_history": Recipe(
            lambda random: sedil.plot_history,
            {"history": one_of(stock.result, stock.model, stock.result.history), "ax": stock.axes},
            {},
            results.is_axes,
            0.1,
        ),
        "plot_noise": Recipe(
            lambda random: sedil.plot_noise,
            {
                "noise": lambda random: stock.estimate(random),
                "ax": stock.axes,
            },
            {},
            results.is_axes,
            0.1,
        ),
    }
