"""`inpaint`: fill missing pixels with what is sparse over a dictionary."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from sedil import checks
from sedil.dictionary import SeparableDictionary
from sedil.imaging.denoise import (
    Counter,
    Progress,
    as_dtype,
    given_share,
    join_channels,
    learned_shares,
    require_image,
    split_channels,
)
from sedil.imaging.patch_inpainting import fill_by_patches, plan_passes
from sedil.imaging.whole_inpainting import fill_whole

MODES = ("patches", "whole")


def inpaint(
    image: np.ndarray,
    mask: np.ndarray,
    dictionary: SeparableDictionary | None = None,
    *,
    mode: str | None = None,
    sigma: float = 0.0,
    channel_axis: int | None = None,
    passes: int | None = None,
    stride: int | None = None,
    max_memory: float = 512e6,
    threads: int | None = None,
    engine: str | None = None,
    progress: Progress | None = None,
) -> np.ndarray:
    """Fill the missing pixels of an image; known pixels are returned untouched.

    An image as large as a patch is coded as a whole, by its known pixels alone, as in the paper's Eq. (35).
    In larger ones overlapping patches are filled: first smoothly, then by passes of cleaning all patches that
    hold missing pixels, with a noise level that falls from pass to pass.

    Parameters
    ----------
    image : ndarray
        Grey image, or colour with `channel_axis`; with a dictionary of as many axes also a signal, a volume
        or a stack of frames. Integers or floats in any units; never modified. What it holds at missing pixels
        does not matter, and may be NaN.
    mask : boolean ndarray
        True where a pixel is missing. Of the shape of the image; for colour also without the channel axis.
    dictionary : SeparableDictionary, optional
        Default: those of `sedil.denoise`, which take turns; for two axes the shipped separable ones of 8x8,
        12x12 and 16x16 patches.
    mode : {"patches", "whole"}, optional
        Default: "whole" if the dictionary is for patches as large as the image, else "patches".
    sigma : float, default 0
        Standard deviation of the noise of the known pixels, in the units of the image: noise of that level
        is not carried on into the missing ones. The known ones keep theirs. Not for "whole".
    channel_axis : int, optional
        Axis of the colour channels. If all of them miss the same pixels, three channels are filled as
        luminance and two chrominances.
    passes : int, optional
        Passes of "patches". Default: 8 to 40, the more the wider the holes. More are better and slower.
    stride : int, optional
        Distance of the patches of a pass of "patches". Default: three quarters of a patch, at last a half.
    max_memory : float, default 512e6
        Bytes for patches and codes at a time, besides a few copies of the image. The fused engine needs far
        less, some ten megabytes a thread.
    threads : int, optional
        Default: the environment variable NUMBA_NUM_THREADS or OMP_NUM_THREADS, else one per core.
    engine : {"fused", "portable"}, optional
        Of "patches". Default: "fused", many times faster, except for dictionaries of very many atoms.
    progress : callable, optional
        Called with the number of patches done and in all, now and then.

    Returns
    -------
    ndarray
        Of the shape and dtype of `image`; integers are rounded and kept in their range.

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
    require_image(image, channel_axis)
    missing = _checked_mask(mask, image, channel_axis)
    pixels = np.where(missing, 0, image)
    checks.require_finite(pixels, "image, where it is not missing,")
    _check_settings(mode, sigma, passes, stride, max_memory, threads)
    if not missing.any():
        return image.copy()
    parts = _parts(pixels.astype(np.float32), missing, channel_axis)
    _require_known(parts.masks)
    shape = parts.channels[0].shape
    shares = given_share(dictionary) or learned_shares(shape)
    dictionaries = [share.dictionary for share in shares]
    if mode == "whole" or (mode is None and dictionaries[0].patch_shape == shape):
        filled = _fill_wholes(parts, dictionaries[0], threads)
    else:
        plans = [plan_passes(each, dictionaries, passes, stride) for each in parts.masks]
        counter = Counter(progress, sum(step.grid.n_patches for plan in plans for step in plan))
        fill = partial(
            fill_by_patches,
            sigma=sigma,
            engine=engine,
            max_memory=max_memory,
            threads=threads,
            counter=counter,
        )
        filled = list(map(fill, parts.channels, parts.masks, plans))
    result = image.copy()
    result[missing] = as_dtype(parts.join(filled)[missing], image.dtype)
    return result


class _Parts(NamedTuple):
    """Channels to be filled one by one, where each misses pixels, and how they are put together again."""

    channels: list[np.ndarray]
    masks: list[np.ndarray]
    join: Callable[[list[np.ndarray]], np.ndarray]


def _parts(pixels: np.ndarray, missing: np.ndarray, channel_axis: int | None) -> _Parts:
    if channel_axis is None:
        return _Parts([pixels], [missing], itemgetter(0))
    masks = list(np.moveaxis(missing, channel_axis, 0))
    if all(np.array_equal(each, masks[0]) for each in masks):
        return _Parts(
            split_channels(pixels, channel_axis), masks, partial(join_channels, channel_axis=channel_axis)
        )
    # Luminance is known only where all channels are.
    channels = [np.ascontiguousarray(each) for each in np.moveaxis(pixels, channel_axis, 0)]
    return _Parts(channels, masks, partial(np.stack, axis=channel_axis))


def _require_known(masks: Sequence[np.ndarray]) -> None:
    for number, mask in enumerate(masks):
        if mask.all():
            which = "Every pixel" if len(masks) == 1 else f"Every pixel of channel {number}"
            raise ValueError(f"{which} is missing: there is nothing to fill it from.")


def _fill_wholes(parts: _Parts, dictionary: SeparableDictionary, threads: int | None) -> list[np.ndarray]:
    shape = parts.channels[0].shape
    if dictionary.patch_shape != shape:
        raise ValueError(
            f'mode="whole" needs a dictionary for patches of the shape of the image, {shape}, '
            f'got one for {dictionary.patch_shape}: use mode="patches".'
        )
    signals = np.stack(parts.channels)
    return list(fill_whole(dictionary.like(signals), signals, np.stack(parts.masks), threads=threads))


def _checked_mask(mask: Any, image: np.ndarray, channel_axis: int | None) -> np.ndarray:
    """The mask in the shape of the image."""
    if not isinstance(mask, np.ndarray):
        raise TypeError(f"mask must be a boolean NumPy array, got {type(mask).__name__}.")
    if mask.dtype != np.bool_:
        raise TypeError(
            f"mask must be boolean, True where a pixel is missing, got dtype {mask.dtype}: use mask != 0."
        )
    allowed = [image.shape]
    if channel_axis is not None:
        allowed.append(image.take(0, axis=channel_axis).shape)
    if mask.shape not in allowed:
        raise ValueError(
            f"mask must have the shape of the image, {' or '.join(map(str, allowed))}, got {mask.shape}."
        )
    if mask.ndim < image.ndim and channel_axis is not None:
        mask = np.expand_dims(mask, channel_axis)
    return np.broadcast_to(mask, image.shape)


def _check_settings(
    mode: str | None,
    sigma: float,
    passes: int | None,
    stride: int | None,
    max_memory: float,
    threads: int | None,
) -> None:
    if mode is not None:
        checks.require_choice(mode, "mode", MODES)
    checks.require_positive(sigma, "sigma", zero_allowed=True)
    checks.require_positive(max_memory, "max_memory")
    for count, name in ((passes, "passes"), (stride, "stride"), (threads, "threads")):
        if count is not None:
            checks.require_count(count, name, minimum=1)
