"""Work on a Dask array in parts: each chunk with the halo that the work needs, and no more.

Arrays here are ``(channels, *shape)``, the channels in one chunk. What a part needs of its neighbours is
found from where the patches lie, not from a formula: patches that touch the chunk, and what these touch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from sedil.cluster.dask_arrays import dask_array
from sedil.patch_grid import Part, Reach, extent_needed

Chunks = tuple[tuple[int, ...], ...]  # lengths of the chunks along each axis
# From an axis and an interval along it to what work on that interval needs.
Halo = Callable[[int, slice], slice]

_HALOS_PER_CHUNK = 4  # sides of chunks are at least so many halos, lest most work be done twice


class Place(NamedTuple):
    """Where a chunk lies along one axis: what is wanted, what is held, and that within what comes."""

    inside: slice
    held: slice
    cut: slice


class Layout(NamedTuple):
    """Chunks of an image, each with its halo.

    Attributes
    ----------
    image_shape : tuple of int
    places : of each chunk along each axis
    depth : along each axis how much comes from the neighbours before and after
    """

    image_shape: tuple[int, ...]
    places: tuple[tuple[Place, ...], ...]
    depth: tuple[tuple[int, int], ...]

    def places_of(self, index: Sequence[int]) -> list[Place]:
        """Of one chunk, along each axis."""
        return [along[number] for along, number in zip(self.places, index, strict=True)]

    def part(self, index: Sequence[int]) -> Part:
        """One chunk as a part of the whole."""
        places = self.places_of(index)
        return Part(
            self.image_shape, tuple(place.held for place in places), tuple(place.inside for place in places)
        )


def halo_of_patches(all_reaches: Sequence[Sequence[Reach]]) -> Halo:
    """What the patches of several grids need, given what each patch touches."""

    def needed(axis: int, inside: slice) -> slice:
        return _union([extent_needed(reaches[axis], inside) for reaches in all_reaches])

    return needed


def halo_of_width(shape: Sequence[int], before: Sequence[int], after: Sequence[int]) -> Halo:
    """So many pixels on each side."""

    def needed(axis: int, inside: slice) -> slice:
        return slice(max(inside.start - before[axis], 0), min(inside.stop + after[axis], shape[axis]))

    return needed


def _union(parts: Sequence[slice]) -> slice:
    return slice(min(part.start for part in parts), max(part.stop for part in parts))


def length_held(halo: Halo, axis: int, inside: slice) -> int:
    """How much of an axis must be there for work on an interval of it."""
    held = _union([inside, halo(axis, inside)])
    return held.stop - held.start


def chunks_to_work_in(chunks: Chunks, halos: Sequence[Halo]) -> Chunks:
    """Neighbouring chunks together until they are some halos long; none is cut."""
    return tuple(_merged(axis, sizes, halos) for axis, sizes in enumerate(chunks))


def _merged(axis: int, sizes: tuple[int, ...], halos: Sequence[Halo]) -> tuple[int, ...]:
    least = 1
    while True:
        merged = _merged_to(sizes, least)
        depth = max((max(_depth(_places(axis, merged, halo))) for halo in halos), default=0)
        if len(merged) == 1 or _HALOS_PER_CHUNK * depth <= least:
            return merged
        least = _HALOS_PER_CHUNK * depth


def intervals(sizes: Sequence[int]) -> list[slice]:
    """Where pieces of these lengths lie, one after the other."""
    return [slice(end - size, end) for end, size in zip(accumulate(sizes), sizes, strict=True)]


def _merged_to(sizes: tuple[int, ...], least: int) -> tuple[int, ...]:
    merged: list[int] = []
    for size in sizes:
        if merged and merged[-1] < least:
            merged[-1] += size
        else:
            merged.append(size)
    if len(merged) > 1 and merged[-1] < least:
        last = merged.pop()
        merged[-1] += last
    return tuple(merged)


def _places(axis: int, sizes: tuple[int, ...], halo: Halo) -> list[tuple[slice, slice]]:
    """What is wanted, and what is needed for it, chunk by chunk."""
    return [(each, halo(axis, each)) for each in intervals(sizes)]


def _depth(places: Sequence[tuple[slice, slice]]) -> tuple[int, int]:
    """How much the neediest chunk takes from before and after it."""
    if len(places) == 1:
        return 0, 0
    return (
        max(max(inside.start - held.start, 0) for inside, held in places),
        max(max(held.stop - inside.stop, 0) for inside, held in places),
    )


def layout_of(chunks: Chunks, halo: Halo) -> Layout:
    """Where the chunks of an image lie, and what each needs."""
    shape = tuple(map(sum, chunks))
    places, depths = [], []
    for axis, sizes in enumerate(chunks):
        pairs = [(inside, _union([inside, held])) for inside, held in _places(axis, sizes, halo)]
        before, after = _depth(pairs)
        comes = [max(inside.start - before, 0) for inside, _ in pairs]
        places.append(
            tuple(
                Place(inside, held, slice(held.start - begin, held.stop - begin))
                for (inside, held), begin in zip(pairs, comes, strict=True)
            )
        )
        depths.append((before, after))
    return Layout(shape, tuple(places), tuple(depths))


def with_halos(array: Any, layout: Layout) -> Any:
    """The array with overlapping chunks; its first axis is left alone."""
    depth = {axis + 1: both for axis, both in enumerate(layout.depth)}
    da = dask_array()
    return da.overlap.overlap(array, {0: 0, **depth}, dict.fromkeys(range(array.ndim), "none"))


def map_blocks(
    work: Callable[..., Any], arrays: Sequence[Any], dtype: Any, facts: Mapping[str, Any], **arguments: Any
) -> Any:
    """What `work` makes of the blocks of arrays, which have the same chunks.

    Parameters
    ----------
    work : function
        Called with the blocks of all arrays, and by name with `facts` and `arguments`.
    arrays : sequence of Dask arrays of the same chunks
    dtype : type of the result
    facts : Dask arrays without axes, of which each task gets the one block
    arguments : anything else
    """
    da = dask_array()
    meta = np.empty((0,) * arrays[0].ndim, dtype)
    named = {"work": work, "names": tuple(facts), **arguments}
    return da.map_blocks(_on_blocks, *arrays, *facts.values(), dtype=dtype, meta=meta, **named)


def _on_blocks(
    *blocks: Any,
    work: Callable[..., Any],
    names: tuple[str, ...],
    block_id: tuple[int, ...] = (),
    **arguments: Any,
) -> Any:
    n = len(blocks) - len(names)
    if isinstance(work, _OnPart):
        arguments["block_id"] = block_id
    return work(*blocks[:n], **dict(zip(names, blocks[n:], strict=True)), **arguments)


def map_parts(
    work: Callable[..., Any],
    arrays: Sequence[Any],
    layout: Layout,
    dtype: Any,
    facts: Mapping[str, Any] | None = None,
    **arguments: Any,
) -> Any:
    """The blocks that `work` makes of the parts of arrays.

    Parameters
    ----------
    work : function
        Called with the held parts of all arrays; by name with the `Part`, `facts` and `arguments`.
    arrays : sequence of Dask arrays (channels, *shape) with overlapping chunks, see `with_halos`
    layout : Layout
    dtype : type of the result, whose chunks are those of the layout
    facts, arguments : as in `map_blocks`
    """
    inside = tuple(tuple(p.inside.stop - p.inside.start for p in axis) for axis in layout.places)
    chunks = (arrays[0].chunks[0], *inside)
    declared = [_declared(each, chunks) for each in arrays]
    return map_blocks(_OnPart(work, layout), declared, dtype, facts or {}, chunks=chunks, **arguments)


def _declared(array: Any, chunks: Chunks) -> Any:
    """The same blocks, said to be as large as their chunks: Dask asks this of arrays that go together."""
    da = dask_array()
    return da.Array(array.dask, array.name, chunks=chunks, meta=array._meta)


@dataclass(frozen=True)
class _OnPart:
    """Work on a part of the whole: what is held of it is cut out first."""

    work: Callable[..., Any]
    layout: Layout

    def __call__(self, *blocks: Any, block_id: tuple[int, ...], **arguments: Any) -> Any:
        layout = self.layout
        cut = (slice(None), *(place.cut for place in layout.places_of(block_id[1:])))
        part = layout.part(block_id[1:])
        return self.work(*(block[cut] for block in blocks), part=part, **arguments)


def trimmed(held: Any, part: Part) -> Any:
    """What is wanted of what is held, channels first; a copy, so that the rest can be forgotten."""
    cut = tuple(
        slice(inside.start - own.start, inside.stop - own.start)
        for inside, own in zip(part.inside, part.held, strict=True)
    )
    return np.ascontiguousarray(held[(slice(None), *cut)])
