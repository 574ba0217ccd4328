"""`denoise` of a Dask array: the same result as of an array in memory, chunk by chunk.

Each step is a layer of the graph of its own; see `sedil.cluster.denoising_steps`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from array_api_compat import is_dask_array

from sedil import checks
from sedil.cluster.dask_arrays import dask_array
from sedil.cluster.denoising_steps import HowToDenoise, Step, end, steps_of
from sedil.cluster.facts import (
    Noise,
    Scale,
    channels_back,
    channels_first,
    lazy_channels,
    lazy_moments,
    lazy_pixels,
    lazy_scale,
)
from sedil.cluster.lazy_noise import halo_of_details, lazy_level
from sedil.cluster.made_again import again
from sedil.cluster.parts import chunks_to_work_in, layout_of, map_blocks, map_parts, with_halos
from sedil.imaging.noise_details import require_details
from sedil.imaging.weak_noise import WEAKEST, is_weak_for_groups, weakness


def lazy_denoise(image: Any, sigma: Any, how: HowToDenoise, channel_axis: int | None) -> Any:
    """See `sedil.denoise`; `image` is checked by `as_lazy_image`."""
    first = channels_first(image, channel_axis)
    steps = steps_of(how)
    halos = [step.halo for step in steps]
    if sigma is None:
        require_details(how.shape, image.shape)
        halos.append(halo_of_details(how.shape))
    first = first.rechunk((first.chunks[0], *chunks_to_work_in(first.chunks[1:], halos)))
    facts = lazy_facts(first, sigma, how)
    # The image is read anew, after all of it was looked at.
    after = facts.get("moments", facts["noise"])
    clean = _in_layers(again(first, [after]), steps, facts, how)
    result = map_blocks(end, [clean], image.dtype, {"noise": facts["noise"]}, type_=image.dtype)
    return channels_back(result, channel_axis).rechunk(image.chunks)


def lazy_facts(first: Any, sigma: Any, how: HowToDenoise) -> dict[str, Any]:
    """What steps must know of a whole image (channels, *shape), by name: see `merged`."""
    facts = {"noise": _lazy_noise(first, sigma, how)}
    if how.coding is not None:
        once = lazy_pixels(again(first, [facts["noise"]]), facts["noise"], how.dtype)
        facts["moments"] = lazy_moments(once)
    return facts


def _in_layers(image: Any, steps: Sequence[Step], facts: Mapping[str, Any], how: HowToDenoise) -> Any:
    """What the last step makes of an image (channels, *shape)."""
    arrays = {"image": image}
    for step in steps:
        layout = layout_of(image.chunks[1:], step.halo)
        held = [with_halos(arrays[name], layout) for name in step.takes]
        arrays[step.makes] = map_parts(step.work, held, layout, how.dtype, facts, how=how, **step.arguments)
    return arrays[steps[-1].makes]


def _lazy_noise(first: Any, sigma: Any, how: HowToDenoise) -> Any:
    """A `Noise`; see `merged`."""
    scale = lazy_scale(first, how.dtype)
    given: list[Any] = [scale]
    if sigma is None:
        channels = lazy_channels(again(first, [scale]), scale, how.dtype)
        given.append(lazy_level(channels.astype(np.float64), scale))
    elif is_dask_array(sigma):
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
