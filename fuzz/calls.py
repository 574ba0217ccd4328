"""Calls of every public function: right arguments, some of them replaced, and what a result must be."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import isfinite, prod
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from fuzz.values import any_array, junk

Maker = Callable[[Random], Any]
Check = Callable[[Mapping[str, Any], Any], str | None]

# Numbers that are allowed and mean a very long run, which is not a fault.
_LONG = ("batch_iterations", "n_epochs", "max_batches", "passes", "max_iterations", "warm_up", "n_patches")
_LONG_NUMBER = 50


@dataclass
class Call:
    """A function, its arguments by name, and what its result must be."""

    name: str
    function: Callable[..., Any]
    arguments: dict[str, Any]
    check: Check
    touched: list[Any] = field(default_factory=list)  # that must not change, besides the arguments


@dataclass
class Recipe:
    """How calls of one function are made.

    `required` arguments are always there, `optional` ones now and then; each has a maker of good ones.
    """

    function: Maker  # gives the function
    required: dict[str, Maker]
    optional: dict[str, Maker]
    check: Check
    weight: float = 1.0


def one_of(*values: Any) -> Maker:
    """One of a few values."""
    return lambda random: random.choice(values)


def array_of(*shapes: tuple[int, ...]) -> Maker:
    """An array of one of these shapes, nearly always."""
    return lambda random: any_array(random, random.choice(shapes) if random.random() < 0.97 else None)


def mask_for(name: str, chance: float = 0.3) -> Maker:
    """Set when the arguments are put together: a mask of the shape of that argument."""

    def make(random: Random) -> Any:
        return ("mask", name, chance, random.getrandbits(32))

    return make


_COUNT, _FEW = one_of(1, 2, np.int64(2), 3), one_of(1, 2, 3, np.int64(2))
_POSITIVE = one_of(0.1, 0.5, 1, 2.5, 10, 30, 1e-3, np.float32(2))
_SEED = one_of(0, 1, 7, None, np.int64(3))
_DTYPE, _ENGINE = one_of("float32", "float64", None), one_of("fused", "portable", None)
_THREADS, _PROGRESS = one_of(1, 1, 2, None), one_of(False, lambda progress: None)
_METHOD = one_of("l1", "refit", "pursuit")
_WEIGHTS = {
    "initial": one_of("random", "odct", "data"),
    "preset": one_of("data", "paper"),
    "sparsity_scale": _POSITIVE,
    "sparsity_weight": _POSITIVE,
    "coherence_weight": one_of(0, 0.1, 1),
    "metric": one_of("balanced", "paper"),
    "engine": _ENGINE,
    "threads": _THREADS,
    "dtype": _DTYPE,
}


class Stock:
    """Things that calls are made with, made once: dictionaries, results, files, axes."""

    def __init__(self) -> None:
        import matplotlib as mpl

        mpl.use("Agg")
        import sedil

        self.sedil = sedil
        self.folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
        os.chdir(self.folder)  # where files go whose names have no folder
        self.by_axes = {
            1: [sedil.odct(4, 6), sedil.SeparableDictionary([np.eye(4, dtype=np.float32)])],
            2: [
                sedil.odct((4, 4), 6),
                sedil.odct((3, 4), (4, 5)),
                sedil.SeparableDictionary(sedil.odct(16, 24).factors, signal_shape=(4, 4), threshold=2.0),
                sedil.SeparableDictionary([np.eye(4, dtype=np.float32)] * 2, info={"a": 1}),
            ],
            3: [sedil.odct((2, 3, 3), (3, 4, 4))],
            4: [sedil.odct((2, 2, 2, 2), 3)],
        }
        self.dictionaries = [each for some in self.by_axes.values() for each in some]
        patches = np.random.default_rng(0).standard_normal((30, 4, 4))
        self.result = sedil.learn(patches, 5, max_iterations=3, random_state=0)
        self.model = sedil.SeparableDictionaryLearning((4, 4), 5, max_iterations=3, random_state=0).fit(
            patches.reshape(30, -1)
        )
        self.file = self.folder / "dictionary.npz"
        self.dictionaries[2].save(self.file)
        np.save(self.folder / "patches.npy", patches)
        self._write_pictures()
        self._compile()

    def _compile(self) -> None:
        """Use all kernels once, so that no case has to wait for them."""
        sedil, image = self.sedil, np.random.default_rng(0).standard_normal((12, 12))
        dictionary, patches = self.by_axes[2][0], image[None, :4, :4]
        for method in ("groups", "quick", "l1", "pursuit"):
            sedil.denoise(image, 1.0, dictionary, method=method)
        sedil.denoise(np.stack([image] * 8), 1.0, time_axis=0)
        for method in ("l1", "refit", "pursuit"):
            for sparse in (True, False):
                for solver in ("descent", "fista", "admm"):
                    how = {"method": method, "sparse": sparse, "solver": solver, "max_error": 1.0}
                    sedil.sparse_code(dictionary, patches, 0.5, **how)
        for method in ("groups", "quick"):
            sedil.inpaint(image, image > 1, dictionary, method=method)
        sedil.sparse_code(dictionary, patches, 0.5, mask=patches > 1)
        sedil.sparse_code(dictionary, patches, 0.5, initial=np.zeros((1, 6, 6)))
        sedil.learn_minibatch(image.reshape(9, 4, 4), 5, batch_iterations=1)

    def _write_pictures(self) -> None:
        from PIL import Image

        self.pictures = self.folder / "pictures"
        self.pictures.mkdir()
        rng = np.random.default_rng(0)
        for number in range(2):
            Image.fromarray(rng.integers(0, 255, (12, 14), dtype=np.uint8)).save(
                self.pictures / f"{number}.png"
            )

    def dictionary(self, random: Random) -> Any:
        """A dictionary, as an object or a file."""
        return self.file if random.random() < 0.02 else random.choice(self.dictionaries)

    def axes(self, random: Random) -> Any:
        """Axes to draw into: new ones take long."""
        from matplotlib.figure import Figure

        return Figure(figsize=(1, 1)).add_subplot()


def make_call(recipes: Mapping[str, Recipe], stock: Stock, random: Random) -> Call:
    """A call with none, one or two of its arguments replaced."""
    names = list(recipes)
    name = random.choices(names, [recipes[each].weight for each in names])[0]
    recipe = recipes[name]
    function = recipe.function(random)
    arguments = {key: make(random) for key, make in recipe.required.items()}
    for key, make in recipe.optional.items():
        if random.random() < 0.25:
            arguments[key] = make(random)
    for key, value in arguments.items():
        if isinstance(value, tuple) and len(value) == 4 and value[0] == "mask":
            arguments[key] = _mask(value, arguments)
    if random.random() < 0.9:
        _suit(arguments, stock, random)
    known = [*recipe.required, *recipe.optional]
    for _ in range(random.choice((0, 0, 0, 1, 1, 1, 1, 2))):
        key = random.choice(known)
        value = any_array(random) if random.random() < 0.15 else junk(random)
        if key in _LONG and isinstance(value, int | float | np.number) and value > _LONG_NUMBER:
            value = _LONG_NUMBER
        arguments[key] = value
    owner = getattr(function, "__self__", None)
    return Call(name, function, arguments, recipe.check, [] if owner is None else [owner])


def _suit(arguments: dict[str, Any], stock: Stock, random: Random) -> None:
    """Choose dictionary, axis of colours and sizes that go together."""
    shape = getattr(arguments.get("image", arguments.get("patches")), "shape", None)
    if "dictionary" not in arguments or not isinstance(shape, tuple):
        return
    if "image" in arguments:
        is_colour = len(shape) == 3 and shape[-1] in (2, 3)
        arguments["channel_axis"] = -1 if is_colour else None
        suiting = stock.by_axes.get(len(shape) - is_colour, [])
    else:
        suiting = [each for each in stock.dictionaries if each.patch_shape == shape[-len(each.patch_shape) :]]
    if not suiting:
        return
    arguments["dictionary"] = dictionary = random.choice(suiting)
    leading = shape[: len(shape) - len(dictionary.patch_shape)]
    if "weights" in arguments:
        arguments["weights"] = any_array(random, dictionary.n_atoms)
    if "initial" in arguments:
        arguments["initial"] = any_array(random, (*leading, *dictionary.n_atoms))
    if arguments.get("method") == "pursuit" and "penalty" in arguments:
        arguments["max_error"] = random.choice((0, 0.5, 10.0))
        arguments.pop("mask", None)


def _mask(wish: tuple[Any, ...], arguments: Mapping[str, Any]) -> Any:
    _, name, chance, seed = wish
    shape = getattr(arguments.get(name), "shape", (4, 4))
    return np.random.Generator(np.random.PCG64(seed)).random(shape) < chance


# What results must be


def plain(value: Any) -> np.ndarray:
    """The numbers of an argument."""
    return np.asarray(value.data if isinstance(value, np.ma.MaskedArray) else value)


def _finite(result: Any, name: str = "result") -> str | None:
    array = np.asarray(result)
    if array.dtype.kind in "fc" and not np.isfinite(array).all():
        return f"{name} is not finite"
    return None


def _is_array(result: Any, shape: tuple[int, ...], dtypes: tuple[Any, ...]) -> str | None:
    if type(result) is not np.ndarray:
        return f"result is a {type(result).__name__}"
    if result.shape != shape:
        return f"result has shape {result.shape}, not {shape}"
    if result.dtype not in [np.dtype(dtype) for dtype in dtypes]:
        return f"result is {result.dtype}, not one of {dtypes}"
    return _finite(result)


def _is_image(arguments: Mapping[str, Any], result: Any) -> str | None:
    """Of the shape and type of the image, and about as bright."""
    image = plain(arguments["image"])
    problem = _is_array(result, image.shape, (image.dtype.newbyteorder("="), image.dtype))
    if problem or image.dtype.kind == "b":
        return problem
    known = image.astype(np.longdouble)
    mask = arguments.get("mask")
    if mask is not None or isinstance(arguments["image"], np.ma.MaskedArray):
        hidden = np.ma.getmaskarray(arguments["image"]) | _fitted(
            mask, image.shape, arguments.get("channel_axis")
        )
        if not np.array_equal(result[~hidden], image[~hidden]):
            return "known pixels are changed"
        known = known[~hidden]
    if known.size == 0:
        return None
    offset = arguments.get("offset")  # what a pixel without photons is
    dark = known.min() if offset is None else np.longdouble(offset)
    low, high = min(known.min(), dark), max(known.max(), dark)
    room = 3 * (high - low) + 1e-3 * np.abs(known).max()
    if (result < low - room).any() or (result > high + room).any():
        return f"result from {result.min()} to {result.max()}, image from {low} to {high}"
    return None


def _fitted(mask: Any, shape: tuple[int, ...], channel_axis: Any) -> np.ndarray:
    if mask is None:
        return np.zeros(shape, bool)
    mask = np.asarray(mask)
    return np.broadcast_to(mask if mask.shape == shape else np.expand_dims(mask, int(channel_axis)), shape)


def _dictionary_of(value: Any) -> Any:
    from sedil.pretrained import as_dictionary

    return as_dictionary(value)


def _are_codes(arguments: Mapping[str, Any], result: Any) -> str | None:
    dictionary = _dictionary_of(arguments["dictionary"])
    patches = plain(arguments["patches"])
    leading = patches.shape[: patches.ndim - len(dictionary.patch_shape)]
    if arguments.get("sparse"):
        if result.shape != (prod(leading), prod(dictionary.n_atoms)):
            return f"result has shape {result.shape}"
        codes = result.toarray()
    else:
        problem = _is_array(result, (*leading, *dictionary.n_atoms), ("f4", "f8"))
        if problem:
            return problem
        codes = result
    return _finite(codes) or _codes_fit(arguments, dictionary, patches, codes)


def _codes_fit(
    arguments: Mapping[str, Any], dictionary: Any, patches: np.ndarray, codes: np.ndarray
) -> str | None:
    """An l1 problem is solved to its gap; no other code is worse than none."""
    wide = np.longdouble
    matrix = np.asarray(dictionary.as_matrix()).astype(wide)
    rows = patches.astype(wide).reshape(-1, matrix.shape[0])
    codes = codes.astype(wide).reshape(len(rows), matrix.shape[1])
    if not len(rows):
        return None
    mask = arguments.get("mask")
    known = np.ones_like(rows) if mask is None else 1 - np.asarray(mask).reshape(rows.shape).astype(wide)
    rows = np.where(known > 0, rows, 0)
    rest = known * (codes @ matrix.T - rows)
    energy = 0.5 * (rows**2).sum(axis=1)
    if arguments.get("method", "l1") != "l1":
        too_bad = 0.5 * (rest**2).sum(axis=1) > energy * (1 + wide(1e-4))
        return "codes are worse than zero" if too_bad.any() else None
    weights = arguments.get("weights")
    penalty = wide(arguments["penalty"]) * (1 if weights is None else np.asarray(weights, wide).reshape(-1))
    cost = 0.5 * (rest**2).sum(axis=1) + (penalty * np.abs(codes)).sum(axis=1)
    steepest = np.abs((rest @ matrix) / penalty).max(axis=1)
    dual = -rest / np.maximum(steepest, 1)[:, None]
    bound = (dual * rows).sum(axis=1) - 0.5 * (dual**2).sum(axis=1)
    allowed = energy * (4 * float(arguments.get("tolerance", 1e-4)) + 1e-4)
    if (cost - bound > allowed).any():
        worst = ((cost - bound) / np.where(energy > 0, energy, 1)).max()
        return f"the duality gap is {float(worst):.2g} of the energy"
    return None


def _are_patches(arguments: Mapping[str, Any], result: Any) -> str | None:
    lengths = np.atleast_1d(arguments["patch_shape"]).tolist()
    problem = _is_array(result, (int(arguments["n_patches"]), *lengths), ("f4", "f8", np.longdouble))
    if problem:
        return problem
    there = np.concatenate([np.asarray(image).ravel().astype(result.dtype) for image in arguments["images"]])
    return None if np.isin(result, there).all() else "values that are in no image"


def _are_normalized(arguments: Mapping[str, Any], result: Any) -> str | None:
    patches = plain(arguments["patches"])
    problem = _is_array(result, (len(result), *patches.shape[1:]), ("f4", "f8"))
    if problem:
        return problem
    rows = result.reshape(len(result), -1).astype(float)
    if arguments.get("unit_length", True) and not np.allclose((rows**2).sum(axis=1), 1, rtol=1e-4):
        return "lengths are not one"
    flat = patches.reshape(len(patches), -1).astype(np.longdouble)
    spread = flat.max(axis=1) - flat.min(axis=1)
    lost = (spread > 1e-3 * np.abs(flat).max(axis=1)).sum() - len(result)
    return f"{lost} patches that are not flat are left out" if lost > 0 else None


def _is_level(arguments: Mapping[str, Any], result: Any) -> str | None:
    if type(result) is not float or not isfinite(result) or result < 0:
        return f"result is {result!r}"
    values = plain(arguments["image"]).astype(np.longdouble)
    spread = values.max() - values.min()
    return (
        f"noise {result} in a range of {spread}"
        if result > 2 * spread + 1e-9 * np.abs(values).max()
        else None
    )


def _is_estimate(arguments: Mapping[str, Any], result: Any) -> str | None:
    for name in ("sigma", "gain", "read_noise", "offset", "variances", "levels"):
        values = np.asarray(getattr(result, name), dtype=np.float64)
        if not np.all(np.isfinite(values)) or np.any(values < 0):
            return f"{name} is {getattr(result, name)!r}"
    return None if 0 <= result.correlation <= 1 else f"correlation is {result.correlation}"


def _is_dictionary(arguments: Mapping[str, Any], result: Any) -> str | None:
    for factor in result.factors:
        problem = _finite(factor, "factor")
        if problem or not np.allclose((np.asarray(factor, float) ** 2).sum(axis=0), 1, atol=1e-4):
            return problem or "columns are not of unit length"
    repr(result)
    return None


def _is_learned(arguments: Mapping[str, Any], result: Any) -> str | None:
    problem = _is_dictionary(arguments, result.dictionary)
    if problem is None and result.codes is not None:
        problem = _finite(result.codes, "codes")
    if problem is None and not all(isfinite(record.objective) for record in result.history):
        problem = "cost is not finite"
    repr(result)
    return problem


def _is_learner(arguments: Mapping[str, Any], result: Any) -> str | None:
    return None if result.factors is None else _is_dictionary(arguments, result.dictionary)


def _are_matches(arguments: Mapping[str, Any], result: Any) -> str | None:
    """Each patch is the first of its own matches, and these are in order."""
    if not np.array_equal(result.corners, result.matches[:, 0]):
        return "a patch is not nearest to itself"
    in_order = np.isfinite(result.distances).all() and (np.diff(result.distances, axis=1) >= 0).all()
    return None if in_order else "distances are not in order"


def _is_finite_array(arguments: Mapping[str, Any], result: Any) -> str | None:
    return _finite(result) if type(result) is np.ndarray else f"result is a {type(result).__name__}"


def _is_axes(arguments: Mapping[str, Any], result: Any) -> str | None:
    from matplotlib import pyplot

    pyplot.close("all")
    return None if hasattr(result, "imshow") else f"result is a {type(result).__name__}"


def _anything(arguments: Mapping[str, Any], result: Any) -> str | None:
    return None


def _is_stream(arguments: Mapping[str, Any], result: Any) -> str | None:
    for patches in result:
        problem = _finite(patches)
        if problem:
            return problem
    return None


# The functions

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
    learning = _WEIGHTS | {"random_state": _SEED}
    return {
        "denoise": Recipe(
            lambda random: sedil.denoise,
            {"image": array_of(*_IMAGES), "sigma": _POSITIVE, "dictionary": _suiting(stock, "image")},
            imaging
            | {"method": denoising, "threshold": _POSITIVE, "stride": _COUNT, "noise": one_of("white")},
            _is_image,
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
                "noise": one_of(None, "auto", "white"),
            },
            _is_image,
            0.3,
        ),
        "denoise, of a map": Recipe(
            lambda random: sedil.denoise,
            {
                "image": array_of((8, 9), (9, 8, 3)),
                "sigma": array_of((8, 9), (9,), (3,), (1, 1), (9, 8)),
            },
            imaging | {"method": denoising},
            _is_image,
            0.3,
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
            _is_image,
            0.3,
        ),
        "inpaint": Recipe(
            lambda random: sedil.inpaint,
            {"image": array_of(*_IMAGES), "mask": mask_for("image"), "dictionary": _suiting(stock, "image")},
            imaging
            | {
                "passes": _COUNT,
                "method": one_of("groups", "quick", "quick", "whole", None),
                "time_axis": one_of(None, None, 0),
                "sigma": one_of(0, 1.0),
                "stride": _FEW,
            },
            _is_image,
            4,
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
            _are_codes,
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
            _are_codes,
            1,
        ),
        "match_patches": Recipe(
            lambda random: sedil.match_patches,
            {"image": array_of(*_IMAGES), "patch_shape": one_of(1, 2, 3), "n_matches": one_of(1, 2, 3)},
            imaging | {"window": one_of(2, 3, 5), "stride": _COUNT},
            _are_matches,
            2,
        ),
        "estimate_noise": Recipe(
            lambda random: sedil.estimate_noise,
            {"image": array_of(*_IMAGES)},
            {"channel_axis": one_of(None, -1, 0)},
            _is_level,
            2,
        ),
        "measure_noise": Recipe(
            lambda random: sedil.measure_noise,
            {"image": array_of(*_IMAGES)},
            {"channel_axis": one_of(None, -1, 0), "kind": one_of("white", "correlated", "poisson-gaussian")},
            _is_estimate,
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
            _are_patches,
            2,
        ),
        "stream_patches": Recipe(
            lambda random: sedil.stream_patches,
            {
                "images": one_of(stock.pictures, str(stock.pictures), [stock.pictures / "0.png"]),
                "patch_shape": one_of((4, 4), (3, 2)),
                "n_patches": one_of(1, 5, 20),
            },
            {
                "random_state": _SEED,
                "flatten": one_of(True, False),
                "on_error": one_of(None, lambda path, error: None),
            },
            _is_stream,
            0.5,
        ),
        "normalize_patches": Recipe(
            lambda random: sedil.normalize_patches,
            {"patches": array_of(*_STACKS)},
            {"unit_length": one_of(True, False)},
            _are_normalized,
            2,
        ),
        "odct": Recipe(
            lambda random: sedil.odct,
            {"patch_shape": one_of((4, 4), 4, (3, 4, 5)), "n_atoms": one_of(5, 6)},
            {},
            _is_dictionary,
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
            _is_dictionary,
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
            _is_learned,
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
            _is_learned,
            1.5,
        ),
        "MiniBatchLearner": Recipe(
            lambda random: sedil.MiniBatchLearner,
            {},
            learning | {"n_atoms": one_of(3, 5, (5, 5), None), "batch_iterations": one_of(1, 2)},
            _is_learner,
            1,
        ),
        "MiniBatchLearner.partial_fit": Recipe(
            lambda random: sedil.MiniBatchLearner(5, batch_iterations=1, random_state=0).partial_fit,
            {"patches": array_of(*_STACKS)},
            {"mask": mask_for("patches")},
            _is_learner,
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
            _is_finite_array,
            1,
        ),
        "analyze": Recipe(method("analyze"), {"patches": array_of(*_STACKS)}, {}, _is_finite_array, 1),
        "like": Recipe(method("like"), {"array": array_of((2,), ())}, {}, _is_dictionary, 0.5),
        "replace": Recipe(
            method("replace"),
            {},
            {
                "signal_shape": one_of(None, (4, 4), (2, 2)),
                "threshold": _POSITIVE,
                "info": one_of({"a": 1}, None),
            },
            _is_dictionary,
            0.5,
        ),
        "save": Recipe(
            method("save"),
            {"path": one_of(stock.folder / "saved.npz", str(stock.folder / "b"))},
            {},
            _anything,
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
            _is_finite_array,
            0.7,
        ),
        "partial_fit": Recipe(lambda random: partly, {"X": rows}, parameters, _is_finite_array, 0.3),
        "transform": Recipe(lambda random: stock.model.transform, {"X": rows}, {}, _is_finite_array, 0.7),
        "inverse_transform": Recipe(
            lambda random: stock.model.inverse_transform,
            {"X": array_of((3, 25), (1, 25))},
            {},
            _is_finite_array,
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
            _is_dictionary,
            0.5,
        ),
        "shipped_dictionary": Recipe(
            lambda random: sedil.shipped_dictionary,
            {"name": one_of("separable-8x8")},
            {},
            _is_dictionary,
            0.3,
        ),
        "plot_atoms": Recipe(
            lambda random: sedil.plot_atoms,
            {"dictionary": one_of(*drawn), "ax": stock.axes},
            {
                "signal_shape": one_of(None, (4, 4), (2, 8), (16,)),
                "order": one_of("frequency", "stored", "use"),
            },
            _is_axes,
            0.15,
        ),
        "plot_history": Recipe(
            lambda random: sedil.plot_history,
            {"history": one_of(stock.result, stock.model, stock.result.history), "ax": stock.axes},
            {},
            _is_axes,
            0.1,
        ),
        "plot_noise": Recipe(
            lambda random: sedil.plot_noise,
            {
                "noise": lambda random: sedil.measure_noise(
                    np.random.default_rng(random.randrange(9)).standard_normal((16, 12))
                ),
                "ax": stock.axes,
            },
            {},
            _is_axes,
            0.1,
        ),
    }
