"""Input checks, one function per rule. Each message says what came, what is allowed, what to do."""

from __future__ import annotations

import os
from collections.abc import Sequence
from math import isfinite, nan, prod
from numbers import Integral, Real
from pathlib import Path
from typing import Any, TypeVar, get_args

import numpy as np
from array_api_compat import device as device_of
from array_api_compat import is_array_api_obj, is_dask_array, is_numpy_array

from sedil.arrays import AnyArray, Array, detached, in_precision, is_same_kind, namespace
from sedil.choices import Precision
from sedil.errors import kind_of
from sedil.memory import usable_memory

Word = TypeVar("Word", bound=str)
_LONGEST_VALUE = 60  # characters of a value in a message
_THRESHOLDS = 1e-6, 1000.0  # in multiples of sigma
_LONGEST_PATH, _LONGEST_NAME = 4095, 255  # that any system takes

MAX_AXES = 4
MAX_THREADS = 1024
PRECISIONS: tuple[Precision, ...] = get_args(Precision)
# What learning holds of each factor: itself, gradients, directions and trial points in float32, and what the
# coherence barrier makes of all pairs of atoms in float64.
_FACTOR_COPIES, _GRAM_COPIES, _MOST_BYTES = 8, 4, 4 * 2**30


def as_real_array(values: AnyArray, name: str) -> AnyArray:
    """`values` as a float32 or float64 array of its own library and device; never modified.

    Floats keep their precision (float16 becomes float32), integers and booleans become float64.
    """
    require_unmasked(values, name)
    array: Any = in_native_order(detached(as_plain_array(values, name)))
    xp = namespace(array)
    if array.dtype in (xp.float32, xp.float64):
        return array
    if xp.isdtype(array.dtype, "complex floating"):
        raise TypeError(f"{name} must hold real numbers, got dtype {array.dtype}.")
    narrow = xp.isdtype(array.dtype, "real floating") and xp.finfo(array.dtype).bits < 32
    return xp.astype(array, xp.float32 if narrow else xp.float64)


def as_plain_array(values: Any, name: str) -> Any:
    """An array of real numbers: one of another library as it is, all else as a plain array of NumPy."""
    if is_dask_array(values):
        raise TypeError(f"{name} must be in memory here, got a Dask array: call {name}.compute() first.")
    if is_array_api_obj(values) and not is_numpy_array(values):
        return values
    try:
        array = np.asarray(values)
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError(f"{name} must be one rectangular array of numbers: {error}") from None
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers, got {_given(values, array)}.")
    return array


def in_native_order(array: AnyArray) -> AnyArray:
    """The same numbers with their bytes in the order of this machine."""
    own: Any = array
    if isinstance(own, np.ndarray) and not own.dtype.isnative:
        own = own.astype(own.dtype.newbyteorder("="))
    return own


def _given(values: Any, array: np.ndarray) -> str:
    """What came in place of numbers."""
    return f"dtype {array.dtype}" if is_numpy_array(values) or array.ndim else short(values)


def require_array(array: Any) -> None:
    """An array of any library, which tells in what kind results are wanted."""
    if not is_array_api_obj(array):
        raise TypeError(f"array must be an array whose kind is wanted, got {short(array)}.")


def require_unmasked(values: Any, name: str, remedy: str = "fill or drop the masked values first") -> None:
    """No masked array of NumPy: whoever takes it for a plain one forgets the mask."""
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array: {remedy}.")


def as_working_array(values: AnyArray, name: str, dtype: Precision | None) -> AnyArray:
    """`values` in the precision to compute in, as an array of its own library and device; never modified.

    With `dtype` it is that one. Without, NumPy arrays and whole numbers are computed on in float32, sums in
    float64 all the same, and arrays of other libraries in their own precision.
    """
    return in_working_precision(as_real_array(values, name), name, working_precision(dtype, values))


def in_working_precision(array: AnyArray, name: str, dtype: Precision | None) -> AnyArray:
    """An array of real numbers in the precision to compute in; see `as_working_array`."""
    with np.errstate(over="ignore", under="ignore"):
        working = in_precision(array, working_precision(dtype, array))
    if floating_dtype(array) == "float64" and floating_dtype(working) == "float32":
        _require_float32_range(array, name)
    return working


def working_precision(dtype: Precision | None, values: Any) -> Precision:
    """What is computed in: what the caller says, else what suits these values."""
    if dtype is not None:
        return require_choice(dtype, "dtype", PRECISIONS)
    is_numpy = isinstance(values, np.ndarray) or not is_array_api_obj(values)
    return "float32" if is_numpy else floating_dtype(values)


def _require_float32_range(array: Array, name: str) -> None:
    """Refuse numbers whose squares float32 cannot hold: results would be infinite, or zero without a word."""
    if prod(array.shape) == 0:
        return
    xp, limits = namespace(array), np.finfo(np.float32)
    largest = max(float(xp.max(array)), -float(xp.min(array)))
    is_large, is_small = (
        largest > float(limits.max) ** 0.5,
        0 < largest < float(limits.smallest_normal) ** 0.5,
    )
    if isfinite(largest) and (is_large or is_small):
        raise ValueError(
            f"{name} reaches {largest:.3g}, too {'large' if is_large else 'small'} for float32: "
            'rescale it, or compute with dtype="float64".'
        )


def floating_dtype(values: Any) -> Precision:
    """The precision in which results for these values come back: theirs, and float32 for whole numbers."""
    array = values if is_array_api_obj(values) and not is_numpy_array(values) else np.asarray(values)
    xp = namespace(array)
    is_wide = xp.isdtype(array.dtype, "real floating") and xp.finfo(array.dtype).bits > 32
    return "float64" if is_wide else "float32"


def is_finite(array: Array) -> bool:
    """Whether all entries are finite.

    NaN is the least and the greatest of its array, so that no array of flags is needed.
    """
    xp = namespace(array)
    return prod(array.shape) == 0 or bool(xp.isfinite(xp.min(array)) & xp.isfinite(xp.max(array)))


def require_finite(array: Array, name: str) -> None:
    """Refuse NaN and infinity, and say how many there are and where the first one is."""
    if is_finite(array):
        return
    xp = namespace(array)
    bad = ~xp.isfinite(array)
    count = int(xp.sum(xp.astype(bad, xp.int64)))
    first = int(xp.argmax(xp.astype(xp.reshape(bad, (-1,)), xp.int8)))
    where = tuple(int(i) for i in np.unravel_index(first, tuple(array.shape)))
    raise ValueError(
        f"{name} must be finite, got {count} NaN or infinite value{'s' if count > 1 else ''} "
        f"(the first at index {where}): remove or replace them."
    )


def require_patches(patches: Array) -> None:
    """Patches are a non-empty stack ``(n, *patch_shape)`` of blocks with 1 to 4 axes."""
    shape = tuple(patches.shape)
    if len(shape) < 2 or len(shape) > MAX_AXES + 1:
        raise ValueError(
            f"patches must have shape (n, *patch_shape) with 1 to {MAX_AXES} patch axes, got "
            f"{len(shape)} axes in all, shape {shape}: stack the patches along a first axis."
        )
    if prod(shape) == 0:
        raise ValueError(f"patches are empty: got shape {shape}, at least one patch is needed.")
    require_finite(patches, "patches")


def require_patch_shape(patches: Array, patch_shape: Sequence[int]) -> None:
    """Patches must end with the axes of the dictionary's patches."""
    _require_trailing_shape(patches, patch_shape, "patches", "reshape them")


def require_code_shape(codes: Array, n_atoms: Sequence[int]) -> None:
    """Codes must end with one axis per factor, as long as the factor has atoms."""
    _require_trailing_shape(codes, n_atoms, "codes", "they come from sparse_code or analyze")


def require_same_library(
    array: Array,
    other: Array,
    name: str,
    other_name: str,
    remedy: str = "for example dictionary.like(patches)",
) -> None:
    """Refuse to mix array libraries or devices."""
    if not is_same_kind(array, other):
        raise TypeError(
            f"{name} is a {_kind(array)} but {other_name} is a {_kind(other)}: use one array library "
            f"and device, {remedy}."
        )


def patch_lengths(patch_shape: int | Sequence[int], name: str = "patch_shape") -> tuple[int, ...]:
    """Lengths of the patch axes; a single number is one axis."""
    lengths: Any = (patch_shape,) if isinstance(patch_shape, Integral) else patch_shape
    if not _is_list(lengths):
        raise TypeError(f"{name} must be whole numbers such as (8, 8), got {short(patch_shape)}.")
    if not 1 <= len(lengths) <= MAX_AXES:
        raise ValueError(f"{name} must have 1 to {MAX_AXES} numbers, got {len(lengths)}.")
    return tuple(require_count(length, name, minimum=1) for length in lengths)


def atom_counts(n_atoms: int | Sequence[int], patch_shape: Sequence[int]) -> tuple[int, ...]:
    """One positive number of atoms per patch axis; a single number serves all axes."""
    given: Any = n_atoms
    counts = tuple(given) if _is_list(given) else (given,) * len(patch_shape)
    if len(counts) != len(patch_shape):
        raise ValueError(
            f"n_atoms must have one number per patch axis: patches have {len(patch_shape)} "
            f"(shape {tuple(patch_shape)}), got n_atoms={short(n_atoms)}."
        )
    for count in counts:
        if not _is_whole(count) or count < 1:
            raise ValueError(f"n_atoms must be positive whole numbers, got {short(n_atoms)}.")
    return tuple(int(count) for count in counts)


def sizes_along(value: int | Sequence[int], name: str, n_axes: int) -> tuple[int, ...]:
    """One positive number per axis of an image; a single number serves all axes."""
    given: Any = value
    sizes = tuple(given) if _is_list(given) else (given,) * n_axes
    if len(sizes) != n_axes:
        raise ValueError(f"{name} must be one number, or {n_axes} for this image, got {short(value)}.")
    return tuple(require_count(size, name, minimum=1) for size in sizes)


def require_atom_counts(n_atoms: int | Sequence[int] | None) -> None:
    """Numbers of atoms for patches whose axes are not known yet."""
    if n_atoms is not None:
        atom_counts(n_atoms, n_atoms if _is_list(n_atoms) else (1,))  # type: ignore[arg-type]


def _is_list(value: Any) -> bool:
    """Whether it is a list of things, not text or bytes, which are lists too."""
    if isinstance(value, np.ndarray):
        return value.ndim == 1 and not isinstance(value, np.ma.MaskedArray)
    return isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray | memoryview)


def is_list_or_array(value: Any) -> bool:
    """Whether it is several numbers, or at least an array that could be."""
    return _is_list(value) or (is_array_api_obj(value) and getattr(value, "ndim", 0) > 0)


def is_array_of_one(value: Any) -> bool:
    """Whether it is an array without axes, as a mean over all axes is."""
    return is_array_api_obj(value) and getattr(value, "shape", None) == ()


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool | np.timedelta64)


def _is_real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.timedelta64)


def require_positive(value: float, name: str, *, zero_allowed: bool = False) -> float:
    """A finite positive number; zero only where `zero_allowed`."""
    number = _as_float(value)
    if not isfinite(number) or number < 0 or (number == 0 and not zero_allowed):
        kind = "non-negative" if zero_allowed else "positive"
        raise ValueError(f"{name} must be a finite {kind} number, got {short(value)}.")
    return number


def require_finite_number(value: float, name: str) -> float:
    """A finite number of either sign."""
    number = _as_float(value)
    if not isfinite(number):
        raise ValueError(f"{name} must be a finite number, got {short(value)}.")
    return number


def _as_float(value: Any) -> float:
    """A real number as a float; NaN for all else, and for what is beyond it."""
    try:
        return float(value) if _is_real(value) else nan
    except OverflowError:
        return nan


def require_threshold(threshold: float) -> float:
    """A threshold in multiples of the noise, as far as that has a meaning."""
    number, (low, high) = require_positive(threshold, "threshold"), _THRESHOLDS
    if not low <= number <= high:
        end = f"at most {high:g}" if number > high else f"at least {low:g}"
        raise ValueError(f"threshold is in multiples of sigma and {end}, got {number:g}: leave it out.")
    return number


def require_between(value: float, name: str, low: float, high: float, *, closed: bool = False) -> float:
    """A number of the interval from `low` to `high`, with its ends where `closed`."""
    inside = _is_real(value) and (low <= value <= high if closed else low < value < high)
    if not inside:
        ends = "from {} to {} (ends included)" if closed else "strictly between {} and {}"
        raise ValueError(f"{name} must be {ends.format(low, high)}, got {short(value)}.")
    return float(value)


def require_count(value: int, name: str, minimum: int = 0, maximum: int = 2**63 - 1) -> int:
    """A whole number from `minimum` to `maximum`."""
    if not _is_whole(value) or value < minimum:
        raise ValueError(f"{name} must be a whole number of at least {minimum}, got {short(value)}.")
    if value > maximum:
        raise ValueError(f"{name} must be at most {maximum:,}, got {short(value)}.")
    return int(value)


def optional_count(value: int | None, name: str, maximum: int = 2**63 - 1) -> int | None:
    """A whole number from 1 to `maximum`, as one of Python, which does not overflow; None stays."""
    return None if value is None else require_count(value, name, minimum=1, maximum=maximum)


def require_flag(value: bool, name: str) -> bool:
    """True or False, and nothing that could be meant for either."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {short(value)}.")
    return bool(value)


def as_path(path: str | Path, name: str) -> Path:
    """The path of a file or folder."""
    if not isinstance(path, str | Path):
        raise TypeError(f"{name} must be a path, as text or as a pathlib.Path, got {short(path)}.")
    text = str(path)
    if not text or "\0" in text or (not text.isprintable() and _is_unwritable(text)):
        raise ValueError(f"{name} must be the path of a file, got {short(text)}.")
    if len(text) > _LONGEST_PATH or max(map(len, Path(path).parts), default=0) > _LONGEST_NAME:
        raise ValueError(f"{name} is a path of {len(text)} characters, longer than systems take: shorten it.")
    return Path(path)


def _is_unwritable(text: str) -> bool:
    """Whether text holds halves of characters, which are in no name of a file."""
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return True
    return False


def as_generator(random_state: int | np.random.Generator | None) -> np.random.Generator:
    """A source of random numbers: itself, or a new one that an int makes repeatable."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if random_state is None:
        return np.random.default_rng()
    if not _is_whole(random_state) or random_state < 0:
        raise ValueError(
            f"random_state must be None, a whole number of at least 0 or a numpy.random.Generator, "
            f"got {short(random_state)}."
        )
    return np.random.default_rng(int(random_state))


def require_folder(path: str | Path) -> None:
    """The folder of a file to be written must be there."""
    folder = as_path(path, "The path").parent
    if not folder.is_dir():
        raise FileNotFoundError(f"Cannot write {path}: the folder {folder} does not exist.")


def require_mask(mask: Any, like: AnyArray, *other_shapes: tuple[int, ...], name: str = "mask") -> AnyArray:
    """The mask, if it is boolean, of the library of `like`, and of its shape or one of the others."""
    require_unmasked(mask, name, f"give a plain one, for example {name}.filled(True)")
    is_array = is_array_api_obj(mask)
    if not is_array or is_numpy_array(mask):
        try:
            mask = np.asarray(mask)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{name} must be one rectangular array of True and False: {error}") from None
    if mask.dtype != namespace(mask).bool:
        raise TypeError(
            f"{name} must be boolean, True where data is missing, got dtype {mask.dtype}: use {name} != 0."
        )
    if not is_array:
        mask = namespace(like).asarray(mask, device=device_of(like))
    require_same_library(mask, like, name, "the data", "those of the data")
    allowed = [tuple(like.shape), *other_shapes]
    if tuple(mask.shape) not in allowed:
        shapes = " or ".join(map(str, dict.fromkeys(allowed)))
        raise ValueError(f"{name} must have the shape of the data, {shapes}, got {tuple(mask.shape)}.")
    return mask


def require_fits(shape: Sequence[int], patch_shape: Sequence[int], name: str, remedy: str) -> None:
    """An image has the axes of a patch, and is at least as large."""
    shape, patch_shape = tuple(shape), tuple(patch_shape)
    if len(shape) != len(patch_shape):
        raise ValueError(f"{name} of shape {shape} does not have the {len(patch_shape)} axes of a patch.")
    if any(side < length for side, length in zip(shape, patch_shape, strict=True)):
        raise ValueError(f"{name} of shape {shape} is smaller than a patch of shape {patch_shape}: {remedy}.")


def require_threads(threads: int | None) -> int | None:
    """A number of threads, or None for as many as there are cores."""
    return None if threads is None else require_count(threads, "threads", minimum=1, maximum=MAX_THREADS)


def require_axis(axis: int | None, name: str, shape: Sequence[int]) -> None:
    """The number of an axis of an image of this shape, from its end if it is negative; or None."""
    if axis is not None and not _is_whole(axis):
        raise TypeError(f"{name} must be a whole number or None, got {short(axis)}.")
    if axis is not None and axis not in range(-len(shape), len(shape)):
        raise ValueError(f"{name} {axis} does not exist in an image of shape {tuple(shape)}.")


def require_time_axis(time_axis: int | None, method: str, shape: Sequence[int]) -> None:
    """The axis of time of a clip, which has two more, for groups; or None."""
    if time_axis is None:
        return
    if method != "groups":
        raise ValueError(f'time_axis is for method="groups", got method={method!r}: leave one of them out.')
    require_axis(time_axis, "time_axis", shape)
    if len(shape) != 3:
        raise ValueError(f"time_axis is for clips of three axes, channels left out, got {len(shape)}.")


def as_image(image: AnyArray, channel_axis: int | None) -> AnyArray:
    """A plain array of real numbers with 1 to 4 axes besides colour; its values are not looked at."""
    require_unmasked(image, "image", "fill what is missing by sedil.inpaint first")
    if not isinstance(image, np.ndarray) and not is_array_api_obj(image):
        raise TypeError(f"image must be a NumPy array or a tensor, got {short(image)}.")
    image = in_native_order(as_plain_array(image, "image"))
    if not namespace(image).isdtype(image.dtype, ("bool", "integral", "real floating")):
        raise TypeError(f"image must hold real numbers, got dtype {image.dtype}.")
    shape = tuple(image.shape)
    if 0 in shape:
        raise ValueError(f"image is empty: its shape is {shape}.")
    require_axis(channel_axis, "channel_axis", shape)
    n_axes = len(shape) - (channel_axis is not None)
    if not 1 <= n_axes <= MAX_AXES:
        raise ValueError(f"image must have 1 to {MAX_AXES} axes besides colour, got shape {shape}.")
    return image


def require_affordable(patch_shape: Sequence[int], counts: Sequence[int]) -> None:
    """Refuse factors so large that their Gram matrices alone exceed the memory of usual machines."""
    for length, count in zip(patch_shape, counts, strict=True):
        needed = _FACTOR_COPIES * 4 * length * count + _GRAM_COPIES * 8 * count**2
        if needed > _MOST_BYTES:
            raise ValueError(
                f"A factor of {length} x {count} takes about {needed / 2**30:.3g} GiB of memory to work "
                f"with: keep the axes of the patches apart, as in patches of shape (n, 64, 64) with "
                f"n_atoms=(128, 128), or use fewer atoms or smaller patches."
            )


def require_memory(n_bytes: int, what: str, remedy: str) -> None:
    """Refuse what takes more memory than this process may use."""
    there = usable_memory()
    if there is not None and n_bytes > there:
        raise ValueError(
            f"{what} would take {n_bytes / 1e9:,.3g} GB of memory, and this process may use "
            f"{there / 1e9:,.3g} GB: {remedy}."
        )


def require_choice(value: Word, name: str, choices: Sequence[str]) -> Word:
    """One of a few words."""
    if not isinstance(value, str) or value not in choices:
        known = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {known}, got {short(value)}.")
    return value


def _require_trailing_shape(array: Array, expected: Sequence[int], name: str, remedy: str) -> None:
    expected = tuple(expected)
    shape = tuple(array.shape)
    if len(shape) < len(expected) or shape[len(shape) - len(expected) :] != expected:
        wanted = ", ".join(["..."] + [str(length) for length in expected])
        raise ValueError(f"{name} must have shape ({wanted}) for this dictionary, got {shape}: {remedy}.")


def short(value: object) -> str:
    """A value for a message: itself if that is short, else what it is."""
    if value is None or isinstance(value, bool):
        return repr(value)
    if isinstance(value, str | int | float | np.number | list | tuple):
        text = repr(value) if _is_shallow(value) else ""
        if 0 < len(text) <= _LONGEST_VALUE:
            return text
    shape = f" of shape {value.shape}" if isinstance(value, np.ndarray) else ""
    return kind_of(value) + shape


def _is_shallow(value: object) -> bool:
    """Whether a list holds few plain things, whose words are short."""
    if not isinstance(value, list | tuple):
        return not isinstance(value, int) or abs(value) < 10**_LONGEST_VALUE
    return len(value) <= 8 and all(item is None or isinstance(item, str | int | float) for item in value)


def _kind(array: Array) -> str:
    return f"{type(array).__module__.split('.')[0]} array on {array.device}"
