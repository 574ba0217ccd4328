"""`denoise` of a Dask array: the same result as of an array in memory, chunk by chunk.

Each pass over the image is a layer of the graph of its own, in which a chunk needs no more of its neighbours
than its patches touch. So halos are narrow though passes are many, and nothing is done twice but what lies
on both sides of a seam.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import is_dask_array

from sedil import checks
from sedil.choices import CodingMethod, Precision
from sedil.cluster.dask_arrays import dask_array
from sedil.cluster.facts import (
    Noise,
    Scale,
    channels_back,
    channels_first,
    image_of_block,
    lazy_channels,
    lazy_moments,
    lazy_scale,
    pixels_of_block,
)
from sedil.cluster.lazy_noise import halo_of_details, lazy_level
from sedil.cluster.made_again import again
from sedil.cluster.parts import (
    Halo,
    chunks_to_work_in,
    halo_of_patches,
    layout_of,
    map_blocks,
    map_parts,
    trimmed,
    with_halos,
)
from sedil.cluster.reductions import Moments
from sedil.dictionary import SeparableDictionary
from sedil.engines import EngineName
from sedil.engines.contract import Cleaning
from sedil.imaging.group_denoising import GroupDenoising
from sedil.imaging.groups import match_grid
from sedil.imaging.noise_details import require_details
from sedil.imaging.patch_averages import CleaningOptions, PatchCounter, mean_over_patches
from sedil.imaging.patch_denoising import PatchDenoising
from sedil.imaging.pixels import Units
from sedil.imaging.second_pass import second_grid
from sedil.imaging.weak_noise import (
    WEAKEST,
    first_cosines,
    first_grids,
    is_weak_for_groups,
    least_noise,
    second_cosines,
    second_grids,
    weakness,
)
from sedil.patch_grid import Part, PatchGrid
from sedil.progress import Progress


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

    def options(self, part: Part) -> CleaningOptions:
        """For one part: Dask works on several at a time, each in a thread of its own."""
        return CleaningOptions(
            self.engine, self.max_memory, self.threads or 1, PatchCounter(_say_nothing, 0), part
        )


def _say_nothing(progress: Progress) -> None:
    """Dask tells how far it has come."""


# Before the noise is known: neither weak nor strong, so that all grids are planned that may be needed.
_ANY_NOISE = Noise(Units(), 1.0, 0.5, is_weak_for_groups=False)


def lazy_denoise(image: Any, sigma: Any, how: HowToDenoise, channel_axis: int | None) -> Any:
    """See `sedil.denoise`; `image` is checked by `as_lazy_image`."""
    first = channels_first(image, channel_axis)
    steps = _group_steps(how) if how.coding is None else _patch_steps(how)
    halos = list(steps.values())
    if sigma is None:
        require_details(how.shape, image.shape)
        halos.append(halo_of_details(how.shape))
    first = first.rechunk((first.chunks[0], *chunks_to_work_in(first.chunks[1:], halos)))
    facts = {"noise": _lazy_noise(first, sigma, how)}
    if how.coding is not None:
        once = map_blocks(_start, [again(first, [facts["noise"]])], how.dtype, facts, how=how)
        facts["moments"] = lazy_moments(once)
    # The image is read anew, after all of it was looked at.
    after = facts.get("moments", facts["noise"])
    noisy = map_blocks(_start, [again(first, [after])], how.dtype, {"noise": facts["noise"]}, how=how)
    work = _Work(noisy, facts, how, steps)
    clean = work.by_groups() if how.coding is None else work.by_patches()
    result = map_blocks(_end, [clean], image.dtype, {"noise": facts["noise"]}, type_=image.dtype)
    return channels_back(result, channel_axis).rechunk(image.chunks)


def _lazy_noise(first: Any, sigma: Any, how: HowToDenoise) -> Any:
    """A `Noise`; see `merged`."""
    scale = lazy_scale(first, how.dtype)
    given: list[Any] = [scale]
    if sigma is None:
        channels = lazy_channels(again(first, [scale]), scale, how.dtype)
        given.append(lazy_level(channels.astype(np.float64), scale))
    elif is_dask_array(sigma):
        if sigma.shape != ():
            raise ValueError(f"sigma must be one number, got a Dask array of shape {sigma.shape}.")
        given.append(sigma)
    else:
        sigma = checks.require_positive(sigma, "sigma")
    plain = sigma if isinstance(sigma, float) else None
    return dask_array().map_blocks(
        _noise_of,
        *given,
        sigma=plain,
        is_level=sigma is None,
        n_axes=len(how.shape),
        dtype=object,
        meta=np.empty((), object),
    )


def _noise_of(scale: Scale, found: Any = None, *, sigma: float | None, is_level: bool, n_axes: int) -> Noise:
    level = found if is_level else None
    if level is None:
        level = scale.units.level(checks.require_positive(float(found), "sigma") if sigma is None else sigma)
    if level < WEAKEST or scale.units.spread == 0:
        return Noise(scale.units, 0.0, 0.0, is_weak_for_groups=False)
    return Noise(
        scale.units,
        level,
        weakness(scale.spread, level, n_axes),
        is_weak_for_groups(scale.spread, level),
    )


def _start(block: np.ndarray, noise: Noise, how: HowToDenoise) -> np.ndarray:
    """The numbers that are computed on; where nothing is to be done, those of the image."""
    if not noise.level:
        return block
    return pixels_of_block(block, units=noise.units, dtype=how.dtype, rotate=True)


def _end(block: np.ndarray, noise: Noise, type_: Any) -> np.ndarray:
    return image_of_block(block, noise.units, type_, rotate=True) if noise.level else block


def _group_steps(how: HowToDenoise) -> dict[str, Halo]:
    """What each step of groups needs: the first guess, a pass, and a pass over luminance alone."""
    plan = how.plan(_ANY_NOISE)
    assert isinstance(plan, GroupDenoising)
    shape = how.shape
    steps = {"pass": halo_of_patches([match_grid(shape, plan.settings).reaches()])}
    guide = plan.guide
    steps["guess"] = _halo_of_grids([guide.grid]) if isinstance(guide, Cleaning) else steps["pass"]
    if plan.luminance is not None:
        steps["luminance"] = halo_of_patches([match_grid(shape, plan.luminance.settings).reaches()])
    return steps


def _patch_steps(how: HowToDenoise) -> dict[str, Halo]:
    """What each step of the quick method needs: patches, what follows in volumes, both passes of cosines."""
    plan = how.plan(_ANY_NOISE)
    assert isinstance(plan, PatchDenoising)
    shape = how.shape
    steps = {"patches": _halo_of_grids([cleaning.grid for cleaning in plan.cleanings])}
    if len(shape) > 2 and how.coding != "l1":
        steps["second pass"] = _halo_of_grids([second_grid(shape)])
    if plan.cosines:
        steps["first cosines"] = _halo_of_grids(first_grids(shape, plan.stride))
        steps["second cosines"] = _halo_of_grids(second_grids(shape, plan.stride))
    return steps


def _halo_of_grids(grids: Sequence[PatchGrid]) -> Halo:
    return halo_of_patches([grid.reaches() for grid in grids])


class _Work(NamedTuple):
    """The graph of a denoised image, from its numbers (channels, *shape)."""

    noisy: Any
    facts: dict[str, Any]
    how: HowToDenoise
    steps: dict[str, Halo]

    def by_groups(self) -> Any:
        """All passes, and those over luminance."""
        guess = self._step("guess", _guess, [self.noisy])
        estimate = self._passes("pass", self.noisy, guess, is_luminance=False)
        if "luminance" not in self.steps:
            return estimate
        alone = self._passes("luminance", self.noisy[:1], guess[:1], is_luminance=True)
        return self._step("", _with_luminance, [estimate], [alone])

    def _passes(self, name: str, noisy: Any, estimate: Any, is_luminance: bool) -> Any:
        plan: Any = self.how.plan(_ANY_NOISE)
        plan = plan.luminance if is_luminance else plan
        layout = layout_of(noisy.chunks[1:], self.steps[name])
        around = with_halos(noisy, layout)
        groups: list[Any] = []
        for number in range(plan.settings.n_passes):
            if plan.matches_anew(number):
                groups = []
            is_last = number + 1 == plan.settings.n_passes or plan.matches_anew(number + 1)
            # Blocks are pairs here: the estimate, and the groups for the next pass.
            both = map_parts(
                _one_pass,
                [around, with_halos(estimate, layout)],
                layout,
                object,
                groups,
                self.facts,
                how=self.how,
                number=number,
                is_luminance=is_luminance,
                keeps_groups=not is_last,
            )
            estimate = map_blocks(_first, [both], noisy.dtype, {})
            groups = [] if is_last else [map_blocks(_second, [both], object, {})]
        return estimate

    def by_patches(self) -> Any:
        """Sparse codes and cosines, as far as each is wanted."""
        estimate = self._step("patches", _mean_over_patches, [self.noisy])
        clean = self._step("second pass", _improved, [self.noisy, estimate])
        if "first cosines" not in self.steps:
            return clean
        guide = self._step("first cosines", _first_cosines, [self.noisy])
        return self._step("second cosines", _mixed, [self.noisy, guide], [clean])

    def _step(
        self, name: str, work: Callable[..., Any], arrays: Sequence[Any], alone: Sequence[Any] = ()
    ) -> Any:
        layout = layout_of(self.noisy.chunks[1:], self.steps.get(name, _no_halo))
        held = [with_halos(each, layout) for each in arrays]
        return map_parts(work, held, layout, self.noisy.dtype, alone, self.facts, how=self.how)


def _no_halo(axis: int, inside: slice) -> slice:
    return inside


def _first(both: tuple[Any, Any]) -> Any:
    return both[0]


def _second(both: tuple[Any, Any]) -> Any:
    return both[1]


# Work on a part: `noisy`, `estimate` and such are what is held of the image


def _guess(noisy: np.ndarray, part: Part, noise: Noise, how: HowToDenoise) -> np.ndarray:
    if not noise.level:
        return trimmed(noisy, part)
    plan: Any = how.plan(noise)
    with _outside_is_empty():
        return trimmed(plan.guess(noisy, how.options(part)), part)


def _one_pass(
    noisy: np.ndarray,
    estimate: np.ndarray,
    groups: Any = None,
    *,
    number: int,
    is_luminance: bool,
    keeps_groups: bool,
    part: Part,
    noise: Noise,
    how: HowToDenoise,
) -> tuple[np.ndarray, Any]:
    if not noise.level:
        return trimmed(noisy, part), None
    plan: Any = how.plan(noise)
    plan = plan.luminance if is_luminance else plan
    after, groups = plan.one_pass(number, noisy, estimate, groups, how.options(part))
    return trimmed(after, part), groups if keeps_groups else None


def _with_luminance(
    estimate: np.ndarray, alone: np.ndarray, part: Part, noise: Noise, how: HowToDenoise
) -> np.ndarray:
    if not noise.level:
        return estimate
    return np.concatenate([(estimate[:1] + alone) / 2, estimate[1:]])


def _mean_over_patches(
    noisy: np.ndarray, part: Part, noise: Noise, how: HowToDenoise, moments: Sequence[Moments]
) -> np.ndarray:
    plan: Any = how.plan(noise) if noise.level else None
    if plan is None or plan.cosines == 1:
        return trimmed(noisy, part)
    with _outside_is_empty():
        means = [mean_over_patches(channel, plan.cleanings, how.options(part)) for channel in noisy]
    return trimmed(np.stack(means), part)


def _improved(
    noisy: np.ndarray,
    estimate: np.ndarray,
    part: Part,
    noise: Noise,
    how: HowToDenoise,
    moments: Sequence[Moments],
) -> np.ndarray:
    plan: Any = how.plan(noise) if noise.level else None
    if plan is None or plan.cosines == 1:
        return trimmed(noisy, part)
    triples = zip(noisy, estimate, moments, strict=True)
    with _outside_is_empty():
        better = [plan.improved(own, mean, each.variance, how.options(part)) for own, mean, each in triples]
    return trimmed(np.stack(better), part)


def _first_cosines(
    noisy: np.ndarray, part: Part, noise: Noise, how: HowToDenoise, moments: Sequence[Moments]
) -> np.ndarray:
    plan: Any = how.plan(noise) if noise.level else None
    if plan is None or plan.cosines == 0:
        return trimmed(noisy, part)
    with _outside_is_empty():
        guides = [
            first_cosines(own, least_noise(noise.level, each.largest, own), plan.stride, how.options(part))
            for own, each in zip(noisy, moments, strict=True)
        ]
    return trimmed(np.stack(guides), part)


def _mixed(
    noisy: np.ndarray,
    guide: np.ndarray,
    estimate: np.ndarray,
    part: Part,
    noise: Noise,
    how: HowToDenoise,
    moments: Sequence[Moments],
) -> np.ndarray:
    """The second pass of cosines, mixed with `estimate`, of which no more than what is wanted is given."""
    plan: Any = how.plan(noise) if noise.level else None
    if plan is None or plan.cosines == 0:
        return estimate
    with _outside_is_empty():
        cosines = [
            second_cosines(
                own, steering, least_noise(noise.level, each.largest, own), plan.stride, how.options(part)
            )
            for own, steering, each in zip(noisy, guide, moments, strict=True)
        ]
    return plan.mixed(estimate, trimmed(np.stack(cosines), part))


def _outside_is_empty() -> Any:
    """What is held around a part has no patches, and divides nothing by nothing."""
    return np.errstate(invalid="ignore", divide="ignore")
