"""`inpaint`: fill missing pixels with what is sparse over a dictionary."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple, get_args

import numpy as np
from array_api_compat import array_namespace, is_dask_array

from sedil import checks
from sedil.arrays import AnyArray, Array, detached
from sedil.choices import InpaintingMethod, Precision
from sedil.dictionary import SeparableDictionary
from sedil.engines import EngineName, require_engine
from sedil.imaging.group_inpainting import GroupFilling
from sedil.imaging.groups import group_settings
from sedil.imaging.image_dictionaries import given_votes, learned_votes
from sedil.imaging.noise_levels import Sigma, as_one_sigma, as_sigma, in_pixels, mean_of_channels
from sedil.imaging.patch_averages import CleaningOptions, PatchCounter
from sedil.imaging.patch_inpainting import fill_by_patches, passes_needed, plan_passes
from sedil.imaging.pixels import Units, copied, join_channels, of_type, split_channels, without_channels
from sedil.imaging.whole_inpainting import fill_whole
from sedil.pretrained import DictionaryLike
from sedil.progress import ProgressOption, reporting

MOST_PASSES = 10_000
METHODS: tuple[InpaintingMethod, ...] = get_args(InpaintingMethod)


def inpaint(
    image: AnyArray,
    mask: Array | None = None,
    dictionary: DictionaryLike | None = None,
    *,
    method: InpaintingMethod | None = None,
    sigma: Sigma = 0.0,
    channel_axis: int | None = None,
    time_axis: int | None = None,
    passes: int | None = None,
    stride: int | None = None,
    max_memory: float = 512e6,
    dtype: Precision | None = None,
    engine: EngineName | None = None,
    threads: int | None = None,
    progress: ProgressOption = False,
) -> AnyArray:
    """Fill the missing pixels of an image; known pixels are returned untouched.

    An image as large as the patches of the dictionary is coded as a whole, by its known pixels alone, as in
    the paper's Eq. (35). In larger ones overlapping patches are filled: first smoothly, then by passes of
    cleaning all patches that hold missing pixels over a dictionary, with a noise level that falls from pass
    to pass; then by passes of cleaning groups of alike patches (docs/groups.md).

    Parameters
    ----------
    image : NumPy array, a tensor of torch, CuPy, ..., or a Dask array
        Grey image, volume or stack of frames, a signal, or four axes; colour with `channel_axis`. Integers or
        floats in any units, with any offset; never modified. What it holds at missing pixels does not matter,
        and may be NaN. Masked values of a `numpy.ma` array are missing.
    mask : boolean array
        True where a pixel is missing. Of the shape of the image; for colour also without the channel axis. It
        may be left out for masked arrays.
    dictionary : SeparableDictionary, or the path of a file, or the name of a shipped one, optional
        Default: those of `sedil.denoise`, which take turns; for two axes the shipped separable ones of 8x8,
        12x12 and 16x16 patches.
    method : {"groups", "quick", "whole"}, optional
        Default: "groups" without a dictionary; with one "quick", which does without groups and is about
        1.5 dB worse and several times faster, or "whole" if it is for patches as large as the image.
    sigma : float or array, default 0
        Standard deviation of the noise of the known pixels, in the units of the image: noise of that level
        is not carried on into the missing ones. The known ones keep theirs. One number, one for each channel,
        or a map that broadcasts to the image, also without its channels; "quick" goes by the mean of these.
        Not for "whole"; neither are `passes` and `stride`.
    channel_axis : int, optional
        Axis of the colour channels. If all of them miss the same pixels, three channels are filled as
        luminance and two chrominances.
    time_axis : int, optional
        Of "groups": the axis of a clip along which its frames lie, counted without channels.
    passes : int, optional
        Default: 18 to 40, the more the wider the holes. More are better and slower.
    stride : int, optional
        Distance of the patches of a pass. Default of "quick": three quarters of a patch, at last a half; of
        groups a whole patch, in the last passes 4, in volumes 3, in four axes 2.
    max_memory : float, default 512e6
        Bytes for patches and codes at a time, besides a few copies of the image. The fused engine needs far
        less, some ten megabytes a thread.
    dtype : {"float32", "float64"}, optional
        What is computed in. Default: float32 for NumPy arrays, with sums in float64, which is many times
        faster; their own precision for arrays of other libraries. Results have the type of the input.
    engine : {"fused", "portable"}, optional
        Not of "whole". Default: "fused", many times faster, for NumPy arrays in float32, except for
        dictionaries of very many atoms; else "portable", which keeps the library and device of the image.
    threads : int, optional
        Default: the environment variable NUMBA_NUM_THREADS or OMP_NUM_THREADS, else one per core.
    progress : bool or callable, default False
        True shows a bar; a function is called with a `sedil.progress.Progress` now and then.

    Returns
    -------
    array
        Of the library, device, shape and type of `image`; integers are rounded and kept in their range. Of a
        Dask array one with its chunks, not yet computed (docs/cluster.md).

    Notes
    -----
    Scratches, text and pixels missing at random are filled well. A hole wider than a patch is filled from the
    outside in: its middle stays smooth, as patches there know nothing but what has been filled.

    Examples
    --------
    >>> import numpy as np, sedil
    >>> image = np.add.outer(np.arange(32.0), np.arange(32.0))
    >>> mask = np.random.default_rng(0).random(image.shape) < 0.5
    >>> filled = sedil.inpaint(image, mask)
    >>> bool(np.abs(filled - image).max() < 2)
    True
    """
    if method is not None:
        checks.require_choice(method, "method", METHODS)
    max_memory = checks.require_positive(max_memory, "max_memory")
    threads = checks.require_threads(threads)
    passes, stride = (
        checks.optional_count(passes, "passes", MOST_PASSES),
        checks.optional_count(stride, "stride"),
    )
    if is_dask_array(image):
        from sedil.cluster.dask_arrays import as_lazy_image, shape_and_channels
        from sedil.cluster.lazy_inpaint import HowToInpaint, as_lazy_mask, lazy_inpaint

        own: Any = as_lazy_image(image, channel_axis)
        if mask is None:
            raise TypeError("inpaint needs mask=..., True where a pixel is missing.")
        shape, n_channels = shape_and_channels(own, channel_axis)
        dictionaries = _dictionaries(dictionary, method, shape)
        method = _chosen_method(method, dictionary, dictionaries, shape)
        if method == "whole":
            raise ValueError('method="whole" is for an image in memory: call image.compute() first.')
        checks.require_time_axis(time_axis, method, shape)
        is_grouped = method == "groups"
        how = HowToInpaint(
            shape,
            n_channels,
            dictionaries,
            group_settings(shape, n_channels, stride, time_axis) if is_grouped else None,
            as_one_sigma(sigma, zero_allowed=True),
            passes,
            stride,
            max_memory,
            checks.working_precision(dtype, np.empty(0, own.dtype)),
            engine if engine is None else require_engine(engine),
            threads,
        )
        return lazy_inpaint(own, as_lazy_mask(mask, own, channel_axis), how, channel_axis)
    image, missing = _image_and_missing(image, mask, channel_axis)
    sigma = as_sigma(sigma, image.shape, channel_axis, zero_allowed=True)
    xp = array_namespace(image)
    units, pixels = _known_pixels(image, missing, dtype)
    checks.require_finite(pixels, "image, where it is not missing,")
    if not bool(xp.any(missing)):
        return copied(image)
    noise = in_pixels(mean_of_channels(sigma, channel_axis), units, channel_axis)
    parts = _parts(pixels, missing, channel_axis)
    _require_known(parts.masks)
    shape = tuple(parts.channels[0].shape)
    dictionaries = _dictionaries(dictionary, method, shape)
    method = _chosen_method(method, dictionary, dictionaries, shape)
    checks.require_time_axis(time_axis, method, shape)
    if method == "whole":
        _require_whole(sigma, passes, stride)
        filled = _fill_wholes(parts, dictionaries[0], threads)
    else:
        groups = None
        if method == "groups":
            settings = group_settings(shape, len(parts.channels), stride, time_axis)
            n_passes = passes or max(map(passes_needed, parts.masks))
            groups = GroupFilling.plan(shape, settings, n_passes, stride)
            passes = stride = None  # of the first guess, which is made as ever
        plans = [plan_passes(each, dictionaries, passes, stride) for each in parts.masks]
        n_patches = sum(step.grid.n_patches for plan in plans for step in plan)
        with reporting(progress, "inpainting") as report:
            counter = PatchCounter(report, n_patches + (groups.n_patches if groups else 0))
            options = CleaningOptions(engine, max_memory, threads, counter)
            fill = partial(fill_by_patches, sigma=noise.level, options=options)
            filled = list(map(fill, parts.channels, parts.masks, plans))
            if groups is not None:
                places = noise.places_like(parts.channels[0])
                filled = groups.fill(parts.channels, parts.masks, filled, noise.level, options, places)
    result = units.image(join_channels(filled, channel_axis, rotate=parts.rotated), image.dtype)
    return xp.where(missing, result, image)


def _chosen_method(
    method: InpaintingMethod | None,
    dictionary: DictionaryLike | None,
    dictionaries: Sequence[SeparableDictionary],
    shape: tuple[int, ...],
) -> InpaintingMethod:
    """What the caller says, else what suits the dictionary."""
    if method is not None:
        return method
    if dictionary is None:
        return "groups"
    return "whole" if dictionaries[0].patch_shape == shape else "quick"


def _dictionaries(
    dictionary: DictionaryLike | None, method: str | None, shape: tuple[int, ...]
) -> list[SeparableDictionary]:
    """The one that is given, else the shipped ones; groups do without where there are none that fit."""
    none_fits = len(shape) not in (2, 3) or (len(shape) == 2 and min(shape) < 8)
    if dictionary is None and method in (None, "groups") and none_fits:
        return []
    return [vote.dictionary for vote in given_votes(dictionary) or learned_votes(shape)]


def _known_pixels(image: Any, missing: Array, dtype: Precision | None) -> tuple[Units, Any]:
    """Units that suit the known pixels, and these, with zeros in place of the others."""
    xp = array_namespace(image)
    known = image[~missing]
    units = Units.of(known) if known.shape[0] else Units()
    filling = xp.full_like(image, of_type(units.offset, image))
    return units, units.pixels(xp.where(missing, filling, image), dtype)


class _Parts(NamedTuple):
    """Channels to be filled one by one, where each misses pixels, and whether their colours are rotated."""

    channels: list[Array]
    masks: list[Array]
    rotated: bool


def _parts(pixels: Array, missing: Array, channel_axis: int | None) -> _Parts:
    """Luminance is known only where all channels are: colours are rotated if these miss the same pixels."""
    masks = split_channels(missing, channel_axis, rotate=False)
    xp = array_namespace(missing)
    rotated = all(bool(xp.all(each == masks[0])) for each in masks)
    return _Parts(split_channels(pixels, channel_axis, rotate=rotated), masks, rotated)


def _require_known(masks: Sequence[Array]) -> None:
    for number, mask in enumerate(masks):
        if bool(array_namespace(mask).all(mask)):
            which = "Every pixel" if len(masks) == 1 else f"Every pixel of channel {number}"
            raise ValueError(f"{which} is missing: there is nothing to fill it from.")


def _require_whole(sigma: float | np.ndarray, passes: int | None, stride: int | None) -> None:
    """An image that is one patch has neither passes nor strides, and no level of noise."""
    given = {"sigma": bool(np.any(sigma)), "passes": passes is not None, "stride": stride is not None}
    for name, is_given in given.items():
        if is_given:
            raise ValueError(
                f'{name} is not for method="whole", which codes the image as one patch: leave it out, or '
                f'use method="quick".'
            )


def _fill_wholes(parts: _Parts, dictionary: SeparableDictionary, threads: int | None) -> list[Array]:
    shape = tuple(parts.channels[0].shape)
    if dictionary.patch_shape != shape:
        raise ValueError(
            f'method="whole" needs a dictionary for patches of the shape of the image, {shape}, '
            f'got one for {dictionary.patch_shape}: use method="quick".'
        )
    xp = array_namespace(parts.channels[0])
    signals = xp.stack(parts.channels)
    filled = fill_whole(dictionary.like(signals), signals, xp.stack(parts.masks), threads=threads)
    return [filled[k, ...] for k in range(filled.shape[0])]


def _image_and_missing(image: Any, mask: Array | None, channel_axis: int | None) -> tuple[Any, Array]:
    """The image as a plain array, and a mask of its shape; masked values of `numpy.ma` are missing too."""
    masked = None
    if isinstance(image, np.ma.MaskedArray):
        masked, image = np.ma.getmaskarray(image), image.data
    image = checks.as_image(image, channel_axis)
    image = detached(image)
    if mask is None:
        if masked is None:
            raise TypeError("inpaint needs mask=..., True where a pixel is missing.")
        return image, masked
    xp = array_namespace(image)
    mask = checks.require_mask(mask, image, without_channels(image.shape, channel_axis))
    if mask.ndim < image.ndim and channel_axis is not None:
        mask = xp.expand_dims(mask, axis=channel_axis)
    missing = xp.broadcast_to(mask, image.shape)
    return image, missing if masked is None else missing | masked
