"""Calls: right arguments, none, one or two of them replaced by something else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

from fuzz.stock import Stock
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
    is_matched: bool = False  # whether the good arguments go together as they are made


def one_of(*values: Any) -> Maker:
    """One of a few values."""
    return lambda random: random.choice(values)


def array_of(*shapes: tuple[int, ...], plain: float = 0.25) -> Maker:
    """An array of one of these shapes, nearly always; some are plain, to get further than the checks."""

    def make(random: Random) -> Any:
        shape = random.choice(shapes) if random.random() < 0.97 else None
        return any_array(random, shape, is_plain=random.random() < plain)

    return make


@dataclass
class Later:
    """An argument that follows from the others, which are put together first."""

    make: Callable[[Mapping[str, Any]], Any]


def mask_for(name: str, chance: float = 0.3) -> Maker:
    """A mask of the shape of that argument."""

    def make(random: Random) -> Any:
        rng = np.random.Generator(np.random.PCG64(random.getrandbits(32)))
        return Later(lambda arguments: rng.random(_shape_of(arguments, name)) < chance)

    return make


def map_for(name: str) -> Maker:
    """Levels for each entry of that argument, or for all of one row or channel; some of them zero."""

    def make(random: Random) -> Any:
        rng = np.random.Generator(np.random.PCG64(random.getrandbits(32)))
        scale, axes = random.choice((0.1, 1.0, 20.0, 1e-30, 1e30)), random.choice((None, 1, 1, 2, -1))
        zeros = random.choice((0.0, 0.0, 0.2, 1.0))

        def levels(arguments: Mapping[str, Any]) -> np.ndarray:
            shape = _shape_of(arguments, name)
            shape = shape if axes is None else shape[-1:] if axes == -1 else shape[:axes]
            return scale * rng.uniform(0.5, 2, shape) * (rng.random(shape) >= zeros)

        return Later(levels)

    return make


def _shape_of(arguments: Mapping[str, Any], name: str) -> tuple[int, ...]:
    shape = getattr(arguments.get(name), "shape", None)
    return shape if isinstance(shape, tuple) else (4, 4)


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
        if isinstance(value, Later):
            arguments[key] = value.make(arguments)
    if not recipe.is_matched and random.random() < 0.9:
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
