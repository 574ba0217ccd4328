"""`denoise`: remove noise from pictures, volumes, clips and signals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from array_api_compat import is_dask_array

from sedil import checks
from sedil.arrays import AnyArray, Array, value_range
from sedil.choices import CodingMethod, DenoisingMethod, NoiseKind, Precision
from sedil.engines import EngineName, require_engine
from sedil.imaging.given_noise import require_estimate
from sedil.imaging.group_denoising import GroupDenoising
from sedil.imaging.measured_noise import NoiseEstimate, first_channel, measure_noise, usual_noise
from sedil.imaging.noise_levels import (
    NoiseLevels,
    Sigma,
    as_one_sigma,
    as_sigma,
    estimated_levels,
    in_pixels,
    is_alike,
    left_alone,
)
from sedil.imaging.patch_averages import CleaningOptions, PatchCounter
from sedil.imaging.patch_denoising import PatchDenoising
from sedil.imaging.photon_noise import PhotonNoise, found_photons, plan_photon_noise
from sedil.imaging.pixels import Units, copied, in_all_channels, is_grey, one_channel, without_channels
from sedil.imaging.weak_noise import WEAKEST, is_weak_for_groups, weakness
from sedil.pretrained import DictionaryLike, as_dictionary
from sedil.progress import ProgressOption, reporting

if TYPE_CHECKING:
    from sedil.cluster.denoising_steps import HowToDenoise
    from sedil.dictionary import SeparableDictionary

METHODS: tuple[DenoisingMethod, ...] = get_args(DenoisingMethod)
KINDS: tuple[NoiseKind, ...] = get_args(NoiseKind)
_CODING: dict[DenoisingMethod, CodingMethod] = {"quick": "refit", "l1": "l1", "pursuit": "pursuit"}


def denoise(
    image: AnyArray,
    sigma: Sigma | None = None,
    dictionary: DictionaryLike | None = None,
    *,
    method: DenoisingMethod | None = None,
    threshold: float | None = None,
    stride: int | None = None,
    channel_axis: int | None = None,
    time_axis: int | None = None,
    noise: NoiseKind | NoiseEstimate | None = None,
    gain: float | None = None,
    read_noise: float | None = None,
    offset: float | None = None,
    max_memory: float = 512e6,
    dtype: Precision | None = None,
    engine: EngineName | None = None,
    threads: int | None = None,
    progress: ProgressOption = False,
) -> AnyArray:
    """Remove noise from an image, volume, clip or signal: white, of photons, or as a camera leaves it.

    Patches that are alike are gathered in groups. Each group learns a separable dictionary of its own, with
    two orthogonal factors, one for its pixels and one for its members, and what is weak over it is taken for
    noise; the cleaned patches are averaged where they overlap (docs/groups.md). The quick method codes each
    patch on its own over a learned dictionary. Where noise is weak, `sigma` below about 1/30 of the range of
    the noisy image, 10 of 255 grey levels, that would take long and have little to give: unless `dictionary`
    or `threshold` say otherwise, the quick method makes two passes of cosines of a picture then
    (`sedil.imaging.weak_noise`), and of a volume below 1/36.

    Parameters
    ----------
    image : NumPy array, a tensor of torch, CuPy, ..., or a Dask array
        Grey image, volume or stack of frames, a signal, or four axes; colour with `channel_axis`. Integers or
        floats in any units; never modified.
    sigma : float or array, optional
        Standard deviation of the noise in the units of the image: of all pixels, of each channel, or a map,
        any array that broadcasts to the image, without its channels too; a map may hold 0, where pixels are
        left alone. Default: of a picture, what its flat parts tell (`sedil.measure_noise`); of others, and of
        a Dask array, which has one number, `sedil.estimate_noise`.
    dictionary : SeparableDictionary, or the path of a file, or the name of a shipped one, optional
        Of the quick method: what patches are coded over. Default for two axes: the shipped separable ones of
        8x8, 12x12 and, at twice the stride, 16x16 patches, and the ODCT of 16x16 patches, which knows more
        waves: patches of all of them are averaged, about 0.15 dB better than the best of them alone. For
        three axes: the shipped one of 8x8x8 blocks, at twice the stride. Of "groups": what makes the first
        guess in which alike patches are sought.
    method : {"groups", "quick", "l1", "pursuit"}, optional
        Default: "groups", or "quick" if a dictionary or threshold is given. "quick" finds the atoms of a
        patch by l1 and their coefficients by least squares, and is 0.3 to 1 dB worse on pictures, 2 to 4 dB
        on volumes and clips; "l1" is the paper's Eq. (34), about 1 dB worse than that, as it shrinks what it
        keeps; "pursuit" adds atoms until the residual is as large as the noise. In volumes a second pass over
        small blocks follows "quick" and "pursuit".
    threshold : float, optional
        Not for "groups". In multiples of sigma. For "quick" and "l1" the l1 penalty: larger removes more
        noise and more detail; default 3.2 for "quick" (3.05 for the ODCT) and 2 for "l1". For "pursuit" the
        residual per entry at which a patch is done; default a little above 1.
    stride : int, optional
        Distance between neighbouring patches, or groups. Default: 1, where 2 is four times faster and about
        0.15 dB worse; for groups 4, in volumes 3, in four axes 2.
    channel_axis : int, optional
        Axis of the colour channels. The patches of a group reach through all of them. The other methods
        denoise three channels as luminance and two chrominances, an orthonormal rotation that keeps the noise
        white and gathers most of the picture in one channel; any other number of channels each on its own.
    time_axis : int, optional
        Of "groups": the axis of a clip along which its frames lie, counted without channels. Its patches are
        then wide and short, and are sought through time.
    noise : {"white", "correlated", "poisson-gaussian", "auto"} or NoiseEstimate, optional
        What the noise is (docs/noise.md). "white": independent in all pixels, its level found in flat parts,
        for each channel. "correlated": of a picture whose noise a camera or JPEG has smoothed, so that it is
        strong only in what is coarse; its level is found by channel and brightness. "poisson-gaussian":
        counts of photons. "auto", for pictures that are known to be noisy: that of the three which
        `sedil.measure_noise` finds; what it returns may be given too. Default: white noise, of the level
        `sigma` if that is given, or noise of photons where a picture clearly shows it.
    gain, read_noise, offset : float, optional
        Of "poisson-gaussian": a pixel of n photons is ``offset + gain * n``, with noise of level `read_noise`
        besides that of the photons, all in the units of the image. Default: what is not given is found in the
        image; if a gain is given, offset and read noise are 0.
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
        True shows a bar; a function is called with a `sedil.progress.Progress` now and then. Of Dask arrays
        Dask itself tells how far it has come.

    Returns
    -------
    array
        Of the library, device, shape and type of `image`; integers are rounded and kept in their range. Of a
        Dask array one with its chunks, not yet computed (docs/cluster.md).

    Examples
    --------
    >>> import numpy as np, sedil
    >>> noisy = 100 + 10 * np.random.default_rng(0).standard_normal((32, 32))
    >>> clean = sedil.denoise(noisy, sigma=10)
    >>> bool(clean.std() < 3)
    True
    """
    _check_method(method, threshold)
    max_memory = checks.require_positive(max_memory, "max_memory")
    threads = checks.require_threads(threads)
    stride = checks.optional_count(stride, "stride")
    check_noise(sigma, noise, gain, read_noise, offset)
    if method is None:
        method = "groups" if dictionary is None and threshold is None else "quick"
    if is_dask_array(image):
        from sedil.cluster.dask_arrays import as_lazy_image
        from sedil.cluster.lazy_denoise import lazy_denoise

        _check_noise_of_parts(sigma, noise)
        own: Any = as_lazy_image(image, channel_axis)
        how = how_to_denoise(
            own,
            None if dictionary is None else as_dictionary(dictionary),
            method,
            threshold,
            stride,
            channel_axis,
            time_axis,
            max_memory,
            dtype,
            engine,
            threads,
        )
        return lazy_denoise(own, None if sigma is None else as_one_sigma(sigma), how, channel_axis)
    image = checks.as_image(image, channel_axis)
    units = Units.of(image)
    pixels = units.pixels(image, dtype)
    checks.require_finite(pixels, "image")
    _check_shape(without_channels(image.shape, channel_axis), method, channel_axis, time_axis)
    given = None if sigma is None else as_sigma(sigma, image.shape, channel_axis)
    if given is None and units.spread == 0:
        return copied(image)
    if channel_axis is not None and is_grey(image, channel_axis) and is_alike(given, channel_axis):
        # Channels that are the same have the same noise too, where that of colours is apart in each.
        clean = denoise(
            one_channel(image, channel_axis),
            given if given is None or isinstance(given, float) else given.take(0, axis=channel_axis),
            dictionary,
            method=method,
            threshold=threshold,
            stride=stride,
            time_axis=time_axis,
            noise=_of_one_channel(noise, image.shape[channel_axis]),
            gain=gain,
            read_noise=read_noise,
            offset=offset,
            max_memory=max_memory,
            dtype=dtype,
            engine=engine,
            threads=threads,
            progress=progress,
        )
        return in_all_channels(clean, image.shape[channel_axis], channel_axis)
    photons, levels = None, NoiseLevels(1.0)
    if given is not None:
        levels = in_pixels(given, units, channel_axis)
    elif noise == "poisson-gaussian":
        photons = plan_photon_noise(pixels, units, channel_axis, gain, read_noise, offset)
    else:
        levels, photons = _measured(image, pixels, units, channel_axis, noise)
    if photons is not None:
        pixels, levels = photons.even(pixels), photons.levels(pixels, channel_axis)
    channels = levels.split(pixels, channel_axis)
    level, places = levels.level, levels.places_like(channels[0])
    spread = value_range(pixels)
    work: GroupDenoising | PatchDenoising
    if method == "groups":
        is_weak = is_weak_for_groups(spread, level)
        work = GroupDenoising.plan(channels, level, dictionary, stride, time_axis, is_weak, places)
    else:
        share = weakness(spread, level, channels[0].ndim) if method == "quick" else 0.0
        work = PatchDenoising.plan(
            channels[0], level, dictionary, _CODING[method], threshold, stride, share, places
        )
    if level < WEAKEST or units.spread == 0:
        return copied(image)
    with reporting(progress, "denoising") as report:
        counter = PatchCounter(report, work.n_patches(len(channels)))
        cleaned = work.clean(channels, CleaningOptions(engine, max_memory, threads, counter))
    joined = levels.join(cleaned, channel_axis)
    result = units.image(joined if photons is None else photons.restored(joined), image.dtype)
    return result if given is None else left_alone(result, image, given)


def how_to_denoise(
    image: Any,
    dictionary: SeparableDictionary | None,
    method: DenoisingMethod,
    threshold: float | None = None,
    stride: int | None = None,
    channel_axis: int | None = None,
    time_axis: int | None = None,
    max_memory: float = 512e6,
    dtype: Precision | None = None,
    engine: EngineName | None = None,
    threads: int | None = None,
) -> HowToDenoise:
    """What `denoise` was told, of an image in parts, of which no more than shape and type are looked at."""
    from sedil.cluster.dask_arrays import shape_and_channels
    from sedil.cluster.denoising_steps import HowToDenoise

    shape, n_channels = shape_and_channels(image, channel_axis)
    _check_shape(shape, method, channel_axis, time_axis)
    return HowToDenoise(
        shape,
        n_channels,
        dictionary,
        _CODING.get(method),
        threshold,
        stride,
        time_axis,
        max_memory,
        checks.working_precision(dtype, np.empty(0, image.dtype)),
        engine if engine is None else require_engine(engine),
        threads,
    )


def _check_method(method: str | None, threshold: float | None) -> None:
    if method is not None:
        checks.require_choice(method, "method", METHODS)
    if threshold is not None:
        checks.require_threshold(threshold)
        if method == "groups":
            raise ValueError('threshold is not for method="groups": give a larger or smaller sigma.')


def check_noise(
    sigma: Sigma | None,
    noise: str | NoiseEstimate | None,
    gain: float | None,
    read_noise: float | None,
    offset: float | None,
) -> None:
    """Refuse what does not go together."""
    if noise is not None and not isinstance(noise, NoiseEstimate):
        checks.require_choice(noise, "noise", KINDS)
    if sigma is not None and noise not in (None, "white"):
        raise ValueError("sigma is for white noise: leave it out, or noise.")
    if noise != "poisson-gaussian" and not gain is read_noise is offset is None:
        raise ValueError('gain, read_noise and offset are for noise="poisson-gaussian": add it.')
    if gain is not None:
        checks.require_positive(gain, "gain")
    if read_noise is not None:
        checks.require_positive(read_noise, "read_noise", zero_allowed=True)
    if offset is not None:
        checks.require_finite_number(offset, "offset")


def _measured(
    image: Array,
    pixels: Array,
    units: Units,
    channel_axis: int | None,
    noise: NoiseKind | NoiseEstimate | None,
) -> tuple[NoiseLevels, PhotonNoise | None]:
    """Noise that nobody gave the level of: that of a given estimate, or of one that is made now."""
    if noise is None:
        found = usual_noise(image, channel_axis)
    elif isinstance(noise, NoiseEstimate):
        found = require_estimate(noise)
        units.level(max(found.sigma))
    else:
        found = measure_noise(image, channel_axis, None if noise == "auto" else noise)
    _require_channels(found, 1 if channel_axis is None else image.shape[channel_axis])
    if found.kind == "poisson-gaussian":
        return NoiseLevels(1.0), found_photons(found, units, is_given=isinstance(noise, NoiseEstimate))
    return estimated_levels(found, pixels, units, channel_axis), None


def _of_one_channel(
    noise: NoiseKind | NoiseEstimate | None, n_channels: int
) -> NoiseKind | NoiseEstimate | None:
    """What is known of the noise of so many channels that are all the same, for one of them."""
    if not isinstance(noise, NoiseEstimate):
        return noise
    _require_channels(noise, n_channels)
    return first_channel(noise)


def _require_channels(found: NoiseEstimate, n_channels: int) -> None:
    if len(found.sigma) != n_channels:
        raise ValueError(f"noise was measured in {len(found.sigma)} channels, the image has {n_channels}.")


def _check_noise_of_parts(sigma: Sigma | None, noise: str | NoiseEstimate | None) -> None:
    """Refuse what only an image in memory can tell."""
    if noise is not None and (noise != "white" or sigma is None):
        raise ValueError("noise is for an image in memory: call image.compute() first.")


def _check_shape(shape: Sequence[int], method: str, channel_axis: int | None, time_axis: int | None) -> None:
    """The shape of a channel."""
    checks.require_time_axis(time_axis, method, shape)
    if method == "groups" and channel_axis is None and time_axis is None:
        _require_no_colour(shape)


def _require_no_colour(shape: Sequence[int]) -> None:
    """Three axes, the last of length three, are more often a picture in colour than a volume."""
    if len(shape) == 3 and shape[-1] == 3:
        raise ValueError(
            f"An image of shape {tuple(shape)} looks like colour: give channel_axis=-1, or, for a clip "
            f"three pixels wide, time_axis."
        )
