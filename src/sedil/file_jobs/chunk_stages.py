"""What is to be done in a run over blocks: stages, whose blocks need some of the blocks of stages before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, pairwise, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sedil.cluster.kept_blocks import Index, Kept
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
    do : makes and writes one of them, on a worker
    needs : what must be kept before one can be made; None if all stages before must be whole
    fills : folders of blocks that it makes for later stages
    reads : folders that can go once no stage reads them any more
    lead : does some blocks with a client, and gives the index of each once it is written; None if workers do
    """

    indices: Sequence[Index]
    do: Callable[[Index], None] | None = None
    needs: Callable[[Index], Sequence[Kept]] | None = None
    fills: Sequence[Path] = ()
    reads: Sequence[Path] = ()
    lead: Callable[[Sequence[Index], Any], Iterator[Index]] | None = None


def denoising_stages(
    job: ChunkJob, target: StoredArray | Multiscale, images: Sequence[StoredDenoising]
) -> Iterator[Stage]:
    """Images of times and channels one by one; those that share chunks of the target are written together."""
    finest = _levels(target)[0]
    chunks = _chunks(finest.shape, job.block_sides(finest.chunks))

    def others(index: Index) -> Index:
        return tuple(at for at, own in zip(index, job.is_in_image, strict=True) if not own)

    for _, some in groupby(sorted(_indices(chunks), key=others), others):
        indices = list(some)
        where = _region(chunks, indices[0])
        own = [image for image in images if _touches(where, image.image.place)]
        for image in own:
            for step in image.steps():
                yield Stage(_indices(image.sizes), step, step.needs, step.fills, step.reads)
        write = _WriteImages(own, finest, chunks)
        done = Stage(indices, reads=[image.folder for image in own])
        is_shared = _is_shared(finest)
        yield done._replace(do=write, needs=write.needs) if is_shared else done._replace(lead=write.all_of)
    yield from _coarser_stages(target)


def inpainting_stages(
    job: ChunkJob, target: StoredArray | Multiscale, make: Callable[[Chunks], Any]
) -> Iterator[Stage]:
    """All of it at once, as `make` gives it: a Dask array in blocks of whole chunks of the target."""
    finest = _levels(target)[0]
    chunks = _chunks(finest.shape, job.block_sides(finest.chunks))
    yield Stage(_indices(chunks), lead=partial(_from_graph, make, chunks, finest))
    yield from _coarser_stages(target)


def _coarser_stages(target: StoredArray | Multiscale) -> Iterator[Stage]:
    for fine, coarse in pairwise(_levels(target)):
        chunks = _chunks(coarse.shape, blocks_of(coarse.shape, coarse.chunks))
        yield Stage(_indices(chunks), _WriteCoarser(fine, coarse, chunks))


def _levels(target: StoredArray | Multiscale) -> tuple[StoredArray, ...]:
    return target.levels if isinstance(target, Multiscale) else (target,)


def _is_shared(target: StoredArray) -> bool:
    """The chunks of a Zarr store are files of their own: any worker may write one."""
    return target.kind == "Zarr"


@dataclass(frozen=True)
class _WriteImages:
    """Writes a block of the result, of which each of these images has a part."""

    images: Sequence[StoredDenoising]
    target: StoredArray
    chunks: Chunks

    def __call__(self, index: Index) -> None:
        """Write one block."""
        where = _region(self.chunks, index)
        block = np.empty([own.stop - own.start for own in where], self.target.dtype)
        for image in self.images:
            pairs = zip(image.image.place, where, strict=True)
            key = tuple(slice(None) if at is None else at - own.start for at, own in pairs)
            finished = image.finished(_inside(image, where))
            block[key] = finished[..., where[-1]] if image.image.has_colour else finished
        self.target.write(where, block)

    def needs(self, index: Index) -> list[Kept]:
        """Blocks of images that must be there."""
        where = _region(self.chunks, index)
        return [block for image in self.images for block in image.needs(_inside(image, where))]

    def all_of(self, indices: Sequence[Index], client: Any) -> Iterator[Index]:
        """For files that take one writer, which is the process that leads."""
        for index in indices:
            self(index)
            yield index


def _inside(image: StoredDenoising, where: Region) -> list[slice]:
    """What a part of the target is of an image, without colours, which are its last axis."""
    own = [each for at, each in zip(image.image.place, where, strict=True) if at is None]
    return own[: len(own) - image.image.has_colour]


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
