"""What is to be done in a run over blocks: stage after stage, the blocks of each in any order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, pairwise, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sedil.cluster.kept_blocks import Index
from sedil.cluster.multiscale import Multiscale, coarser
from sedil.cluster.parts import Chunks, intervals
from sedil.cluster.stored_arrays import StoredArray, blocks_of
from sedil.cluster.stored_steps import StoredDenoising
from sedil.file_jobs.chunk_jobs import ChunkJob

Region = tuple[slice, ...]


class Stage(NamedTuple):
    """Blocks that need nothing of each other.

    Attributes
    ----------
    indices : of the blocks
    run : does some of them with a client, and gives the index of each once it is written
    folders : that must be there
    used_up : folders that no stage after it needs
    """

    indices: Sequence[Index]
    run: Callable[[Sequence[Index], Any], Iterator[Index]]
    folders: Sequence[Path] = ()
    used_up: Sequence[Path] = ()


def denoising_stages(
    job: ChunkJob, target: StoredArray | Multiscale, images: Sequence[StoredDenoising]
) -> Iterator[Stage]:
    """Images of times and channels one by one; those that share chunks of the target are written together."""
    finest = _levels(target)[0]
    chunks = _chunks(finest.shape, job.block_sides(finest.chunks))
    whole = {tuple(at for at in image.image.place if at is not None): image for image in images}
    write = _WriteImages(whole, finest, chunks)
    run = on_workers if _is_shared(finest) else by_leader

    def others(index: Index) -> Index:
        return tuple(at for at, own in zip(index, job.is_in_image, strict=True) if not own)

    for _, some in groupby(sorted(_indices(chunks), key=others), others):
        indices = list(some)
        own = write.images_of(indices[0])
        for image in own:
            for step in image.steps():
                yield Stage(_indices(image.sizes), partial(on_workers, step.work), step.folders, step.used_up)
        yield Stage(indices, partial(run, write), used_up=[image.folder for image in own])
    yield from _coarser_stages(target)


def inpainting_stages(
    job: ChunkJob, target: StoredArray | Multiscale, make: Callable[[Chunks], Any]
) -> Iterator[Stage]:
    """All of it at once, as `make` gives it: a Dask array in blocks of whole chunks of the target."""
    finest = _levels(target)[0]
    chunks = _chunks(finest.shape, job.block_sides(finest.chunks))
    yield Stage(_indices(chunks), partial(_from_graph, make, chunks, finest))
    yield from _coarser_stages(target)


def _coarser_stages(target: StoredArray | Multiscale) -> Iterator[Stage]:
    for fine, coarse in pairwise(_levels(target)):
        chunks = _chunks(coarse.shape, blocks_of(coarse.shape, coarse.chunks))
        yield Stage(_indices(chunks), partial(on_workers, _WriteCoarser(fine, coarse, chunks)))


def _levels(target: StoredArray | Multiscale) -> tuple[StoredArray, ...]:
    return target.levels if isinstance(target, Multiscale) else (target,)


def _is_shared(target: StoredArray) -> bool:
    """The chunks of a Zarr store are files of their own: any worker may write one."""
    return target.kind == "Zarr"


@dataclass(frozen=True)
class _WriteImages:
    """Writes a block of the result, which images hold that lie at these places along the other axes."""

    images: Mapping[Index, StoredDenoising]
    target: StoredArray
    chunks: Chunks

    def images_of(self, index: Index) -> list[StoredDenoising]:
        """Those that a block has a part of."""
        where = _region(self.chunks, index)
        return [image for image in self.images.values() if _touches(where, image.image.place)]

    def __call__(self, index: Index) -> None:
        """Write one block."""
        where = _region(self.chunks, index)
        block = np.empty([own.stop - own.start for own in where], self.target.dtype)
        for image in self.images_of(index):
            place = image.image.place
            pairs = list(zip(place, where, strict=True))
            inside = [own for at, own in pairs if at is None]
            key = tuple(slice(None) if at is None else at - own.start for at, own in pairs)
            if image.image.has_colour:
                colours = inside.pop()
                block[key] = image.finished(inside)[..., colours]
            else:
                block[key] = image.finished(inside)
        self.target.write(where, block)


def _touches(where: Region, place: Sequence[int | None]) -> bool:
    return all(at is None or own.start <= at < own.stop for at, own in zip(place, where, strict=True))


@dataclass(frozen=True)
class _WriteCoarser:
    """Writes a block of a coarser scale, once the finer one is whole."""

    fine: StoredArray
    coarse: StoredArray
    chunks: Chunks

    def __call__(self, index: Index) -> None:
        """Write one block."""
        where = _region(self.chunks, index)
        self.coarse.write(where, coarser(self.fine, self.coarse.shape, where))


# Who does the work


def on_workers(do: Callable[[Index], None], indices: Sequence[Index], client: Any) -> Iterator[Index]:
    """Each worker one block at a time; that of a worker which dies is done by another."""
    from distributed import as_completed

    futures = dict(zip(client.map(do, indices, pure=False), indices, strict=True))
    for future in as_completed(list(futures)):
        future.result()
        yield futures.pop(future)


def by_leader(do: Callable[[Index], None], indices: Sequence[Index], client: Any) -> Iterator[Index]:
    """For files that take one writer, which is the process that leads."""
    for index in indices:
        do(index)
        yield index


def _from_graph(
    make: Callable[[Chunks], Any], chunks: Chunks, target: StoredArray, indices: Sequence[Index], client: Any
) -> Iterator[Index]:
    from dask import delayed
    from distributed import as_completed

    blocks = make(chunks).to_delayed()
    is_shared = _is_shared(target)
    tasks = [blocks[index] for index in indices]
    if is_shared:
        write = delayed(_write)
        tasks = [write(blocks[index], target, _region(chunks, index)) for index in indices]
    futures = dict(zip(client.compute(tasks), indices, strict=True))
    for future in as_completed(list(futures)):
        index = futures.pop(future)
        block = future.result()
        if not is_shared:
            target.write(_region(chunks, index), block)
        future.release()
        yield index


def _write(block: np.ndarray, target: StoredArray, where: Region) -> None:
    target.write(where, block)


# Blocks


def _chunks(shape: Sequence[int], sides: Sequence[int]) -> Chunks:
    return tuple(
        (side,) * (length // side) + ((length % side,) if length % side else ())
        for length, side in zip(shape, sides, strict=True)
    )


def _indices(chunks: Chunks) -> list[Index]:
    return list(product(*(range(len(sizes)) for sizes in chunks)))


def _region(chunks: Chunks, index: Index) -> Region:
    return tuple(intervals(sizes)[at] for sizes, at in zip(chunks, index, strict=True))
