"""`inpaint` of a Dask array, chunk by chunk.

What fills a hole comes from all around it: the smoothest surface through all known pixels first, then tens of
passes. So each chunk is filled with a halo in which what lies beyond has hardly any weight left. What is the
same everywhere, the number of passes, the levels of noise and where patches lie, is that of the whole image.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from sedil.choices import Precision
from sedil.cluster.dask_arrays import as_lazy_image, dask_array
from sedil.cluster.facts import (
    Scale,
    channels_back,
    channels_first,
    image_of_block,
    lazy_moments,
    lazy_scale,
    pixels_of_block,
)
from sedil.cluster.made_again import again
from sedil.cluster.parts import (
    chunks_to_work_in,
    halo_of_width,
    layout_of,
    map_blocks,
    map_parts,
    trimmed,
    with_halos,
)
from sedil.cluster.reductions import Moments, merged, moments_together
from sedil.dictionary import SeparableDictionary
from sedil.engines import EngineName
from sedil.imaging.group_inpainting import GroupFilling
from sedil.imaging.groups import GroupSettings
from sedil.imaging.image_dictionaries import image_patch_shape
from sedil.imaging.patch_averages import CleaningOptions, PatchCounter
from sedil.imaging.patch_inpainting import fill_by_patches, missing_neighbours, passes_for, plan_passes
from sedil.patch_grid import Part
from sedil.progress import Progress

# Halos, in windows of candidates or in patches: wider ones bring results no nearer (docs/cluster.md).
_WINDOWS, _PATCHES = 2, 4


class HowToInpaint(NamedTuple):
    """What the caller of `sedil.inpaint` has said; without groups `settings` is None."""

    shape: tuple[int, ...]
    n_channels: int
    dictionaries: list[SeparableDictionary]
    settings: GroupSettings | None
    sigma: float
    passes: int | None
    stride: int | None
    max_memory: float
    dtype: Precision
    engine: EngineName | None
    threads: int | None

    def halo(self) -> tuple[int, ...]:
        """How much is taken from neighbours along each axis."""
        patches = [image_patch_shape(each, self.shape) for each in self.dictionaries]
        of_patches = [
            max((_PATCHES * each[axis] for each in patches), default=0) for axis in range(len(self.shape))
        ]
        if self.settings is None:
            return tuple(of_patches)
        sides = zip(self.settings.window, self.settings.patch_shape, strict=True)
        of_groups = [_WINDOWS * (length + patch - 1) for length, patch in sides]
        return tuple(map(max, of_patches, of_groups))


class Mask(NamedTuple):
    """Of the masks of all channels: missing and known pixels, missing neighbours of missing ones, of all."""

    n_missing: list[int]
    n_known: list[int]
    n_shared: list[int]
    n_neighbours: list[int]
    are_equal: bool


def lazy_inpaint(image: Any, mask: Any, how: HowToInpaint, channel_axis: int | None) -> Any:
    """See `sedil.inpaint`; `image` is checked by `as_lazy_image`, `mask` by `as_lazy_mask`."""
    halo = how.halo()
    around = halo_of_width(how.shape, halo, halo)
    first = channels_first(image, channel_axis)
    chunks = (first.chunks[0], *chunks_to_work_in(first.chunks[1:], [around]))
    first, missing = first.rechunk(chunks), channels_first(mask, channel_axis).rechunk(chunks)
    layout = layout_of(chunks[1:], around)
    facts = _lazy_facts(first, missing, how)
    both = [with_halos(again(each, [facts["moments"]]), layout) for each in (first, missing)]
    filled = map_parts(_fill_part, both, layout, image.dtype, facts, how=how)
    return channels_back(filled, channel_axis).rechunk(image.chunks)


def as_lazy_mask(mask: Any, image: Any, channel_axis: int | None) -> Any:
    """A boolean Dask array of the shape and chunks of the image; it may come without channels."""
    da = dask_array()
    mask = da.asarray(mask)
    if mask.dtype != bool:
        raise TypeError(f"mask must be boolean, True where a pixel is missing, got dtype {mask.dtype}.")
    if mask.ndim == image.ndim - 1 and channel_axis is not None:
        mask = da.expand_dims(mask, channel_axis)
        if all(own in (1, side) for own, side in zip(mask.shape, image.shape, strict=True)):
            mask = da.broadcast_to(mask, image.shape)
    if mask.shape != image.shape:
        raise ValueError(f"mask must have the shape of the image, {image.shape}, got {mask.shape}.")
    return as_lazy_image(mask, channel_axis, "mask").rechunk(image.chunks)


def _lazy_facts(first: Any, missing: Any, how: HowToInpaint) -> dict[str, Any]:
    """What must be known of the whole image; see `merged`."""
    ahead = halo_of_width(how.shape, (0,) * len(how.shape), (1,) * len(how.shape))
    layout = layout_of(missing.chunks[1:], ahead)
    masks = map_parts(_mask_of_part, [with_halos(missing, layout)], layout, object)
    begun = {
        "mask": merged(masks, _merged_masks, _require_known),
        "scale": lazy_scale(first, how.dtype, missing),
    }
    once, where = (again(each, list(begun.values())) for each in (first, missing))
    pixels = map_blocks(_pixels, [once, where], how.dtype, begun, how=how)
    return begun | {"moments": lazy_moments(pixels, where)}


def _require_known(mask: Mask) -> Mask:
    for number, n_known in enumerate(mask.n_known):
        if not n_known:
            which = "Every pixel" if len(mask.n_known) == 1 else f"Every pixel of channel {number}"
            raise ValueError(f"{which} is missing: there is nothing to fill it from.")
    return mask


def _pixels(
    block: np.ndarray, missing: np.ndarray, mask: Mask, scale: Scale, how: HowToInpaint
) -> np.ndarray:
    return pixels_of_block(block, missing, units=scale.units, dtype=how.dtype, rotate=mask.are_equal)


def _mask_of_part(held: np.ndarray, part: Part) -> Mask:
    """Pairs of neighbours are counted where the first of them lies."""
    own = trimmed(held, part)
    shared, every = [0] * len(held), [0] * len(held)
    for number in range(len(held)):
        for axis in range(held.ndim - 1):
            inside = [slice(0, side) for side in own.shape[1:]]
            inside[axis] = slice(None)
            counts = missing_neighbours(held[number][tuple(inside)], axis)
            shared[number] += counts[0]
            every[number] += counts[1]
    n_missing = [int(each.sum()) for each in own]
    n_known = [each.size - count for each, count in zip(own, n_missing, strict=True)]
    return Mask(n_missing, n_known, shared, every, bool((own == own[:1]).all()))


def _merged_masks(parts: Sequence[Mask]) -> Mask:
    missing, known, shared, every = (
        np.sum([part[field] for part in parts], axis=0).tolist() for field in range(4)
    )
    return Mask(missing, known, shared, every, all(part.are_equal for part in parts))


def _fill_part(
    held: np.ndarray,
    missing: np.ndarray,
    part: Part,
    mask: Mask,
    scale: Scale,
    moments: Sequence[Moments],
    how: HowToInpaint,
) -> np.ndarray:
    """A chunk with its missing pixels filled; known ones come back to the bit."""
    image, wanted = trimmed(held, part), trimmed(missing, part)
    if not wanted.any():
        return image
    _require_something_known(missing, part)
    channels = list(_pixels(held, missing, mask, scale, how))
    # All that is held is worked on: what is wanted needs it in later passes.
    options = CleaningOptions(
        how.engine,
        how.max_memory,
        how.threads or 1,
        PatchCounter(_say_nothing, 0),
        part._replace(inside=part.held),
    )
    filled = np.stack(
        _filled(channels, list(missing), mask, scale.units.level(how.sigma), moments, how, options)
    )
    result = image_of_block(trimmed(filled, part), scale.units, image.dtype, rotate=mask.are_equal)
    return np.where(wanted, result, image)


def _filled(
    channels: list[np.ndarray],
    masks: list[np.ndarray],
    facts: Mask,
    sigma: float,
    moments: Sequence[Moments],
    how: HowToInpaint,
    options: CleaningOptions,
) -> list[np.ndarray]:
    """All that is held, filled as a part of the whole image."""
    counts = [passes_for(*each) for each in zip(facts.n_shared, facts.n_neighbours, strict=True)]
    everywhere = np.broadcast_to(np.True_, how.shape)  # has the shape of the whole, and takes no memory
    own = (None, None) if how.settings else (how.passes, how.stride)
    filled = []
    for number, (channel, mask) in enumerate(zip(channels, masks, strict=True)):
        plan = []
        if facts.n_missing[number]:
            n_passes = counts[number] if own[0] is None else own[0]
            plan = plan_passes(everywhere, how.dictionaries, n_passes, own[1])
        contrast = sqrt(moments[number].variance)
        filled.append(fill_by_patches(channel, mask, plan, sigma, options, contrast))
    if how.settings is None:
        return filled
    groups = GroupFilling.plan(how.shape, how.settings, how.passes or max(counts), how.stride)
    contrast = sqrt(moments_together(moments).variance)
    return groups.fill(channels, masks, filled, sigma, options, contrast=contrast)


def _require_something_known(missing: np.ndarray, part: Part) -> None:
    if missing.reshape(len(missing), -1).all(axis=1).any():
        sides = " x ".join(str(own.stop - own.start) for own in part.held)
        raise ValueError(
            f"A hole is wider than a chunk with its halo, {sides} pixels: rechunk the image into larger ones."
        )


def _say_nothing(progress: Progress) -> None:
    """Dask tells how far it has come."""
