"""What `denoise` of an image in parts does, step by step: one description, which is followed in two ways.

A Dask array becomes a graph with a layer for each step (`lazy_denoise`), and an array in a file goes from
files to files (`stored_steps`). A step is work on each block of the image by itself, which needs no more of
its neighbours than its patches touch. So halos are narrow though steps are many, and nothing is done twice
but what lies on both sides of a seam. To add a step, add it to the list of its method.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from math import prod
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from sedil.choices import CodingMethod, Precision
from sedil.cluster.facts import Noise, image_of_block, start_of_block
from sedil.cluster.parts import Halo, halo_of_patches, halo_of_width, trimmed
from sedil.cluster.reductions import Moments
from sedil.dictionary import SeparableDictionary
from sedil.engines import EngineName
from sedil.imaging.group_denoising import GroupDenoising
from sedil.imaging.groups import match_grid
from sedil.imaging.patch_averages import CleaningOptions, PatchCounter, mean_over_patches
from sedil.imaging.patch_denoising import PatchDenoising
from sedil.imaging.pixels import Units
from sedil.imaging.second_pass import second_grid
from sedil.imaging.weak_noise import first_cosines, first_grids, least_noise, second_cosines, second_grids
from sedil.patch_grid import Part, PatchGrid
from sedil.progress import Progress

# That are held at a time, of the size of what is held of a channel.
_IMAGES_OF_PATCHES, _IMAGES_OF_GROUPS, _IMAGES_OF_A_CHANNEL = 12, 6, 8


class HowToDenoise(NamedTuple):
    """What the caller of `sedil.denoise` has said; `coding` is None for groups."""

    shape: tuple[int, ...]
    n_channels: int
    dictionary: SeparableDictionary | None
    coding: CodingMethod | None
    threshold: float | None
    stride: int | None
    time_axis: int | None
    max_memory: float
    dtype: Precision
    engine: EngineName | None
    threads: int | None

    def plan(self, noise: Noise) -> GroupDenoising | PatchDenoising:
        """How the whole image is cleaned, once its noise is known."""
        # Has the shape of a channel, and takes no memory.
        like = np.broadcast_to(np.zeros((), self.dtype), self.shape)
        if self.coding is None:
            channels, is_weak = [like] * self.n_channels, noise.is_weak_for_groups
            return GroupDenoising.plan(
                channels, noise.level, self.dictionary, self.stride, self.time_axis, is_weak
            )
        share = noise.weakness if self.coding == "refit" else 0.0
        return PatchDenoising.plan(
            like, noise.level, self.dictionary, self.coding, self.threshold, self.stride, share
        )

    def bytes_per_pixel(self) -> float:
        """Memory for each pixel that is held while a block is worked on, all its channels; measured."""
        size, plan = np.dtype(self.dtype).itemsize, self.plan(ANY_NOISE)
        if not isinstance(plan, GroupDenoising):
            return size * (_IMAGES_OF_PATCHES + 2 * self.n_channels)
        settings = plan.settings
        members = settings.n_members / prod(settings.strides)
        return 4 * members + size * (_IMAGES_OF_GROUPS + _IMAGES_OF_A_CHANNEL * self.n_channels)

    def options(self, part: Part) -> CleaningOptions:
        """For one part: Dask works on several at a time, each in a thread of its own."""
        return CleaningOptions(
            self.engine, self.max_memory, self.threads or 1, PatchCounter(_say_nothing, 0), part
        )


def _say_nothing(progress: Progress) -> None:
    """Dask tells how far it has come."""


class Step(NamedTuple):
    """One go over the image.

    Attributes
    ----------
    makes : name of what comes out, an array (channels, *shape)
    work : function
        Called with what is held of the arrays that it takes; by name with the `Part`, how to denoise, what is
        known of the whole image and `arguments`. It returns the block of the array.
    halo : what the work on a block needs of what lies around it
    takes : names of the arrays that it needs
    arguments : anything else
    """

    makes: str
    work: Callable[..., Any]
    halo: Halo
    takes: tuple[str, ...]
    arguments: Mapping[str, Any] = MappingProxyType({})


# Before the noise is known: neither weak nor strong, so that all steps are there that may be needed.
ANY_NOISE = Noise(Units(), 1.0, 0.5, is_weak_for_groups=False)


def steps_of(how: HowToDenoise, noise: Noise = ANY_NOISE) -> list[Step]:
    """All steps from "image", an array (channels, *shape) in its own type, on; the last one makes the result.

    With the `noise` of the image, steps that it makes idle are left out.
    """
    plan = how.plan(noise)
    first = Step("noisy", _start, _no_halo, ("image",))
    rest = _group_steps(how, plan) if isinstance(plan, GroupDenoising) else _patch_steps(how, plan)
    return [first, *rest]


def _group_steps(how: HowToDenoise, plan: GroupDenoising) -> Iterator[Step]:
    guess = "noisy"
    if plan.guide != "noisy":
        guess = "guess"
        has_groups = plan.guide == "groups"
        halo = _halo_of_groups(plan) if has_groups else _halo_of_grids([plan.guide.grid])  # type: ignore[union-attr]
        yield Step(guess, _guess, halo, ("noisy",))
    yield from _passes("pass", plan, guess, is_luminance=False)
    last = _name_of("pass", plan)
    if plan.luminance is not None:
        yield from _passes("luminance", plan.luminance, guess, is_luminance=True)
        alone = _name_of("luminance", plan.luminance)
        yield Step("mixed", _with_luminance, _no_halo, (last, alone))
        last = "mixed"
    if plan.contrast is not None:
        # Means around a pixel, and means of what these are taken from.
        width = [2 * (side - 1) for side in plan.contrast]
        yield Step("contrast", _with_contrast, halo_of_width(how.shape, width, width), (last,))


def _passes(name: str, plan: GroupDenoising, guess: str, is_luminance: bool) -> Iterator[Step]:
    halo, estimate = _halo_of_groups(plan), guess
    for number in range(plan.settings.n_passes):
        named = {"number": number, "is_luminance": is_luminance}
        yield Step(f"{name} {number}", _one_pass, halo, ("noisy", estimate), named)
        estimate = f"{name} {number}"


def _name_of(name: str, plan: GroupDenoising) -> str:
    return f"{name} {plan.settings.n_passes - 1}"


def _patch_steps(how: HowToDenoise, plan: PatchDenoising) -> Iterator[Step]:
    shape, clean = how.shape, "noisy"
    if plan.cosines < 1:
        patches = _halo_of_grids([cleaning.grid for cleaning in plan.cleanings])
        yield Step("patches", _mean_over_patches, patches, ("noisy",))
        is_volume = len(shape) > 2 and how.coding != "l1"
        second = _halo_of_grids([second_grid(shape)]) if is_volume else _no_halo
        clean = "second pass"
        yield Step(clean, _improved, second, ("noisy", "patches"))
    if plan.cosines > 0:
        first, second = (_halo_of_grids(grids(shape, plan.stride)) for grids in (first_grids, second_grids))
        yield Step("first cosines", _first_cosines, first, ("noisy",))
        yield Step("second cosines", _second_cosines, second, ("noisy", "first cosines"))
        yield Step("mixed", _mixed, _no_halo, (clean, "second cosines"))


def _halo_of_groups(plan: GroupDenoising) -> Halo:
    return halo_of_patches([match_grid(plan.image_shape, plan.settings).reaches()])


def _halo_of_grids(grids: Sequence[PatchGrid]) -> Halo:
    return halo_of_patches([grid.reaches() for grid in grids])


def _no_halo(axis: int, inside: slice) -> slice:
    return inside


def end(block: np.ndarray, noise: Noise, type_: Any) -> np.ndarray:
    """A block of the result of the last step as one of the image, of its type."""
    return image_of_block(block, noise.units, type_, rotate=True) if noise.level else block


# Work on a part: `noisy`, `estimate` and such are what is held of the image


def _where_there_is_noise(work: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """Work with the plan of the whole image, of which no more than the block is kept.

    An image without noise stays as it is: whatever a step is given first is the image itself then.
    """

    @wraps(work)
    def worked(*arrays: np.ndarray, part: Part, noise: Noise, how: HowToDenoise, **named: Any) -> np.ndarray:
        if not noise.level:
            return trimmed(arrays[0], part)
        # What is held around a part has no patches, and divides nothing by nothing.
        with np.errstate(invalid="ignore", divide="ignore"):
            return trimmed(work(*arrays, plan=how.plan(noise), options=how.options(part), **named), part)

    return worked


def _start(image: np.ndarray, part: Part, noise: Noise, how: HowToDenoise, moments: Any = None) -> np.ndarray:
    """The numbers that are computed on; where nothing is to be done, those of the image."""
    return start_of_block(image, noise, how.dtype)


@_where_there_is_noise
def _guess(noisy: np.ndarray, plan: GroupDenoising, options: CleaningOptions) -> Any:
    return plan.guess(noisy, options)


def _one_pass(
    noisy: np.ndarray,
    estimate: np.ndarray,
    *,
    number: int,
    is_luminance: bool,
    part: Part,
    noise: Noise,
    how: HowToDenoise,
) -> np.ndarray:
    after = noisy
    if noise.level:
        plan: Any = how.plan(noise)
        if is_luminance:
            plan, noisy, estimate = plan.luminance, noisy[:1], estimate[:1]
        after = plan.one_pass(number, noisy, estimate, how.options(part))
    return trimmed(after, part)


@_where_there_is_noise
def _with_luminance(
    estimate: np.ndarray, alone: np.ndarray, plan: GroupDenoising, options: CleaningOptions
) -> np.ndarray:
    return np.concatenate([(estimate[:1] + alone) / 2, estimate[1:]])


@_where_there_is_noise
def _with_contrast(estimate: np.ndarray, plan: GroupDenoising, options: CleaningOptions) -> np.ndarray:
    return np.concatenate([plan.with_contrast(estimate[0])[None], estimate[1:]])


@_where_there_is_noise
def _mean_over_patches(
    noisy: np.ndarray, plan: PatchDenoising, options: CleaningOptions, moments: Sequence[Moments]
) -> np.ndarray:
    if plan.cosines == 1:
        return noisy
    return np.stack([mean_over_patches(channel, plan.cleanings, options) for channel in noisy])


@_where_there_is_noise
def _improved(
    noisy: np.ndarray,
    estimate: np.ndarray,
    plan: PatchDenoising,
    options: CleaningOptions,
    moments: Sequence[Moments],
) -> np.ndarray:
    if plan.cosines == 1:
        return noisy
    triples = zip(noisy, estimate, moments, strict=True)
    return np.stack([plan.improved(own, mean, each.variance, options) for own, mean, each in triples])


@_where_there_is_noise
def _first_cosines(
    noisy: np.ndarray, plan: PatchDenoising, options: CleaningOptions, moments: Sequence[Moments]
) -> np.ndarray:
    if plan.cosines == 0:
        return noisy
    pairs = zip(noisy, _levels(noisy, plan, moments), strict=True)
    return np.stack([first_cosines(own, level, plan.stride, options) for own, level in pairs])


@_where_there_is_noise
def _second_cosines(
    noisy: np.ndarray,
    guide: np.ndarray,
    plan: PatchDenoising,
    options: CleaningOptions,
    moments: Sequence[Moments],
) -> np.ndarray:
    if plan.cosines == 0:
        return noisy
    triples = zip(noisy, guide, _levels(noisy, plan, moments), strict=True)
    return np.stack(
        [second_cosines(own, steering, level, plan.stride, options) for own, steering, level in triples]
    )


def _levels(noisy: np.ndarray, plan: PatchDenoising, moments: Sequence[Moments]) -> list[float]:
    """Of the noise in each channel, as far as it can be told from rounding."""
    pairs = zip(noisy, moments, strict=True)
    return [least_noise(plan.sigma, each.largest, own) for own, each in pairs]


@_where_there_is_noise
def _mixed(
    estimate: np.ndarray,
    cosines: np.ndarray,
    plan: PatchDenoising,
    options: CleaningOptions,
    moments: Sequence[Moments],
) -> Any:
    return plan.mixed(estimate, cosines) if plan.cosines else estimate
