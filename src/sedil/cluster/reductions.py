"""What all chunks of an array have in common: small results of each, merged in a tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from sedil.cluster.dask_arrays import dask_array


def merged(
    blocks: Any, merge: Callable[[Sequence[Any]], Any], finish: Callable[[Any], Any] | None = None
) -> Any:
    """One result of all blocks of a Dask array, whatever these are but lists, and what `finish` makes of it.

    It is a Dask array without axes, whose one block is that result: see `sedil.cluster.parts.map_blocks`.
    """
    return dask_array().reduction(
        blocks,
        _itself,
        partial(_merge_nested, merge, finish),
        combine=partial(_merge_nested, merge, None),
        concatenate=False,
        dtype=object,
        meta=np.empty((), object),
    )


def _itself(block: Any, axis: Any, keepdims: bool) -> Any:
    return block


def _merge_nested(
    merge: Callable[[Sequence[Any]], Any],
    finish: Callable[[Any], Any] | None,
    nested: Any,
    axis: Any,
    keepdims: bool,
) -> Any:
    result = merge(_leaves(nested))
    return result if finish is None else finish(result)


def _leaves(nested: Any) -> list[Any]:
    return [leaf for each in nested for leaf in _leaves(each)] if isinstance(nested, list) else [nested]


class Moments(NamedTuple):
    """Of numbers: how many, their mean, the sum of their squared distances from it, and the largest size."""

    n: int
    mean: float
    squares: float
    largest: float

    @classmethod
    def of(cls, values: np.ndarray) -> Moments:
        """Of all values, in float64."""
        if not values.size:
            return cls(0, 0.0, 0.0, 0.0)
        # An image with nothing to be done to it keeps its own numbers, whose squares may be beyond all.
        with np.errstate(over="ignore", invalid="ignore"):
            mean = float(np.sum(values, dtype=np.float64)) / values.size
            distance = values.astype(np.float64) - mean
            squares = float(np.sum(distance * distance))
        return cls(values.size, mean, squares, max(float(values.max()), -float(values.min())))

    @property
    def variance(self) -> float:
        """Mean squared distance from the mean."""
        return self.squares / self.n


def merged_moments(parts: Sequence[tuple[Moments, ...]]) -> tuple[Moments, ...]:
    """Channel by channel, those of all parts together."""
    return tuple(moments_together(own) for own in zip(*parts, strict=True))


def moments_together(parts: Sequence[Moments]) -> Moments:
    """Of the numbers of all parts."""
    n = sum(part.n for part in parts)
    if not n:
        return parts[0]
    mean = sum(part.n * part.mean for part in parts) / n
    # A product may be infinite, where a power would be an error.
    squares = sum(part.squares + part.n * (part.mean - mean) * (part.mean - mean) for part in parts)
    return Moments(n, mean, squares, max(part.largest for part in parts))


class Extremes(NamedTuple):
    """Least and largest of some numbers, of type int for integers; None if there are none."""

    low: float
    high: float


def merged_extremes(parts: Sequence[Extremes | None]) -> Extremes | None:
    """Of all numbers together."""
    there = [part for part in parts if part is not None]
    return Extremes(min(p.low for p in there), max(p.high for p in there)) if there else None
