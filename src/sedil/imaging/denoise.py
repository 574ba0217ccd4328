"""`denoise`: remove white Gaussian noise by sparse coding of all overlapping patches."""

from __future__ import annotations

from math import sqrt

from sedil import checks
from sedil.arrays import AnyArray, Array, variance
from sedil.choices import CodingMethod, Precision
from sedil.coding.sparse_code import METHODS
from sedil.engines import EngineName
from sedil.imaging.channels import join_channels, split_channels
from sedil.imaging.image_dictionaries import default_votes, given_votes, plan_cleaning
from sedil.imaging.noise import estimate_noise
from sedil.imaging.patch_averages import CleaningOptions, PatchCounter, mean_over_patches
from sedil.imaging.pixels import Units, copied
from sedil.imaging.second_pass import second_pass
from sedil.pretrained import DictionaryLike
from sedil.progress import ProgressOption, reporting

# Photographs hold fine grain that no dictionary tells from noise, about this share of their contrast. A part
# of the noisy image brings it back: 0.03 dB at sigma 5, nothing from sigma 20 on (benchmarks/together.py).
_GRAIN = 0.025
_MOST_GRAIN = 0.3
_WEAKEST = 2.0**-50  # noise, of pixels that reach 2**-30 at least: its square is nothing to float32


def denoise(
    image: AnyArray,
    sigma: float | None = None,
    dictionary: DictionaryLike | None = None,
    *,
    method: CodingMethod = "refit",
    threshold: float | None = None,
    stride: int = 1,
    channel_axis: int | None = None,
    max_memory: float = 512e6,
    dtype: Precision | None = None,
    engine: EngineName | None = None,
    threads: int | None = None,
    progress: ProgressOption = False,
) -> AnyArray:
    """Remove white Gaussian noise from an image.

    Each patch, without its mean, is coded sparsely over the dictionary; the cleaned patches are averaged
    where they overlap, those with few coefficients counting more (weight ``1 / (1 + coefficients)``). Where
    noise is weak, a little of the noisy image is mixed in for its fine grain, except with "l1". In volumes
    and stacks of frames a second pass over small blocks follows (`sedil.imaging.second_pass`).

    Parameters
    ----------
    image : NumPy array, or a tensor of torch, CuPy, ...
        Grey image, volume or stack of frames; colour with `channel_axis`; with a dictionary of as many axes
        also a signal or four axes. Integers or floats in any units, with any offset; never modified.
    sigma : float, optional
        Standard deviation of the noise in the units of the image. Default: `sedil.estimate_noise`. An image
        that is flat comes back as it is.
    dictionary : SeparableDictionary, or the path of a file, or the name of a shipped one, optional
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
    dtype : {"float32", "float64"}, optional
        What is computed in. Default: float32 for NumPy arrays, with sums in float64, which is many times
        faster; their own precision for arrays of other libraries. Results have the type of the input.
    engine : {"fused", "portable"}, optional
        Default: "fused", many times faster, for NumPy arrays in float32, except for dictionaries of very many
        atoms; else "portable", which keeps the library and device of the image.
    threads : int, optional
        Default: the environment variable NUMBA_NUM_THREADS or OMP_NUM_THREADS, else one per core.
    progress : bool or callable, default False
        True shows a bar; a function is called with a `sedil.progress.Progress` now and then.

    Returns
    -------
    array
        Of the library, device, shape and type of `image`; integers are rounded and kept in their range.

    Examples
    --------
    >>> import numpy as np, sedil
    >>> noisy = 100 + 10 * np.random.default_rng(0).standard_normal((32, 32))
    >>> clean = sedil.denoise(noisy, sigma=10)
    >>> bool(clean.std() < 3)
    True
    """
    _check_settings(method, threshold, stride, max_memory, threads)
    image = checks.as_image(image, channel_axis)
    units = Units.of(image)
    pixels = units.pixels(image, dtype)
    checks.require_finite(pixels, "image")
    channels = split_channels(pixels, channel_axis)
    shape = tuple(channels[0].shape)
    votes = given_votes(dictionary) or default_votes(shape)
    level = estimate_noise(pixels, channel_axis) if sigma is None else _checked_level(sigma, units)
    cleanings = [plan_cleaning(vote, channels[0], method, level, threshold, stride) for vote in votes]
    if level < _WEAKEST or units.spread == 0:
        return copied(image)
    n_patches = len(channels) * sum(cleaning.grid.n_patches for cleaning in cleanings)
    cleaned = []
    with reporting(progress, "denoising") as report:
        options = CleaningOptions(engine, max_memory, threads, PatchCounter(report, n_patches))
        for channel in channels:
            estimate = mean_over_patches(channel, cleanings, options)
            if method != "l1":
                if channel.ndim > 2:
                    estimate = second_pass(channel, estimate, level, threads)
                estimate = _with_grain(estimate, channel, level)
            cleaned.append(estimate)
    return units.image(join_channels(cleaned, channel_axis), image.dtype)


def _check_settings(
    method: str, threshold: float | None, stride: int, max_memory: float, threads: int | None
) -> None:
    checks.require_choice(method, "method", METHODS)
    checks.require_count(stride, "stride", minimum=1)
    checks.require_positive(max_memory, "max_memory")
    checks.require_threads(threads)
    if threshold is not None:
        checks.require_positive(threshold, "threshold")


def _checked_level(sigma: float, units: Units) -> float:
    """Sigma in the units of the pixels; parts of an image may vary less than it, but not be far smaller."""
    sigma = checks.require_positive(sigma, "sigma")
    if units.spread and sigma > max(units.spread, units.largest):
        raise ValueError(
            f"sigma {sigma:g} is larger than the values of the image (up to {units.largest:g}): "
            f"give it in the units of the image."
        )
    return units.level(sigma) if units.spread else sigma


def _with_grain(estimate: AnyArray, noisy: Array, sigma: float) -> AnyArray:
    """Mix in as much of the noisy image as its fine grain is worth, by variance."""
    contrast = sqrt(max(variance(noisy) - sigma**2, 0.0))
    share = min((_GRAIN * contrast / sigma) ** 2, _MOST_GRAIN)
    return estimate + share * (noisy - estimate)
