"""Denoise and inpaint arrays in files, block by block, on a cluster; a run that is stopped goes on later."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise, product
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import sedil
from sedil.choices import DenoisingMethod, InpaintingMethod
from sedil.cluster.clusters import connected
from sedil.cluster.dask_arrays import dask_array
from sedil.cluster.journal import Journal
from sedil.cluster.multiscale import Multiscale, coarser, create_multiscale, open_multiscale
from sedil.cluster.stored_arrays import StoredArray, blocks_of, create_stored, is_stored, open_stored
from sedil.dictionary import SeparableDictionary
from sedil.errors import ImageFileError
from sedil.imaging.denoise import denoise
from sedil.imaging.inpaint import inpaint
from sedil.imaging.noise import estimate_noise
from sedil.progress import Progress, Report

_RGB = 3


class ChunkSettings(NamedTuple):
    """How arrays are restored: see `sedil.denoise` and `sedil.inpaint`; what is not for both is None."""

    sigma: float | None = None
    dictionary: SeparableDictionary | None = None
    method: DenoisingMethod | InpaintingMethod | None = None
    stride: int | None = None
    time_axis: int | None = None

    def identity(self) -> dict[str, Any]:
        """What the result depends on, in plain words and numbers."""
        factors = None
        if self.dictionary is not None:
            from sedil.learning.checkpoint import fingerprint

            factors = [fingerprint(factor) for factor in self.dictionary.factors]
        return self._replace(dictionary=None)._asdict() | {"dictionary": factors}


class ChunkJob(NamedTuple):
    """What is read and where the result goes; with a mask its missing pixels are filled."""

    source: StoredArray | Multiscale
    target: Path
    settings: ChunkSettings
    mask: StoredArray | None = None
    force: bool = False

    @property
    def image(self) -> StoredArray:
        """What is worked on: of several scales the finest."""
        return self.source.levels[0] if isinstance(self.source, Multiscale) else self.source

    @property
    def axes(self) -> tuple[str, ...]:
        """What each axis is. Three colours come last, unless a file says what its axes are."""
        if isinstance(self.source, Multiscale):
            return self.source.axes
        shape = self.source.shape
        is_colour = len(shape) > 2 and shape[-1] == _RGB
        return ("space",) * (len(shape) - is_colour) + ("colour",) * is_colour

    def identity(self) -> dict[str, Any]:
        """What the result follows from."""
        image = self.image
        return {
            "sedil": sedil.__version__,
            "source": str(image.path.resolve() / image.name),
            "shape": image.shape,
            "dtype": str(image.dtype),
            "mask": None if self.mask is None else str(self.mask.path.resolve() / self.mask.name),
            **self.settings.identity(),
        }


def open_job(
    source: Path, target: Path, settings: ChunkSettings, mask: Path | None = None, force: bool = False
) -> ChunkJob:
    """Open what is read, and make sure that the result may be written."""
    found: StoredArray | Multiscale = open_multiscale(source.absolute()) or open_stored(source)
    target = (target / source.name if _is_plain_folder(target) else target).absolute()
    job = ChunkJob(found, target, settings, None if mask is None else open_stored(mask), force)
    if target.exists() and target.samefile(job.image.path):
        raise FileExistsError(f"{target} is what is read itself: choose another name.")
    if target.exists() and not force:
        raise FileExistsError(f"{target} exists already: choose another name or add --force.")
    n_axes = sum(1 for axis, side in zip(job.axes, job.image.shape, strict=True) if _is_space(axis, side))
    if not 1 <= n_axes <= 3:
        raise ImageFileError(
            f"{job.image} has the shape {job.image.shape}: one to three axes of space are needed."
        )
    if isinstance(found, Multiscale) and target.suffix.lower() != ".zarr":
        raise ValueError(f"Cannot write {target}: what comes from an OME-Zarr group goes into one, as .zarr.")
    return job


def _is_plain_folder(path: Path) -> bool:
    return path.is_dir() and not is_stored(path)


class Facts(NamedTuple):
    """What the user is told: noise of each image in the file, and how many blocks were done before."""

    sigmas: list[float]
    n_done_before: int
    n_blocks: int


def run_job(
    job: ChunkJob, scheduler: str | None, threads: int | None, report: Report, tell: Callable[[Facts], None]
) -> None:
    """Restore an array block by block and write it; `tell` is called once the noise is known."""
    journal, identity = Journal(job.target), job.identity()
    with _whole_sentences(journal), journal.opened(identity, job.force) as facts:
        with connected(scheduler, threads) as client:
            if facts is None:
                facts = {"sigmas": [] if job.mask is not None else _noise(job, client)}
                target = _create(job, journal.result)
                journal.begin(identity, facts)
            else:
                target = _reopen(job, journal.result)
            steps = list(_steps(job, target, facts["sigmas"]))
            n_blocks = sum(step.n_blocks for step in steps)
            tell(Facts(facts["sigmas"], len(journal.finished), n_blocks))
            report(Progress(len(journal.finished), n_blocks, "blocks"))
            for number, step in enumerate(steps):
                for block in _run_step(step, number, journal, client):
                    journal.note(block)
                    report(Progress(len(journal.finished), n_blocks, "blocks"))
        journal.end()


class _Step(NamedTuple):
    """An array to be made: how, in which blocks, and where it goes."""

    make: Callable[[], Any]
    chunks: tuple[tuple[int, ...], ...]
    target: StoredArray

    @property
    def n_blocks(self) -> int:
        return prod(len(sizes) for sizes in self.chunks)

    def where(self, index: Sequence[int]) -> tuple[slice, ...]:
        """The part of the array that is a block."""
        pairs = zip(self.chunks, index, strict=True)
        return tuple(slice(sum(sizes[:at]), sum(sizes[: at + 1])) for sizes, at in pairs)


def _steps(job: ChunkJob, target: StoredArray | Multiscale, sigmas: Sequence[float]) -> Iterator[_Step]:
    levels = target.levels if isinstance(target, Multiscale) else (target,)
    sides = _block_sides(job)
    yield _Step(lambda: _restored(job, sigmas), _chunks(levels[0].shape, sides), levels[0])
    for fine, coarse in pairwise(levels):
        own = blocks_of(coarse.shape, coarse.chunks)

        def make(fine: StoredArray = fine, coarse: StoredArray = coarse, own: tuple[int, ...] = own) -> Any:
            return coarser(fine.as_dask(), coarse.shape, own)

        yield _Step(make, _chunks(coarse.shape, own), coarse)


def _run_step(step: _Step, number: int, journal: Journal, client: Any) -> Iterator[str]:
    """Names of blocks, each once it is written."""
    from dask import delayed
    from distributed import as_completed

    wanted = {
        f"{number}:{'.'.join(map(str, index))}": index
        for index in product(*(range(len(sizes)) for sizes in step.chunks))
    }
    todo = {name: index for name, index in wanted.items() if name not in journal.finished}
    if not todo:
        return
    blocks = step.make().to_delayed()
    is_shared = step.target.kind == "Zarr"  # whose chunks are files of their own: any worker may write one
    tasks = [blocks[index] for index in todo.values()]
    if is_shared:
        write = delayed(_write)
        tasks = [write(blocks[index], step.target, step.where(index)) for index in todo.values()]
    futures = dict(zip(client.compute(tasks), todo.items(), strict=True))
    for future in as_completed(list(futures)):
        name, index = futures.pop(future)
        block = future.result()
        if not is_shared:
            step.target.write(step.where(index), block)
        future.release()
        yield name


def _write(block: np.ndarray, target: StoredArray, where: tuple[slice, ...]) -> None:
    target.write(where, block)


def _restored(job: ChunkJob, sigmas: Sequence[float]) -> Any:
    """The whole result as a Dask array: images in one file, of other times and channels, each by itself."""
    da, settings = dask_array(), job.settings
    images, masks = _images(job, job.image), _images(job, job.mask)
    results = []
    for number, image in enumerate(images):
        given: dict[str, Any] = {"method": settings.method, "channel_axis": _channel_axis(job)}
        if job.mask is not None:
            results.append(inpaint(image, masks[number], settings.dictionary, **given))
        elif sigmas[number] == 0:
            results.append(image)
        else:
            given |= {"stride": settings.stride, "time_axis": settings.time_axis}
            results.append(denoise(image, sigmas[number], settings.dictionary, **given))
    kept = [_is_space(axis, side) for axis, side in zip(job.axes, job.image.shape, strict=True)]
    others = [side for side, own in zip(job.image.shape, kept, strict=True) if not own]
    stacked = da.stack(results).reshape(*others, *results[0].shape) if not all(kept) else results[0]
    order = [axis for axis, own in enumerate(kept) if not own] + [
        axis for axis, own in enumerate(kept) if own
    ]
    return da.transpose(stacked, np.argsort(order).tolist()).rechunk(
        _chunks(job.image.shape, _block_sides(job))
    )


def _images(job: ChunkJob, stored: StoredArray | None) -> list[Any]:
    """The images of space, with their colours, that an array holds."""
    if stored is None:
        return []
    whole = stored.as_dask(_block_sides(job)) if stored.shape == job.image.shape else stored.as_dask()
    if stored is job.mask:
        whole = whole if whole.dtype == bool else whole > float(whole.max().compute()) / 2
        if stored.shape != job.image.shape:
            return [whole]
    kept = [_is_space(axis, side) for axis, side in zip(job.axes, job.image.shape, strict=True)]
    ranges = [[slice(None)] if own else range(side) for own, side in zip(kept, job.image.shape, strict=True)]
    return [whole[index] for index in product(*ranges)]


def _is_space(axis: str, side: int) -> bool:
    """Whether an axis is worked along; one of length one is not."""
    return axis == "colour" or (axis == "space" and side > 1)


def _channel_axis(job: ChunkJob) -> int | None:
    return -1 if "colour" in job.axes else None


def _block_sides(job: ChunkJob) -> tuple[int, ...]:
    """Of a block: no more images of other times and channels at a time than lie in one chunk."""
    image = job.image
    chunks = image.chunks or (1,) * image.ndim
    triples = zip(job.axes, image.shape, chunks, strict=True)
    shape = [side if _is_space(axis, side) else min(length, side) for axis, side, length in triples]
    return blocks_of(shape, image.chunks)


def _chunks(shape: Sequence[int], sides: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    return tuple(
        (side,) * (length // side) + ((length % side,) if length % side else ())
        for length, side in zip(shape, sides, strict=True)
    )


def _noise(job: ChunkJob, client: Any) -> list[float]:
    """The noise of each image: given, or estimated over all its chunks."""
    images = _images(job, job.image)
    if job.settings.sigma is not None:
        return [float(job.settings.sigma)] * len(images)
    levels = [estimate_noise(image, _channel_axis(job)) for image in images]
    largest = [abs(image).max() for image in images]
    found = client.gather(client.compute([*levels, *largest]))
    rounding = [np.finfo(np.float32).eps * float(size) for size in found[len(images) :]]
    pairs = zip(map(float, found), rounding, strict=False)
    return [level if level > least else 0.0 for level, least in pairs]


def _create(job: ChunkJob, place: Path) -> StoredArray | Multiscale:
    if isinstance(job.source, Multiscale):
        return create_multiscale(place, job.source)
    return create_stored(place, job.target, job.source, _block_sides(job))


def _reopen(job: ChunkJob, place: Path) -> StoredArray | Multiscale:
    if isinstance(job.source, Multiscale):
        found = open_multiscale(place)
        assert found is not None  # it was made from one
        return found
    return open_stored(place)


@contextmanager
def _whole_sentences(journal: Journal) -> Iterator[None]:
    """What ends a run early is told with where to go on."""
    rest = f"what is done stays in {journal.folder}, and the same command goes on from there."
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise OSError(f"The disk is full: {rest}") from error
        raise
    except Exception as error:
        if not type(error).__module__.startswith("distributed"):
            raise
        raise OSError(f"The cluster went away ({type(error).__name__}): {rest}") from error
