"""The two denoisers of sedil that need no dictionary, as methods of a study: by groups, and the quick one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

import sedil
from sedil.choices import ShippedName
from sedil.dictionary import format_shape
from sedil.engines.contract import Cleaning
from sedil.imaging.group_denoising import GroupDenoising
from sedil.imaging.group_inpainting import LEVELS
from sedil.imaging.groups import GroupSettings, group_settings
from sedil.imaging.lost_contrast import CAUTION, ERROR
from sedil.pretrained import NAMES as SHIPPED
from sedil_studies.harness.learned import fingerprint_of_atoms
from sedil_studies.harness.meter import Show
from sedil_studies.harness.method import Denoiser, Method

_SIDE, _SIGMA = 32, 20.0  # of what is denoised to warm up
_COLOURS = 3


def groups_method(n_axes: int, threads: int, **axes: Any) -> Method[Denoiser]:
    """`sedil.denoise` as users call it; `axes` are its channel_axis or time_axis."""
    shape = _tiny_shape(n_axes, **axes)
    denoise = partial(sedil.denoise, threads=threads, **axes)
    return Method(groups_in_words(shape, **axes), partial(_warmed_up, denoise, shape))


def quick_method(n_axes: int, threads: int, **axes: Any) -> Method[Denoiser]:
    """`sedil.denoise` with its quick method."""
    names: tuple[ShippedName, ...] = SHIPPED if n_axes == 2 else ("separable-8x8x8",)
    atoms = fingerprint_of_atoms(*map(sedil.shipped_dictionary, names))  # it chooses among them
    denoise = partial(sedil.denoise, method="quick", threads=threads, **axes)
    return Method(
        f"sedil.denoise, method quick ({atoms}), but cosines where noise is weak",
        partial(_warmed_up, denoise, _tiny_shape(n_axes, **axes)),
    )


def warmed_up(denoise: Denoiser, show: Show) -> Denoiser:
    """A denoiser of grey pictures that has denoised tiny ones, so that nothing is compiled on the clock."""
    return _warmed_up(denoise, (_SIDE, _SIDE), show)


def groups_in_words(
    shape: Sequence[int], channel_axis: int | None = None, time_axis: int | None = None
) -> str:
    """The settings of groups for images of this shape; images of another size have the same."""
    n_channels = 1 if channel_axis is None else shape[channel_axis]
    sides = [side for k, side in enumerate(shape) if channel_axis is None or k != channel_axis % len(shape)]
    plan = GroupDenoising.plan([np.zeros(sides)] * n_channels, _SIGMA, None, None, time_axis, is_weak=False)
    guide = _of_patches(plan.guide.factors) if isinstance(plan.guide, Cleaning) else "their own"
    words = f"{settings_in_words(plan.settings)}, {_passes_in_words(plan.settings)}"
    if plan.luminance is not None:
        alone = plan.luminance.settings
        words += f"; luminance also {settings_in_words(alone)}, {_passes_in_words(alone)}"
    if plan.contrast is not None:
        words += f"; contrast of {format_shape(plan.contrast)}, error {ERROR:g}, caution {CAUTION:g}"
    return f"sedil.denoise: {words}; guide {guide}, but the noisy image where noise is weak"


def _passes_in_words(settings: GroupSettings) -> str:
    return f"{settings.n_passes} passes, each with new groups"


def filling_in_words(n_axes: int, time_axis: int | None = None) -> str:
    """The settings of groups that fill missing pixels; images of any size have the same."""
    settings = group_settings((_SIDE,) * n_axes, time_axis=time_axis)
    first, last = LEVELS
    passes = f"as many passes as the quick method, levels {first:g} to {last:g}"
    return f"sedil.inpaint: {settings_in_words(settings)}, {passes}; first guess quick"


def settings_in_words(settings: GroupSettings) -> str:
    """How groups are made and shrunk, the number of passes left out."""
    strength, mean_strength, smooth_steps = settings.shrinkage
    words = (
        f"groups of {settings.n_members} patches of {format_shape(settings.patch_shape)}, stride "
        f"{format_shape(settings.strides)}, window {format_shape(settings.window)}, strength {strength:g}, "
        f"smooth steps {smooth_steps}"
    )
    return f"{words}, mean strength {mean_strength:g}" if mean_strength else words


def _of_patches(factors: Sequence[Any]) -> str:
    dictionary = sedil.SeparableDictionary(factors, normalize=True)
    return f"of {format_shape(dictionary.patch_shape)} ({fingerprint_of_atoms(dictionary)})"


def _tiny_shape(
    n_axes: int, channel_axis: int | None = None, time_axis: int | None = None
) -> tuple[int, ...]:
    sides = [_SIDE if n_axes < 3 else _SIDE // 2] * n_axes
    if channel_axis is not None:
        sides.insert(channel_axis % (n_axes + 1), _COLOURS)
    return tuple(sides)


def _warmed_up(denoise: Denoiser, shape: tuple[int, ...], show: Show) -> Denoiser:
    """Denoise tiny images, flat and not, so that what is compiled on first use is not on the clock."""
    ramp = np.linspace(0, 1, shape[-1])
    for contrast in (0, 255):
        noise = _SIGMA * np.random.default_rng(0).standard_normal(shape)
        denoise(contrast * ramp + noise, _SIGMA)
    return denoise
