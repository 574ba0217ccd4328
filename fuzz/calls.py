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
