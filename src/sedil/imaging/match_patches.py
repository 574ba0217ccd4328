"""`match_patches`: for patches of an image, those that are most alike."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace

from sedil import checks
from sedil.arrays import AnyArray, Array, times_power_of_two, to_numpy
from sedil.choices import Precision
from sedil.engines import EngineName, choose_engine
from sedil.engines.contract import Groups
from sedil.engines.threads import parallel_map
from sedil.imaging.patch_averages import CleaningOptions, PatchCounter
from sedil.imaging.pixels import Units, split_channels
from sedil.match_grid import MatchGrid
from sedil.patch_grid import Box, PatchGrid
from sedil.progress import ProgressOption, reporting


class PatchMatches(NamedTuple):
    """What `sedil.match_patches` finds.

    Attributes
    ----------
    corners : (n_patches, n_axes), integers
        Where the patches begin that others were sought for.
    matches : (n_patches, n_matches, n_axes), integers
        Where the patches begin that are nearest to each, the nearest first: the patch itself.
    distances : (n_patches, n_matches)
        Roots of the sums of the squared differences of their pixels, in the units of the image.
    """

    corners: np.ndarray
    matches: np.ndarray
    distances: np.ndarray


def match_patches(
    image: AnyArray,
    patch_shape: int | Sequence[int] = 8,
    n_matches: int = 16,
    *,
    window: int | Sequence[int] = 39,
    stride: int | Sequence[int] = 1,
    channel_axis: int | None = None,
    max_memory: float = 512e6,
    dtype: Precision | None = None,
    engine: EngineName | None = None,
    threads: int | None = None,
    progress: ProgressOption = False,
) -> PatchMatches:
    """For patches of an image, the patches around each that are nearest to it.

    All candidates in a window are compared: the result is exact, and of patches that are equally far the one
    that comes first in the image is taken, whatever the number of threads.

    Parameters
    ----------
    image : NumPy array, or a tensor of torch, CuPy, ...
        One to four axes, and colour with `channel_axis`; patches then reach through all channels.
    patch_shape : int or sequence of int, default 8
        Sides of a patch, channels left out; one number for all axes.
    n_matches : int, default 16
        Patches that are found for each, itself among them; at most as many as a window has.
    window : int or sequence of int, default 39
        Candidates along each axis, with the patch in the middle. At the border of the image the window is
        moved inwards; in a small image it is as large as the image allows.
    stride : int or sequence of int, default 1
        Distance of the patches that others are sought for. The last one of each axis is always among them.
    channel_axis : int, optional
        Axis of the colour channels.
    max_memory : float, default 512e6
        Bytes for candidates at a time. The fused engine needs far less.
    dtype : {"float32", "float64"}, optional
        What is computed in. Default: float32 for NumPy arrays; their own precision for other libraries.
    engine : {"fused", "portable"}, optional
        Default: "fused" for NumPy arrays in float32, else "portable".
    threads : int, optional
        Default: the environment variable NUMBA_NUM_THREADS or OMP_NUM_THREADS, else one per core.
    progress : bool or callable, default False
        True shows a bar; a function is called with a `sedil.progress.Progress` now and then.

    Returns
    -------
    PatchMatches
        NumPy arrays: `corners`, `matches`, `distances`.

    Examples
    --------
    >>> import numpy as np, sedil
    >>> stripes = np.tile([0.0, 1.0, 5.0], (12, 4))
    >>> found = sedil.match_patches(stripes, (3, 3), n_matches=4, window=9)
    >>> found.matches.shape, float(found.distances.max())
    ((100, 4, 2), 0.0)
    """
    n_matches = checks.require_count(n_matches, "n_matches", minimum=1)
    max_memory = checks.require_positive(max_memory, "max_memory")
    threads = checks.require_threads(threads)
    image = checks.as_image(image, channel_axis)
    units = Units.of(image)
    pixels = units.pixels(image, dtype)
    checks.require_finite(pixels, "image")
    stacked = _channels_first(pixels, channel_axis)
    shape = tuple(stacked.shape[1:])
    sides, lengths, strides = (
        checks.sizes_along(value, name, len(shape))
        for value, name in ((patch_shape, "patch_shape"), (window, "window"), (stride, "stride"))
    )
    checks.require_fits(shape, sides, "The image", "use smaller patches")
    grid = MatchGrid(PatchGrid(shape, sides, strides), lengths)
    if n_matches > grid.n_candidates:
        raise ValueError(
            f"n_matches {n_matches} is more than the {grid.n_candidates} patches of a window: use a larger "
            f"window."
        )
    with reporting(progress, "matching") as report:
        counter = PatchCounter(report, grid.grid.n_patches)
        found = _find(grid, stacked, n_matches, CleaningOptions(engine, max_memory, threads, counter))
    return found._replace(distances=times_power_of_two(found.distances, -units.exponent))


def _channels_first(pixels: Array, channel_axis: int | None) -> Any:
    return array_namespace(pixels).stack(split_channels(pixels, channel_axis, rotate=False))


def _find(grid: MatchGrid, image: Array, n_matches: int, options: CleaningOptions) -> PatchMatches:
    """Box by box; distances are still in the units of the pixels."""
    engine = choose_engine(options.engine, image, ())
    plan = engine.plan_groups(grid, image, n_matches, options.max_memory, options.threads)
    boxes = list(grid.grid.boxes(plan.patches_per_box))
    match = partial(engine.match_box, grid, image, n_matches, wanted=None)
    found = []
    for box, groups in zip(boxes, parallel_map(match, boxes, plan.n_threads), strict=True):
        found.append(_sorted_matches(box, groups))
        options.counter.add(groups.n_patches)
    corners, matches, distances = map(np.concatenate, zip(*found, strict=True))
    order = np.lexsort(corners.T[::-1])  # of the image, where boxes have their own
    return PatchMatches(corners[order], matches[order], distances[order])


def _sorted_matches(box: Box, groups: Groups) -> PatchMatches:
    """The patch itself first, then the nearest, and of equals the first in the image."""
    shape = [part.stop - part.start for part in groups.extent]
    begin = np.array([part.start for part in groups.extent])
    corners = np.stack([each.ravel() for each in np.meshgrid(*box, indexing="ij")], axis=-1)
    itself = np.ravel_multi_index(tuple((corners - begin).T), shape)[:, None]
    found: Any = groups.distances
    members, squares = to_numpy(groups.members), to_numpy(found)
    order = np.lexsort((members, np.where(members == itself, -1, squares)))
    members, squares = (np.take_along_axis(each, order, axis=1) for each in (members, squares))
    matches = begin + np.stack(np.unravel_index(members, shape), axis=-1)
    return PatchMatches(corners, matches, np.sqrt(squares, dtype=np.float64))
