"""Denoise and inpaint arrays in files, block by block, on a cluster; a run that is stopped goes on later."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sedil.cluster.block_sizes import sizes_of_blocks
from sedil.cluster.clusters import connecting
from sedil.cluster.dask_arrays import dask_array
from sedil.cluster.denoising_steps import HowToDenoise, steps_of
from sedil.cluster.facts import Noise, channels_first, facts_as_plain, facts_from_plain
from sedil.cluster.journal import Journal
from sedil.cluster.lazy_denoise import lazy_facts
from sedil.cluster.multiscale import Multiscale, create_multiscale, open_multiscale
from sedil.cluster.parts import Chunks
from sedil.cluster.stored_arrays import StoredArray, create_stored, open_stored
from sedil.cluster.stored_steps import StoredDenoising, StoredImage
from sedil.engines.threads import thread_count
from sedil.file_jobs.block_queue import name_of, run_blocks
from sedil.file_jobs.chunk_jobs import ChunkJob
from sedil.file_jobs.chunk_stages import Stage, denoising_stages, inpainting_stages
from sedil.imaging.denoise import how_to_denoise
from sedil.imaging.inpaint import inpaint
from sedil.imaging.noise import estimate_noise
from sedil.imaging.pixels import Units
from sedil.progress import Progress, Report


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
        # Processes of this machine take a second to start: what must be known is found meanwhile.
        with connecting(scheduler, threads) as client:
            if facts is None:
                here = _Here(thread_count(threads))
                facts = _found_facts(job, here if scheduler is None else _OnCluster(client()))
                target = _create(job, journal.result)
                journal.begin(identity, facts)
            else:
                target = _reopen(job, journal.result)
            stages = list(_stages(job, target, facts, journal.folder))
            n_blocks = sum(len(stage.indices) for stage in stages)
            tell(Facts(facts["sigmas"], len(journal.finished), n_blocks))
            report(Progress(len(journal.finished), n_blocks, "blocks"))
            for block in run_blocks(stages, journal.finished, client()):
                journal.note(name_of(block))
                report(Progress(len(journal.finished), n_blocks, "blocks"))
        journal.end()


def _stages(
    job: ChunkJob, target: StoredArray | Multiscale, facts: dict[str, Any], folder: Path
) -> Iterator[Stage]:
    if job.mask is not None:
        return inpainting_stages(job, target, partial(_inpainted, job))
    how = _how(job)
    sizes = tuple(map(tuple, facts["blocks"]))
    images = [
        StoredDenoising(image, how, facts_from_plain(own), sizes, folder / f"image-{number}")
        for number, (image, own) in enumerate(zip(_stored_images(job), facts["images"], strict=True))
    ]
    return denoising_stages(job, target, images)


# What must be known first


class _Here(NamedTuple):
    """Threads of this process, which are as many as the processes that are being started."""

    n_threads: int

    def compute(self, tasks: Sequence[Any]) -> Sequence[Any]:
        """What comes of Dask collections."""
        import dask

        found: Sequence[Any] = dask.compute(*tasks, scheduler="threads", num_workers=self.n_threads)
        return found


class _OnCluster(NamedTuple):
    """Workers of a cluster that is there already."""

    client: Any

    @property
    def n_threads(self) -> int:
        """Of all workers."""
        return max(sum(self.client.nthreads().values()), 1)

    def compute(self, tasks: Sequence[Any]) -> Sequence[Any]:
        """What comes of Dask collections."""
        found: Sequence[Any] = self.client.gather(self.client.compute(tasks))
        return found


def _found_facts(job: ChunkJob, at: _Here | _OnCluster) -> dict[str, Any]:
    """What all blocks have in common, as plain words and numbers; a run that goes on takes them over."""
    if job.mask is not None:
        return {"sigmas": []}
    sigmas, how = _noise(job, at), _how(job)
    images = _facts_of_images(job, sigmas, how, at)
    halos = [step.halo for step in steps_of(how)]
    blocks = sizes_of_blocks(how.shape, halos, how.bytes_per_pixel(), at.n_threads)
    return {"sigmas": sigmas, "images": list(map(facts_as_plain, images)), "blocks": blocks}


def _noise(job: ChunkJob, at: _Here | _OnCluster) -> list[float]:
    """The noise of each image: given, or estimated over all its chunks."""
    images = _lazy_images(job, job.image)
    if job.settings.sigma is not None:
        return [float(job.settings.sigma)] * len(images)
    levels = [estimate_noise(image, job.channel_axis) for image in images]
    largest = [abs(image).max() for image in images]
    found = at.compute([*levels, *largest])
    rounding = [np.finfo(np.float32).eps * float(size) for size in found[len(images) :]]
    pairs = zip(map(float, found), rounding, strict=False)
    return [level if level > least else 0.0 for level, least in pairs]


def _facts_of_images(
    job: ChunkJob, sigmas: Sequence[float], how: HowToDenoise, at: _Here | _OnCluster
) -> list[dict[str, Any]]:
    from dask import delayed

    tasks: list[Any] = []
    for image, sigma in zip(_lazy_images(job, job.image), sigmas, strict=True):
        found = lazy_facts(channels_first(image, job.channel_axis), sigma, how) if sigma else {}
        tasks.append(delayed({name: each.to_delayed().item() for name, each in found.items()}))
    nothing = {"noise": Noise(Units(), 0.0, 0.0, is_weak_for_groups=False)}
    return [each or nothing for each in at.compute(tasks)]


def _how(job: ChunkJob) -> HowToDenoise:
    image, settings = _lazy_images(job, job.image)[0], job.settings
    method: Any = settings.method or ("groups" if settings.dictionary is None else "quick")
    return how_to_denoise(
        image,
        settings.dictionary,
        method,
        stride=settings.stride,
        channel_axis=job.channel_axis,
        time_axis=settings.time_axis,
    )


# Images of the file


def _stored_images(job: ChunkJob) -> list[StoredImage]:
    return [StoredImage(job.image, place, "colour" in job.axes) for place in job.places()]


def _lazy_images(job: ChunkJob, stored: StoredArray) -> list[Any]:
    """As Dask arrays, with their colours."""
    whole = stored.as_dask(job.block_sides(job.image.chunks))
    return [whole[tuple(slice(None) if at is None else at for at in place)] for place in job.places()]


def _inpainted(job: ChunkJob, chunks: Chunks) -> Any:
    """The whole result as a Dask array: images in one file, of other times and channels, each by itself."""
    da, settings, shape = dask_array(), job.settings, job.image.shape
    pairs = zip(_lazy_images(job, job.image), _masks(job), strict=True)
    method: Any = settings.method
    results = [
        inpaint(image, mask, settings.dictionary, method=method, channel_axis=job.channel_axis)
        for image, mask in pairs
    ]
    others = [side for side, own in zip(shape, job.is_in_image, strict=True) if not own]
    stacked = da.stack(results).reshape(*others, *results[0].shape) if others else results[0]
    order = sorted(range(len(shape)), key=lambda axis: job.is_in_image[axis])  # those of an image last
    return da.transpose(stacked, np.argsort(order).tolist()).rechunk(chunks)


def _masks(job: ChunkJob) -> list[Any]:
    """Of each image, as Dask arrays."""
    mask = job.mask
    assert mask is not None  # or nothing is inpainted
    is_whole = mask.shape == job.image.shape
    some = _lazy_images(job, mask) if is_whole else [mask.as_dask()] * len(job.places())
    if mask.dtype == bool:
        return some
    middle = float(mask.as_dask().max().compute()) / 2
    return [each > middle for each in some]


# The target


def _create(job: ChunkJob, place: Path) -> StoredArray | Multiscale:
    if isinstance(job.source, Multiscale):
        return create_multiscale(place, job.source)
    return create_stored(place, job.target, job.source, job.block_sides(job.image.chunks))


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
    except Exception as error:
        if type(error).__module__.startswith("distributed"):
            raise OSError(f"The cluster went away ({type(error).__name__}): {rest}") from error
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise OSError(f"The disk is full: {rest}") from error
        raise
