"""What calls are made with: arrays of every make, and things that are no such argument at all."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

ORDINARY_TYPES = ("f8", "f8", "f8", "f4", "f4", "u1", "u2", "i8")
ALL_TYPES = (
    *("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "g", "c8", "c16"),
    *(">f4", ">f8", ">i2", "O", "U3", "S2", "M8[s]", "m8[s]", "i4,f4"),
)


class Duck:
    """Looks like an array to whoever asks for one."""

    def __init__(self, values: np.ndarray) -> None:
        self._values = values
        self.shape, self.dtype, self.ndim = values.shape, values.dtype, values.ndim

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(self._values, dtype=dtype)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Duck({self.dtype} {self.shape})"


class Numberish:
    """Turns into numbers when asked to."""

    def __index__(self) -> int:
        return 2

    def __float__(self) -> float:
        return 2.5

    def __repr__(self) -> str:
        return "Numberish()"


class Word(str):
    """Text of another class."""

    __slots__ = ()


def _nothing(*arguments: Any, **more: Any) -> None:
    """A function that takes all and gives nothing."""


def junk(random: Random) -> Any:
    """Anything but what was asked for, most of the time."""
    return random.choice(_JUNK)()


_JUNK = [
    *(
        lambda value=value: value
        for value in (None, "", "abc", "l1", "\0", "x" * 5000, Word("abc"), b"", b"abc")
    ),
    *(
        lambda value=value: value
        for value in (0, 1, 2, 3, 5, -1, -2, 7, 100, 10**20, -(10**20), 2**31, 2**63)
    ),
    *(lambda value=value: value for value in (1.0, 1.5, -1.5, 0.0, -0.0, 1e308, 1e39, 1e-39, 5e-324, 1e-320)),
    *(lambda value=value: value for value in (float("nan"), float("inf"), -float("inf"), 1j, True, False)),
    *(lambda value=value: value for value in (np.float32(2), np.int8(3), np.bool_(True), np.float64("nan"))),
    *(lambda value=value: value for value in (np.float16(0.5), np.longdouble(2), np.uint64(2**64 - 1))),
    *(lambda value=value: value for value in (np.datetime64("2020-01-01"), np.ma.masked, np.str_("abc"))),
    *(
        lambda value=value: value
        for value in (Decimal(2), Fraction(1, 3), Ellipsis, NotImplemented, bool, np)
    ),
    *(lambda value=value: value for value in ((), (4,), (4, 4), (2, 2, 2), (1,), (0, 4), (-1, 4), (4, 4.0))),
    *(
        lambda value=value: value
        for value in ((1,) * 5, (10**10,), (2**62, 4), (4, None), (4, "a"), (True, 4))
    ),
    *(
        lambda value=value: value
        for value in (range(3), slice(3), frozenset(), Path(), Path("/dev/null"), Path("x\0y"))
    ),
    *(
        lambda value=value: value
        for value in (_nothing, Numberish(), ["a"], [[True]], [None], [[1.0], [1, 2]])
    ),
    list,
    dict,
    set,
    object,
    bytearray,
    lambda: [1, 2],
    lambda: [1.5, "a"],
    lambda: {"a": 1},
    lambda: {"a": object()},
    lambda: {1: 2},
    lambda: {"a": float("nan")},
    lambda: iter([1, 2]),
    lambda: (value for value in "ab"),
    lambda: np.array(3),
    lambda: np.array([1, 2]),
    lambda: np.array("a"),
    lambda: np.array(None),
    lambda: np.zeros(0),
    lambda: np.eye(4, dtype=bool),
    lambda: np.ma.MaskedArray([1.0, 2.0], [True, False]),
    lambda: np.random.default_rng(0),
    lambda: np.random.RandomState(0),
    lambda: Duck(np.ones((4, 4))),
    lambda: memoryview(b"abcd"),
    lambda: ValueError("abc"),
]


def any_shape(random: Random) -> tuple[int, ...]:
    """Any number of axes from none to five, some of them empty or of length one."""
    n_axes = random.choice((0, 1, 1, 2, 2, 2, 3, 3, 4, 5))
    return tuple(
        random.choice((0, 1, 1, 2, 3, 4, 4, 6, 8)) if random.random() < 0.7 else 4 for _ in range(n_axes)
    )


_ORDINARY = 0.7  # share of arrays that are not unusual in all


def any_array(random: Random, shape: tuple[int, ...] | None = None, *, is_plain: bool = False) -> Any:
    """An array of a shape, or of any, unusual in nothing, or in its type, values, layout or class."""
    shape = any_shape(random) if shape is None else shape
    n_unusual = 0 if is_plain else random.choice((0, 1, 1, 1, 2, 4))
    kinds = set(random.sample(("type", "values", "layout", "class"), n_unusual))
    if random.random() < _ORDINARY:
        kinds -= {"type"} if random.random() < 0.5 else {"class"}
    dtype = np.dtype(random.choice(ALL_TYPES if "type" in kinds else ORDINARY_TYPES))
    array = _filled(random, shape, dtype, "values" in kinds)
    if "layout" in kinds:
        array = _laid_out(random, array)
    return _of_class(random, array) if "class" in kinds else array


def _filled(random: Random, shape: tuple[int, ...], dtype: np.dtype, unusual: bool) -> np.ndarray:
    rng = np.random.Generator(np.random.PCG64(random.getrandbits(64)))
    values = np.asarray(_real_values(random, rng, shape, unusual))
    with np.errstate(all="ignore"):
        if dtype.kind in "iu" and unusual:
            ends = np.iinfo(dtype)
            return rng.choice(np.array([ends.min, ends.max, ends.max - 1, 1], dtype), shape)
        if dtype.kind in "biu":
            return np.nan_to_num(values, posinf=1, neginf=0).clip(0, 120).astype(dtype)
        if dtype.kind in "Mm":
            return np.nan_to_num(values, posinf=1, neginf=0).clip(0, 1e6).astype("i8").astype(dtype)
        if dtype.kind in "US":
            return rng.choice(np.array(["1", "a", ""], dtype), shape)
        if dtype.kind == "V":
            return np.zeros(shape, dtype)
        if dtype.kind == "O" and random.random() < 0.5:
            return rng.choice(np.array([1, None, "a", 2.5], object), shape)
        return values.astype(dtype)


def _real_values(
    random: Random, rng: np.random.Generator, shape: tuple[int, ...], unusual: bool
) -> np.ndarray:
    values = rng.standard_normal(shape)
    if not unusual:
        return random.choice((lambda: values, lambda: 100 + 20 * values, lambda: rng.random(shape)))()
    with np.errstate(all="ignore"):
        return random.choice(
            (
                lambda: values * 10.0 ** random.choice((-300, -160, -60, -38, -30, -25, -23, -19, -12, 12)),
                lambda: values * 10.0 ** random.choice((15, 18, 19, 20, 25, 30, 34, 37, 38, 60, 150, 300)),
                lambda: values + 10.0 ** random.choice((5, 8, 9, 12, 15, 20, 300)),
                lambda: values * 5e-324 * 3,
                lambda: np.zeros(shape),
                lambda: np.full(shape, random.choice((1.0, 0.1, 1e9, -3.0, 1e38, 1e-300))),
                lambda: np.where(rng.random(shape) < 0.1, random.choice((np.nan, np.inf, -np.inf)), values),
                lambda: np.where(
                    rng.random(shape) < 0.1, 10.0 ** random.choice((10, 20, 30, 38, 300)), values
                ),
                lambda: np.where(rng.random(shape) < 0.9, 0.0, values),
                lambda: np.where(rng.random(shape) < 0.5, np.finfo("f4").max, np.finfo("f4").min),
            )
        )()


def _laid_out(random: Random, array: np.ndarray) -> np.ndarray:
    """The same values in memory of another order, or that cannot be written."""
    if array.ndim == 0:
        return array
    kind = random.choice(
        ("fortran", "reversed", "every second", "read-only", "broadcast", "wide", "unaligned")
    )
    if kind == "fortran":
        return np.asfortranarray(array)
    if kind == "reversed":
        return array[(slice(None, None, -1),) * array.ndim]
    if kind == "read-only":
        array.setflags(write=False)
        return array
    if kind == "broadcast":
        return np.broadcast_to(array[:1], array.shape)
    if kind == "every second":
        wide = np.zeros([2 * side for side in array.shape], array.dtype)
        view = wide[(slice(None, None, 2),) * array.ndim]
        view[...] = array
        return view
    if kind == "wide" and 0 < array.size <= 400:
        apart = np.zeros((*array.shape, 1000), array.dtype)[..., 0]
        apart[...] = array
        return apart
    if kind == "unaligned" and array.dtype.kind not in "OV":
        raw = np.zeros(array.nbytes + 1, np.uint8)[1:]
        view = raw.view(array.dtype)[: array.size].reshape(array.shape) if array.size else array
        view[...] = array
        return view
    return array


def _of_class(random: Random, array: np.ndarray) -> Any:
    kind = random.choice(("masked", "matrix", "memmap", "duck", "list", "nothing masked", "subclass"))
    if kind == "masked":
        rng = np.random.Generator(np.random.PCG64(random.getrandbits(64)))
        return np.ma.MaskedArray(array, rng.random(array.shape) < 0.2)
    if kind == "nothing masked":
        return np.ma.MaskedArray(array)
    if kind == "matrix" and array.ndim == 2:
        return array.view(np.matrix)
    if kind == "memmap" and array.flags.c_contiguous:
        return array.view(np.memmap)
    if kind == "duck":
        return Duck(array)
    if kind == "list":
        return array.tolist()
    return array.view(_Sub)


class _Sub(np.ndarray):
    """A class of its own."""


def in_words(value: Any) -> str:
    """A value in few words."""
    if isinstance(value, np.ndarray):
        kind = "" if type(value) is np.ndarray else f"{type(value).__name__} "
        text = np.array2string(np.asarray(value).ravel()[:3], precision=4, separator=", ")
        return f"{kind}{value.dtype} {value.shape} strides {value.strides} {text}"
    text = repr(value)
    return text if len(text) <= 90 else f"{text[:80]}... ({type(value).__name__})"
