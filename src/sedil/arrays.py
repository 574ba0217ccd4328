"""What all layers know of arrays: any library that follows the Python array API standard will do.

Some arrays are *packed*: the samples are their **last** axis, ``(*patch_shape, n)`` or ``(*n_atoms, n)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import frexp, prod
from typing import Any, Protocol, TypeVar

import numpy as np
from array_api_compat import array_namespace, is_torch_array
from array_api_compat import device as device_of

from sedil.choices import Precision


class Array(Protocol):
    """An array of any library that follows the array API standard: what all of them have."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""

    @property
    def ndim(self) -> int:
        """Number of axes."""

    @property
    def dtype(self) -> Any:
        """Type of the entries."""

    @property
    def device(self) -> Any:
        """Where the entries lie."""

    @property
    def T(self) -> Any:  # noqa: N802
        """The transpose of a matrix."""

    def __getitem__(self, key: Any, /) -> Any: ...
    def __len__(self) -> int: ...
    def __neg__(self) -> Any: ...
    def __invert__(self) -> Any: ...
    def __add__(self, other: Any, /) -> Any: ...
    def __radd__(self, other: Any, /) -> Any: ...
    def __sub__(self, other: Any, /) -> Any: ...
    def __rsub__(self, other: Any, /) -> Any: ...
    def __mul__(self, other: Any, /) -> Any: ...
    def __rmul__(self, other: Any, /) -> Any: ...
    def __truediv__(self, other: Any, /) -> Any: ...
    def __rtruediv__(self, other: Any, /) -> Any: ...
    def __pow__(self, other: Any, /) -> Any: ...
    def __matmul__(self, other: Any, /) -> Any: ...
    def __mod__(self, other: Any, /) -> Any: ...
    def __floordiv__(self, other: Any, /) -> Any: ...
    def __and__(self, other: Any, /) -> Any: ...
    def __or__(self, other: Any, /) -> Any: ...
    def __eq__(self, other: Any, /) -> Any: ...
    def __ne__(self, other: Any, /) -> Any: ...
    def __lt__(self, other: Any, /) -> Any: ...
    def __le__(self, other: Any, /) -> Any: ...
    def __gt__(self, other: Any, /) -> Any: ...
    def __ge__(self, other: Any, /) -> Any: ...


AnyArray = TypeVar("AnyArray", bound=Array)  # results of the kind that came in

# Largest values whose squares, and small shares of them, float32 holds; others are brought to the exponent.
_SMALLEST, _LARGEST, _WANTED_EXPONENT = 2.0**-30, 2.0**40, 8


def namespace(array: Array) -> Any:
    """The functions of an array's library.

    NumPy follows the standard itself: small arrays, such as factors, ask for it thousands of times a second,
    and to search among all libraries would take longer than to work on them.
    """
    return np if isinstance(array, np.ndarray) else array_namespace(array)


def is_same_kind(array: Array, other: Array) -> bool:
    """Whether two arrays are of one library and on one device."""
    return namespace(array) is namespace(other) and array.device == other.device


def inner_product(left: Array, right: Array) -> float:
    """Sum of the products of all entries, taken in float64."""
    return float(summed(left * right, dtype=namespace(left).float64))


def summed(array: AnyArray, axis: int | None = None, dtype: Any = None, keepdims: bool = False) -> AnyArray:
    """The sum of the standard; of NumPy what it comes down to, as its wrapper takes longer than a factor."""
    add: Any = np.add.reduce if isinstance(array, np.ndarray) else namespace(array).sum
    total: AnyArray = add(array, axis=axis, dtype=dtype, keepdims=keepdims)
    return total


def is_on_processor(array: Array) -> bool:
    """Whether an array lies in the memory of the processor, not on another device."""
    return str(device_of(array)) == "cpu"


def pack(samples: AnyArray) -> AnyArray:
    """Move the samples from the first axis to the last, contiguously: ``(n, ...) -> (..., n)``."""
    xp = namespace(samples)
    return contiguous(xp.moveaxis(samples, 0, -1))


def unpack(packed: AnyArray) -> AnyArray:
    """Inverse of `pack`: ``(..., n) -> (n, ...)``."""
    xp = namespace(packed)
    return contiguous(xp.moveaxis(packed, -1, 0))


def to_numpy(array: Array) -> np.ndarray:
    """A NumPy copy or view of an array of any library, fetched from its device."""
    if is_torch_array(array):
        return array.detach().cpu().numpy()
    if hasattr(array, "get"):  # CuPy
        return array.get()
    return np.asarray(array)


def in_precision(array: AnyArray, dtype: Precision) -> AnyArray:
    """The array in "float32" or "float64", of its own library and device; copied only if it differs."""
    xp = namespace(array)
    return xp.astype(array, getattr(xp, dtype), copy=False)


def detached(array: AnyArray) -> AnyArray:
    """The numbers alone: a tensor of torch that is part of a record of gradients is no longer."""
    return array.detach() if is_torch_array(array) else array


def contiguous(array: AnyArray) -> AnyArray:
    """The array in row-major memory."""
    xp = namespace(array)
    # Flattening is the standard's one way to ask for row-major memory.
    return xp.reshape(xp.reshape(array, (-1,)), array.shape)


def zeros_of(array: AnyArray) -> AnyArray:
    """Zeros of the shape and kind of an array, in row-major memory whatever its own is."""
    return namespace(array).zeros(tuple(array.shape), dtype=array.dtype, device=device_of(array))


def variance(array: Array) -> float:
    """Mean squared distance from the mean, summed in float64."""
    xp = namespace(array)
    count = prod(array.shape)
    mean = xp.sum(array, dtype=xp.float64) / count
    distance = xp.astype(array, xp.float64) - mean
    return float(xp.sum(distance * distance)) / count


def kronecker(left: AnyArray, right: Array) -> AnyArray:
    """The Kronecker product of two matrices."""
    blocks = left[:, None, :, None] * right[None, :, None, :]
    shape = left.shape[0] * right.shape[0], left.shape[1] * right.shape[1]
    return namespace(left).reshape(blocks, shape)


def add_at(target: Array, index: Array, values: Array) -> None:
    """Add values to the entries of a contiguous array with these flat indices, which may occur many times."""
    xp = namespace(target)
    flat = xp.reshape(target, (-1,), copy=False)
    if is_torch_array(target):
        flat.index_add_(0, index, values)
    else:
        xp.add.at(flat, index, values)


def window_sums(array: AnyArray, window: Sequence[int], *, forwards: bool) -> AnyArray:
    """Sums over the entries of a window that begins at each entry, or `forwards`, that ends there.

    One is the adjoint of the other. What lies outside of the array counts nothing.
    """
    xp = namespace(array)
    for axis, length in enumerate(window):
        along = xp.moveaxis(array, axis, 0)
        sums = xp.asarray(along, copy=True)
        for shift in range(1, length):
            if forwards:
                sums[shift:, ...] += along[:-shift, ...]
            else:
                sums[:-shift, ...] += along[shift:, ...]
        array = xp.moveaxis(sums, 0, axis)
    return array


def exponent_to_work_in(largest: float) -> int:
    """The power of two that brings numbers up to `largest` where float32 can square and add them.

    Zero for all usual units, so that these are computed on as they are.
    """
    if largest == 0 or _SMALLEST <= largest <= _LARGEST:
        return 0
    return _WANTED_EXPONENT - frexp(largest)[1]


def times_power_of_two(array: AnyArray, exponent: int) -> AnyArray:
    """The array times ``2**exponent``, exactly; in two steps, as that number itself may be out of range."""
    if exponent == 0:
        return array
    half = exponent // 2
    return array * 2.0**half * 2.0 ** (exponent - half)


def largest_size(array: Array) -> float:
    """The largest absolute value; zero if there is none."""
    xp = namespace(array)
    return max(float(xp.max(array)), -float(xp.min(array))) if prod(array.shape) else 0.0


def value_range(array: Array) -> float:
    """From the least to the largest value."""
    xp = namespace(array)
    return float(xp.max(array) - xp.min(array))


def largest_sizes(array: AnyArray, axis: int | tuple[int, ...]) -> AnyArray:
    """The largest absolute value along axes, which stay as ones of length 1; 1 where all is zero."""
    xp = namespace(array)
    sizes = xp.max(xp.abs(array), axis=axis, keepdims=True)
    return xp.where(sizes > 0, sizes, xp.ones_like(sizes))


def are_workable(sizes: Array) -> bool:
    """Whether numbers of all these sizes can be squared and added in float32."""
    xp = namespace(sizes)
    return not exponent_to_work_in(float(xp.min(sizes))) and not exponent_to_work_in(float(xp.max(sizes)))
