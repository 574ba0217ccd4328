"""What is asked of a Dask array before work on it is planned."""

from __future__ import annotations

from math import isnan
from types import ModuleType
from typing import Any

import numpy as np
from array_api_compat import is_dask_array

from sedil import checks
from sedil.errors import MissingPackageError

NOT_INSTALLED = 'Dask is not installed: pip install "sedil[cluster]".'


def dask_array() -> ModuleType:
    """The module `dask.array`, or one clear sentence."""
    try:
        import dask.array
    except ImportError:
        raise MissingPackageError(NOT_INSTALLED) from None
    return dask.array


def as_lazy_image(image: Any, channel_axis: int | None, name: str = "image") -> Any:
    """A Dask array of real numbers with 1 to 4 axes besides colour, all of whose chunks have a known size."""
    require_known_chunks(image, name)
    if image.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers, got dtype {image.dtype}.")
    if 0 in image.shape:
        raise ValueError(f"{name} is empty: its shape is {image.shape}.")
    checks.require_axis(channel_axis, "channel_axis", image.shape)
    n_axes = image.ndim - (channel_axis is not None)
    if not 1 <= n_axes <= checks.MAX_AXES:
        raise ValueError(f"{name} must have 1 to {checks.MAX_AXES} axes besides colour, got {image.shape}.")
    return without_empty_chunks(_with_plain_blocks(image, name))


def shape_and_channels(image: Any, channel_axis: int | None) -> tuple[tuple[int, ...], int]:
    """The shape of a channel, and how many there are."""
    sides = list(image.shape)
    n_channels = 1 if channel_axis is None else sides.pop(channel_axis)
    return tuple(sides), n_channels


def require_known_chunks(array: Any, name: str) -> None:
    """Refuse chunks whose sizes are found only when they are computed."""
    if any(isnan(length) for sizes in array.chunks for length in sizes):
        raise ValueError(f"{name} has chunks of unknown size: call {name}.compute_chunk_sizes() first.")


def without_empty_chunks(array: Any) -> Any:
    """Chunks of length zero hold nothing, and are left out."""
    full = tuple(tuple(length for length in sizes if length) for sizes in array.chunks)
    return array if full == array.chunks else array.rechunk(full)


def _with_plain_blocks(array: Any, name: str) -> Any:
    """Blocks must be arrays of NumPy; those of other classes, as `numpy.matrix`, become plain ones."""
    kind = type(array._meta)
    if not issubclass(kind, np.ndarray) or issubclass(kind, np.ma.MaskedArray):
        raise TypeError(f"{name} has blocks of the kind {kind.__name__}, not plain arrays of NumPy.")
    if kind is np.ndarray:
        return array
    return array.map_blocks(np.asarray, dtype=array.dtype, meta=np.empty((0,) * array.ndim, array.dtype))


def in_memory(array: Any, name: str, remedy: str) -> Any:
    """A Dask array as one of NumPy, if it fits into the memory; all else as it is."""
    if not is_dask_array(array):
        return array
    require_known_chunks(array, name)
    checks.require_memory(array.nbytes, name, remedy)
    return np.asarray(array.compute())
