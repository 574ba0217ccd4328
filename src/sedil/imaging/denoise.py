"""`denoise`: remove white Gaussian noise by sparse coding of all overlapping patches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod, sqrt
from typing import Any, NamedTuple

import numpy as np

from sedil import checks, pretrained
from sedil.analytic import odct
from sedil.dictionary import SeparableDictionary, require_dictionary
from sedil.engines import choose_engine
from sedil.engines.threads import parallel_map, thread_count
from sedil.imaging.noise import estimate_noise
from sedil.imaging.second_pass import second_pass
from sedil.imaging.sums import CODERS, SUMS, Cleaning
from sedil.patch_grid import PatchGrid

_L1_PENALTY = 2.0  # sigma; the best constant for plain l1
# sigma; from weak noise to strong 3.1 to 3.25 are within 0.05 dB of each other on photographs, 3.05 is worse
# (results/recipes.csv). A dictionary may know better: the atoms of the ODCT fit less well, so that detail
# needs a lower one.
_REFIT_PENALTY = 3.2
# Photographs hold fine grain that no dictionary tells from noise, about this share of their contrast. A part
# of the noisy image brings it back: 0.03 dB at sigma 5, nothing from sigma 20 on (benchmarks/together.py).
_GRAIN = 0.025
_MOST_GRAIN = 0.3
_ARRAYS_PER_CODE = 10  # arrays as large as the codes that a solver holds at a time
# Patches at a time. Portable: more of them leave the cache and run up to twice slower. Fused: enough to keep
# all lanes busy; the box does not depend on the number of threads, so that neither does the result.
_LARGEST_BOX = {"portable": 512, "fused": 8192}
# Fused: few patches are still split for the threads, but not so far that lanes wait for the last of a box.
_LEAST_BOXES, _SMALLEST_BOX = 16, 256

# Luminance and two chrominances as an orthonormal basis, so that white noise keeps its level in each.
_OPPONENT = np.array([[1, 1, 1], [1, 0, -1], [1, -2, 1]]) / np.sqrt([[3], [2], [6]])

Progress = Callable[[int, int], None]


def denoise(
    image: np.ndarray,
    sigma: float | None = None,
    dictionary: SeparableDictionary | None = None,
    *,
    method: str = "refit",
    threshold: float | None = None,
    stride: int = 1,
    channel_axis: int | None = None,
    max_memory: float = 512e6,
    threads: int | None = None,
    engine: str | None = None,
    progress: Progress | None = None,
) -> np.ndarray:
    """Remove white Gaussian noise from an image.

    Each patch, without its mean, is coded sparsely over the dictionary; the cleaned patches are averaged
    where they overlap, those with few coefficients counting more (weight ``1 / (1 + coefficients)``). Where
    noise is weak, a little of the noisy image is mixed in for its fine grain, except with "l1". In volumes
    and stacks of frames a second pass over small blocks follows (`sedil.imaging.second_pass`).

    Parameters
    ----------
    image : ndarray
        Grey image, volume or stack of frames; colour with `channel_axis`; with a dictionary of as many axes
        also a signal or four axes. Integers or floats in any units; never modified.
    sigma : float, optional
        Standard deviation of the noise in the units of the image. Default: `sedil.estimate_noise`.
    dictionary : SeparableDictionary, optional
        Default for two axes: the shipped separable ones of 8x8, 12x12 and, at twice the stride, 16x16
        patches, and the ODCT of 16x16 patches, which knows more waves: patches of all of them are averaged,
        about 0.15 dB better than the best of them alone. For three axes: the shipped one of 8x8x8 blocks, at
        twice the stride.
    method : {"refit", "l1", "pursuit"}, default "refit"
        "refit" finds the atoms by l1 and their coefficients by least squares; "l1" is the paper's Eq. (34),
        about 1 dB worse as it shrinks what it keeps; "pursuit" adds atoms until the residual is as large
        as the noise.
    threshold : float, optional
        In multiples of sigma. For "refit" and "l1" the l1 penalty: larger removes more noise and more detail;
        default 3.2 for "refit" (3.05 for the ODCT) and 2 for "l1". For "pursuit" the residual per
        entry at which a patch is done; default a little above 1.
    stride : int, default 1
        Distance between neighbouring patches. 2 is four times faster and about 0.15 dB worse.
    channel_axis : int, optional
        Axis of the colour channels. Three channels are denoised as luminance and two chrominances, an
        orthonormal rotation that keeps the noise white and gathers most of the picture in one channel;
        any other number of channels each on its own.
    max_memory : float, default 512e6
        Bytes for patches and codes at a time, besides a few copies of the image. The fused engine needs far
        less, some ten megabytes a thread.
    threads : int, optional
        Default: the environment variable NUMBA_NUM_THREADS or OMP_NUM_THREADS, else one per core.
    engine : {"fused", "portable"}, optional
        Default: "fused", many times faster, except for dictionaries of very many atoms.
    progress : callable, optional
        Called with the number of patches done and in all, now and then.

    Returns
    -------
    ndarray
        Of the shape and dtype of `image`; integers are rounded and kept in their range.

    Examples
    --------
    >>> import numpy as np, sedil
    >>> noisy = 100 + 10 * np.random.default_rng(0).standard_normal((32, 32))
    >>> clean = sedil.denoise(noisy, sigma=10)
    >>> bool(clean.std() < 3)
    True
    """
    pixels = checked_image(image, channel_axis)
    channels = [pixels] if channel_axis is None else split_channels(pixels, channel_axis)
    shares = (
        default_shares(channels[0].shape) if dictionary is None else [Share(require_dictionary(dictionary))]
    )
    if sigma is None:
        sigma = estimate_noise(pixels, channel_axis)
        if sigma == 0:
            return image.copy()
    sigma = _checked_sigma(sigma, pixels)
    checks.require_choice(method, "method", tuple(CODERS))
    checks.require_count(stride, "stride", minimum=1)
    checks.require_positive(max_memory, "max_memory")
    if threads is not None:
        checks.require_count(threads, "threads", minimum=1)
    if threshold is not None:
        checks.require_positive(threshold, "threshold")
    cleanings = [_cleaning(share, channels[0], method, sigma, threshold, stride) for share in shares]
    counter = Counter(progress, len(channels) * sum(cleaning.grid.n_patches for cleaning in cleanings))
    how = {"engine": engine, "max_memory": max_memory, "threads": threads, "counter": counter}
    cleaned = []
    for channel in channels:
        estimate = _mean_over_patches(channel, cleanings, **how)
        if channel.ndim > 2 and method != "l1":
            estimate = second_pass(channel, estimate, sigma, threads)
        cleaned.append(estimate if method == "l1" else _with_grain(estimate, channel, sigma))
    result = cleaned[0] if channel_axis is None else join_channels(cleaned, channel_axis)
    return as_dtype(result, image.dtype)


class Share(NamedTuple):
    """A dictionary, and how many strides of the caller its patches are apart."""

    dictionary: SeparableDictionary
    strides: int = 1


def given_share(dictionary: SeparableDictionary | None) -> list[Share]:
    """The dictionary of the caller alone; empty if there is none."""
    return [] if dictionary is None else [Share(require_dictionary(dictionary))]


def default_shares(shape: tuple[int, ...]) -> list[Share]:
    """The dictionaries whose patches are averaged: those that fit into an image of this shape."""
    shares = learned_shares(shape)
    # Stripes are rare in what the others have learned from (benchmarks/together.py).
    waves = [Share(odct((16, 16), 32), 2)] if len(shape) == 2 and min(shape) >= 16 else []
    return shares + waves


def learned_shares(shape: tuple[int, ...]) -> list[Share]:
    """The learned ones of them."""
    if len(shape) == 3:
        return [Share(_default_for_volumes(shape), 2)]
    if len(shape) != 2:
        raise ValueError(
            f"There is no default dictionary for {len(shape)} axes: give one, for example "
            f"dictionary=sedil.odct({(8,) * len(shape)}, 16), or channel_axis for colour."
        )
    return [
        Share(pretrained.shipped_dictionary(f"separable-{side}x{side}"), strides)
        for side, strides in ((8, 1), (12, 1), (16, 2))
        if side <= max(min(shape), 8)
    ]


def _default_for_volumes(shape: tuple[int, ...]) -> SeparableDictionary:
    """The shipped one of 8x8x8 blocks; for thin stacks the ODCT of blocks that fit, as redundant."""
    if min(shape) == 1:
        raise ValueError(f"The volume of shape {shape} has an axis of length 1: drop it.")
    if shape[-1] == 3:
        raise ValueError(
            f"An image of shape {shape} looks like colour: give channel_axis=-1, or, for a volume, "
            f"a dictionary of three axes."
        )
    if min(shape) >= 8:
        return pretrained.shipped_dictionary("separable-8x8x8")
    block = [min(side, 8) for side in shape]
    return odct(block, [side * 3 // 2 for side in block])


def _cleaning(
    share: Share, channel: np.ndarray, method: str, sigma: float, threshold: float | None, stride: int
) -> Cleaning:
    patch_shape = signal_shape(share.dictionary, channel.ndim)
    require_room(channel.shape, patch_shape)
    if share.strides > 1:  # the caller knows nothing of it, and no pixel may be left out
        stride = min(share.strides * stride, min(patch_shape))
    return Cleaning(
        share.dictionary.like(channel).factors,
        PatchGrid(channel.shape, patch_shape, stride),
        method,
        sigma,
        threshold or default_threshold(method, share.dictionary),
    )


def _with_grain(estimate: np.ndarray, noisy: np.ndarray, sigma: float) -> np.ndarray:
    """Mix in as much of the noisy image as its fine grain is worth, by variance."""
    contrast = sqrt(max(float(np.var(noisy, dtype=np.float64)) - sigma**2, 0.0))
    share = min((_GRAIN * contrast / sigma) ** 2, _MOST_GRAIN)
    return estimate + np.float32(share) * (noisy - estimate)


def _mean_over_patches(channel: np.ndarray, cleanings: Sequence[Cleaning], **how: Any) -> np.ndarray:
    """Weighted mean of all patches of one grey image, whatever dictionary has cleaned them."""
    total, weight = np.zeros_like(channel), np.zeros_like(channel)
    for cleaning in cleanings:
        sums = sums_over_patches(channel, cleaning, **how)
        density = np.float32(cleaning.grid.stride**channel.ndim)  # each stands for neighbours left out
        total += density * sums[0]
        weight += density * sums[1]
    return total / weight


def sums_over_patches(
    channel: np.ndarray,
    cleaning: Cleaning,
    engine: str | None,
    max_memory: float,
    threads: int | None,
    counter: Counter,
) -> tuple[np.ndarray, np.ndarray]:
    """Weighted cleaned patches, and weights, of one grey image, box by box: extract, code, add up."""
    chosen = choose_engine(engine, channel, [factor.shape[1] for factor in cleaning.factors])
    n_threads = thread_count(threads)
    total, weight = np.zeros_like(channel), np.zeros_like(channel)
    boxes = cleaning.grid.boxes(_patches_per_box(cleaning, chosen, max_memory / n_threads))
    for sums in parallel_map(partial(SUMS[chosen], cleaning, channel), boxes, n_threads):
        total[sums.place] += sums.total
        weight[sums.place] += sums.weight
        counter.add(sums.n_patches)
    return total, weight


def _patches_per_box(cleaning: Cleaning, engine: str, max_memory: float) -> int:
    if engine == "fused":
        share = -(-cleaning.grid.n_patches // _LEAST_BOXES)
        return min(max(share, _SMALLEST_BOX), _LARGEST_BOX[engine])
    n_atoms = prod(factor.shape[1] for factor in cleaning.factors)
    bytes_per_patch = 4 * (_ARRAYS_PER_CODE * n_atoms + 4 * prod(cleaning.grid.patch_shape))
    return min(int(max_memory / bytes_per_patch), _LARGEST_BOX[engine])


def default_threshold(method: str, dictionary: SeparableDictionary) -> float:
    """Threshold in multiples of sigma, chosen on photographs that are not among the test images.

    For "pursuit" it is one standard deviation above the expected length of the noise.
    """
    if method == "l1":
        return _L1_PENALTY
    if method == "pursuit":
        return sqrt(1 + sqrt(2 / prod(dictionary.patch_shape)))
    return dictionary.info.get("threshold", _REFIT_PENALTY)


def signal_shape(dictionary: SeparableDictionary, n_axes: int) -> tuple[int, ...]:
    """Shape of the image patches of a dictionary: for an unstructured one from its ``signal_shape``."""
    shape = tuple(dictionary.info.get("signal_shape") or dictionary.patch_shape)
    if len(dictionary.patch_shape) > 1:
        shape = dictionary.patch_shape
    if len(shape) != n_axes:
        raise ValueError(
            f"The dictionary is for patches of {len(shape)} axes ({shape}), the image has {n_axes}: "
            f"give one with as many, or channel_axis for colour."
        )
    return shape


def checked_image(image: Any, channel_axis: int | None) -> np.ndarray:
    """The image as float32, after all checks that do not depend on the method."""
    require_image(image, channel_axis)
    checks.require_finite(image, "image")
    return image.astype(np.float32)


def require_image(image: Any, channel_axis: int | None) -> None:
    """An array of real numbers with 1 to 4 axes besides colour; its values are not looked at."""
    if not isinstance(image, np.ndarray):
        raise TypeError(f"image must be a NumPy array, got {type(image).__name__}.")
    if image.dtype.kind not in "biuf":
        raise TypeError(f"image must hold real numbers, got dtype {image.dtype}.")
    if image.size == 0:
        raise ValueError(f"image is empty: its shape is {image.shape}.")
    if channel_axis is not None and not -image.ndim <= channel_axis < image.ndim:
        raise ValueError(f"channel_axis {channel_axis} does not exist in an image of shape {image.shape}.")
    n_axes = image.ndim - (channel_axis is not None)
    if not 1 <= n_axes <= checks.MAX_AXES:
        raise ValueError(
            f"image must have 1 to {checks.MAX_AXES} axes besides colour, got shape {image.shape}."
        )


def as_dtype(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Values in the dtype of the input: integers rounded and clipped to their range."""
    if dtype.kind == "b":
        return values > 0.5
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return np.clip(np.rint(values.astype(np.float64)), limits.min, limits.max).astype(dtype)
    return values.astype(dtype)


def _checked_sigma(sigma: float, pixels: np.ndarray) -> float:
    sigma = checks.require_positive(sigma, "sigma")
    spread = float(pixels.max() - pixels.min())
    if spread and sigma > spread:
        raise ValueError(
            f"sigma {sigma:g} is larger than the whole range of the image ({spread:g}): "
            f"give it in the units of the image."
        )
    return sigma


def require_room(shape: tuple[int, ...], patch_shape: tuple[int, ...]) -> None:
    """An image holds one patch at least."""
    if any(side < length for side, length in zip(shape, patch_shape, strict=True)):
        raise ValueError(
            f"The image of shape {shape} is smaller than a patch of shape {patch_shape}: "
            f"give a dictionary of smaller patches."
        )


def split_channels(pixels: np.ndarray, channel_axis: int) -> list[np.ndarray]:
    """Channels to be restored one by one: three as luminance and two chrominances."""
    channels = np.moveaxis(pixels, channel_axis, 0)
    if len(channels) == 3:
        channels = np.tensordot(_OPPONENT.astype(np.float32), channels, axes=1)
    return [np.ascontiguousarray(channel) for channel in channels]


def join_channels(channels: list[np.ndarray], channel_axis: int) -> np.ndarray:
    """Inverse of `split_channels`."""
    stacked = np.stack(channels)
    if len(channels) == 3:
        stacked = np.tensordot(_OPPONENT.T.astype(np.float32), stacked, axes=1)
    return np.moveaxis(stacked, 0, channel_axis)


class Counter:
    """Tells `progress` how many patches are done."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0

    def add(self, count: int) -> None:
        """So many more are done."""
        self._done += count
        if self._progress:
            self._progress(self._done, self._total)
