"""Groups of alike patches of an image: where they are, and the image that their cleaned members make.

Images here are ``(channels, *shape)``, and a patch reaches through all channels. docs/groups.md tells the
method in the words of the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any, NamedTuple

from array_api_compat import array_namespace

from sedil.arrays import AnyArray, Array, window_sums
from sedil.engines import choose_engine
from sedil.engines.contract import Groups, Shrinkage
from sedil.engines.threads import parallel_map, threads_beside
from sedil.imaging.patch_averages import CleaningOptions
from sedil.match_grid import MatchGrid
from sedil.patch_grid import Part, PatchGrid, require_no_gaps

# Chosen on photographs that are not among the test images (docs/groups.md). In pictures mean members are
# shrunk too: stripes in flat regions are far weaker then. Volumes and clips would lose up to 0.1 dB by it.
_SHRINKAGE = Shrinkage(strength=0.58, mean_strength=0.0, smooth_steps=2)
_IN_PICTURES = _SHRINKAGE._replace(mean_strength=1.0)


class GroupSettings(NamedTuple):
    """How groups are made.

    Attributes
    ----------
    patch_shape : shape of a patch, channels left out
    strides : distance of the patches that groups are made for, along each axis
    window : patches along each axis among which alike ones are sought
    n_members : patches of a group
    n_passes : how often the image is cleaned
    shrinkage : what is taken for noise
    """

    patch_shape: tuple[int, ...]
    strides: tuple[int, ...]
    window: tuple[int, ...]
    n_members: int
    n_passes: int
    shrinkage: Shrinkage = _SHRINKAGE


# By the number of axes: with more of them patches are shorter, and have about as many entries.
_USUAL = {
    1: GroupSettings((16,), (4,), (201,), 32, n_passes=4),
    2: GroupSettings((6, 6), (4, 4), (39, 39), 64, n_passes=4, shrinkage=_IN_PICTURES),
    3: GroupSettings((4, 4, 4), (3, 3, 3), (9, 9, 9), 40, n_passes=5),
    4: GroupSettings((3, 3, 3, 3), (2, 2, 2, 2), (5, 5, 5, 5), 32, n_passes=4),
}
# Patches through three channels have three times as many entries: they are smaller, and more of them needed.
_COLOUR = GroupSettings((5, 5), (4, 4), (39, 39), 96, n_passes=4, shrinkage=_IN_PICTURES)
# A clip, its frames along the first axis: patches are wide and short, as things move from frame to frame, and
# sought in many frames, as what stands still is the same in all of them.
_CLIP = GroupSettings((2, 6, 6), (1, 4, 4), (17, 13, 13), 48, n_passes=8)


def group_settings(
    shape: Sequence[int], n_channels: int = 1, stride: int | None = None, time_axis: int | None = None
) -> GroupSettings:
    """What suits an image of this shape, channels left out, or a clip."""
    usual = _COLOUR if len(shape) == 2 and n_channels > 1 else _USUAL[len(shape)]
    if time_axis is not None:
        patch_shape, strides, window = (_moved(each, time_axis) for each in _CLIP[:3])
        usual = _CLIP._replace(patch_shape=patch_shape, strides=strides, window=window)
    patch_shape = tuple(map(min, usual.patch_shape, shape))
    if stride is not None:
        require_no_gaps(stride, patch_shape)
        usual = usual._replace(strides=(stride,) * len(shape))
    return usual._replace(patch_shape=patch_shape, strides=tuple(map(min, usual.strides, patch_shape)))


def _moved(lengths: tuple[int, ...], time_axis: int) -> tuple[int, ...]:
    """The first one at the axis of time."""
    others = list(lengths[1:])
    others.insert(time_axis % len(lengths), lengths[0])
    return tuple(others)


def match_grid(shape: Sequence[int], settings: GroupSettings, part: Part | None = None) -> MatchGrid:
    """Where groups are sought in an image of this shape, or in a part of it."""
    return MatchGrid(PatchGrid(shape, settings.patch_shape, settings.strides), settings.window, part)


def find_groups(
    guide: Array, settings: GroupSettings, options: CleaningOptions, wanted: Array | None = None
) -> list[Groups]:
    """The patches of a grid, each with those that it is most like in the guide, box by box.

    With `wanted`, a boolean array without channels, patches that hold none of its pixels get no group.
    """
    engine = choose_engine(options.engine, guide, ())
    grid = match_grid(options.whole(guide.shape[1:]), settings, options.part)
    n_members = min(settings.n_members, grid.n_candidates)
    plan = engine.plan_groups(grid, guide, n_members, options.max_memory, options.threads)
    match = partial(engine.match_box, grid, guide, n_members, wanted=wanted)
    found = []
    for groups in parallel_map(match, grid.grid.boxes(plan.patches_per_box), plan.n_threads):
        found.append(groups._replace(distances=None))  # which would take as much memory again
        options.counter.add(groups.n_patches)
    return found


def mean_over_groups(
    image: AnyArray,
    groups: Sequence[Groups],
    noise: Array,
    shrinkage: Shrinkage,
    options: CleaningOptions,
) -> AnyArray:
    """The image from its cleaned groups, averaged where members overlap; as it is where there are none.

    `noise` is the variance of the noise in the patch that begins at each pixel, an array without channels.
    """
    xp = array_namespace(image)
    engine = choose_engine(options.engine, image, ())
    total, weight = xp.zeros_like(image), xp.zeros_like(noise)

    def clean(some: Groups) -> Any:
        return engine.clean_groups(some, image, noise, shrinkage)

    for sums in parallel_map(clean, groups, threads_beside(image, options.threads)):
        total[(slice(None), *sums.extent)] += sums.total
        weight[sums.extent] += sums.weight
        options.counter.add(sums.n_patches)
    covered = weight > 0
    return xp.where(covered, total / xp.where(covered, weight, xp.ones_like(weight)), image)


def patch_means(values: AnyArray, patch_shape: Sequence[int]) -> AnyArray:
    """The mean of an array over the patch that begins at each of its entries."""
    return window_sums(values, patch_shape, forwards=False) / prod(patch_shape)
