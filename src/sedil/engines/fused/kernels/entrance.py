"""The way into the kernels from Python, where the arrays that they get are looked at.

A kernel looks at no size itself. It finds what it reads and writes by the sizes of the dictionary, partly by
bare addresses: an array that is too short, has gaps or is of another type would lead it into memory that is
not its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from math import prod
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

import numpy as np

from sedil.engines.fused.kernels.vectors import WIDTH

AnyKernel = TypeVar("AnyKernel", bound=Callable[..., Any])
_MOST_KNOWN = 1024  # of one kernel; a last chunk of any length makes another


class _Rule(NamedTuple):
    """What one array must be; `axes` are words for the lengths of its axes."""

    name: str
    position: int
    array_of: Callable[[Any], np.ndarray] | None
    dtype: np.dtype
    axes: tuple[str, ...]

    @classmethod
    def create(cls, parameters: list[str], name: str, words: str) -> _Rule:
        argument, _, attribute = name.partition(".")
        kind, *axes = words.split()
        array_of = attrgetter(attribute) if attribute else None
        return cls(name, parameters.index(argument), array_of, np.dtype(kind), tuple(axes))

    def array_among(self, arguments: tuple[Any, ...]) -> np.ndarray:
        argument = arguments[self.position]
        return argument if self.array_of is None else self.array_of(argument)


class Entrance:
    """What the arrays of one kernel must be.

    Parameters
    ----------
    function : the kernel in Python
    arrays : type and shape of each array in words, such as "float32 n entries", by the name of the argument,
        or of an attribute of one ("lanes.slope"). The words "entries" and "atoms" stand for those of the
        dictionary, if that is the first argument, "width" for the samples of a block, and others for the
        length that comes first. "n_or_none" is n, or 0.
    """

    def __init__(self, function: Callable[..., Any], arrays: Mapping[str, str]) -> None:
        parameters = list(signature(function).parameters)
        self._name, self._has_dictionary = function.__name__, parameters[0] == "operator"
        self._rules = [_Rule.create(parameters, name, words) for name, words in arrays.items()]
        self._passed: set[tuple[Any, ...]] = set()

    def check(self, arguments: tuple[Any, ...]) -> None:
        """Refuse arrays that do not fit together.

        Learning from small batches calls a kernel thousands of times a second with arrays of the same sizes:
        what has passed once is known by its looks.
        """
        looks: list[Any] = [
            (array.shape, array.dtype, array.flags.c_contiguous)
            for array in (rule.array_among(arguments) for rule in self._rules)
        ]
        if self._has_dictionary:
            looks += arguments[0].lengths.tobytes(), arguments[0].counts.tobytes()
        known = tuple(looks)
        if known not in self._passed:
            self._look_closely(arguments)
            if len(self._passed) >= _MOST_KNOWN:
                self._passed.clear()
            self._passed.add(known)

    def _look_closely(self, arguments: tuple[Any, ...]) -> None:
        lengths = {"width": WIDTH}
        if self._has_dictionary:
            lengths["entries"] = prod(arguments[0].lengths.tolist())
            lengths["atoms"] = prod(arguments[0].counts.tolist())
        for rule in self._rules:
            array, axes = rule.array_among(arguments), rule.axes
            shape = array.shape
            if "n_or_none" in axes:
                lengths["n_or_none"] = lengths["n"] if shape[0] else 0
            wanted = tuple(map(lengths.setdefault, axes, shape))
            fits = shape == wanted and len(shape) == len(axes)
            if not (fits and array.dtype == rule.dtype and array.flags.c_contiguous):
                raise RuntimeError(self._complaint(rule.name, array, rule.dtype, axes, lengths))

    def _complaint(
        self, name: str, array: np.ndarray, dtype: np.dtype, axes: tuple[str, ...], lengths: Mapping[str, int]
    ) -> str:
        shape = ", ".join(f"{word} = {lengths[word]}" if word in lengths else word for word in axes)
        gaps = "" if array.flags.c_contiguous else " with gaps"
        return (
            f"{self._name} takes {name} in {dtype} without gaps, of shape ({shape}), and got "
            f"{array.dtype}{gaps} of shape {array.shape}: this is a mistake in sedil, please report it."
        )


def takes(**arrays: str) -> Callable[[AnyKernel], AnyKernel]:
    """Say what the arrays of a kernel must be, see `Entrance`; ``lanes__slope`` means ``lanes.slope``."""

    def declare(kernel: Any) -> Any:
        named = {name.replace("__", "."): words for name, words in arrays.items()}
        kernel.entrance = Entrance(kernel.py_func, named)
        return kernel

    return declare
