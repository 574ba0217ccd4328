"""How noisy an image is: the level in each channel, how it grows with brightness, and how far it reaches.

docs/noise.md tells the method, and how sure it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ldexp, sqrt
from typing import NamedTuple, get_args

import numpy as np

from sedil import checks
from sedil.arrays import Array, to_numpy
from sedil.choices import EstimatedNoise
from sedil.imaging.jpeg_noise import rounded_noise, was_coarse_jpeg
from sedil.imaging.noise import estimate_noise
from sedil.imaging.noise_blocks import (
    SHORTEST,
    Bin,
    Blocks,
    detail_of_scene,
    fine_noise,
    fine_noise_of_jpeg,
    measure_bins,
    read_blocks,
)
from sedil.imaging.pixels import Units, is_grey, one_channel

# Chosen on photographs with camera noise and on pictures with synthetic noise, none of them tested on.
_COARSE = 0.2, 0.5  # frequencies where noise with correlation is strong, and scenes are no longer
# Amplitudes at the frequencies before the finest over those at the finest: white noise is as strong at both,
# whatever the scene, where noise that was smoothed is still falling.
_FINER, _FINEST = (0.5, 0.65), (0.8, 1.0)
_WHITE, _CORRELATED = 1.45, 1.7
# The same from the middle on, where smoothed noise lies above a floor of white noise, and scenes do too.
_MIDDLE, _WHITE_THERE, _CORRELATED_THERE = (0.35, 0.5), 2.7, 3.4
# Amplitudes at coarse frequencies over the range of the image, or those at the finest, from which on they are
# texture: no camera's noise is so strong.
_PLAUSIBLE, _TEXTURE, _OVER_FINEST = 0.03, 0.05, 2.2
_LOWEST_OVER_NEXT = 1.5  # most variance of the lowest frequencies, where scenes are, over that of the next
# A picture tells the level of noise at coarse frequencies to a factor of two only, as scenes hold these too.
# So it is the geometric mean of what is found, times a constant, and what suits most pictures of cameras, a
# share of their range; but not far above what is found.
_OVER_EDGE, _OF_RANGE, _MOST_OVER_EDGE = 1.9, 0.04, 2.5
_DIMMEST, _BRIGHTEST = 0.7, 1.4  # level of a brightness over that of most
_MEMBERS_PER_ENTRY = 96 / 75  # of groups in colour
# Of the line through variances; by how much a flat part may be above it; and how far any may be off it.
_ROUNDS, _OUTLYING, _LEAST_CHANCE = 30, 0.1, 0.04
# From which on noise is that of photons: by how much the line rises over the picture; how far it is from the
# variances, as logarithms, and how much closer than their median; and how far these are in order of
# brightness. Of 650 pictures with white noise or none one is taken for it; of 150 with photons five of six.
_RISE, _FARTHEST, _CLOSER, _IN_ORDER, _FEWEST_BINS = 1.6, 0.13, 2.0, 0.7, 4
_LUMINANCE_OF_JPEG = np.array([0.299, 0.587, 0.114])
_DARKEST = 0.01  # share of the pixels that may lie below the brightness without light
ALL_KINDS: tuple[EstimatedNoise, ...] = get_args(EstimatedNoise)
_USUAL_KINDS: tuple[EstimatedNoise, ...] = ("white", "poisson-gaussian")


class NoiseEstimate(NamedTuple):
    """What a single image tells of its noise, in the units of the image.

    Parameters
    ----------
    kind : "white"; "correlated", as demosaicing, JPEG and noise reduction in a camera leave it; or
        "poisson-gaussian", of photons, with a variance that is a line over brightness
    sigma : standard deviation of the noise of each channel
    uncertainty : share by which sigma may be wrong
    correlation : of the noise of neighbouring pixels, from 0 to 1
    gain : by how much the variance of the noise of each channel grows with a step of brightness
    read_noise : standard deviation of the noise of each channel at brightness 0, as a straight line has it
    offset : brightness of each channel at which the line has no noise, if that is above 0
    brightness : (n, channels), of the flat parts, from dark to bright
    levels : (n,), level of noise there that groups of patches are to be cleaned with, in multiples of sigma
    variances : (n, channels), variance of the noise there

    Examples
    --------
    >>> import numpy as np, sedil
    >>> photons = np.random.default_rng(0).poisson(np.linspace(20, 200, 128) * np.ones((128, 1)))
    >>> found = sedil.measure_noise(2.0 * photons)  # two units a photon
    >>> bool(1.7 < found.gain[0] < 2.3)
    True
    """

    kind: EstimatedNoise
    sigma: tuple[float, ...]
    uncertainty: float
    correlation: float
    gain: tuple[float, ...]
    read_noise: tuple[float, ...]
    offset: tuple[float, ...]
    brightness: np.ndarray
    levels: np.ndarray
    variances: np.ndarray


def white_noise(*sigma: float) -> NoiseEstimate:
    """Of one level everywhere in each channel, of which nothing more is known."""
    none, zeros = np.zeros((0, len(sigma))), (0.0,) * len(sigma)
    return NoiseEstimate("white", sigma, 0.0, 0.0, zeros, zeros, zeros, none, none[:, 0], none)


def measure_noise(
    image: Array, channel_axis: int | None = None, kind: EstimatedNoise | None = None
) -> NoiseEstimate:
    """What a single image tells of its noise: how strong, by channel and brightness, and how correlated.

    Parameters
    ----------
    image : NumPy array, or a tensor, which is fetched from its device, in any units
        At least four entries along each axis. Of a few hundred pixels it tells little: see `uncertainty`.
    channel_axis : int, optional
        Axis of the colour channels.
    kind : {"white", "correlated", "poisson-gaussian"}, optional
        What the noise is known to be. Default: what it looks like.

    Returns
    -------
    NoiseEstimate

    Examples
    --------
    >>> import numpy as np, sedil
    >>> noisy = 100 + 10 * np.random.default_rng(0).standard_normal((64, 64))
    >>> found = sedil.measure_noise(noisy)
    >>> found.kind, round(found.sigma[0])
    ('white', 10)
    """
    if kind is not None:
        checks.require_choice(kind, "kind", ALL_KINDS)
    (found,) = _measure(image, channel_axis, ALL_KINDS if kind is None else (kind,))
    if found is None:
        channels, _ = _channels(image, channel_axis)
        noisy = channels[~_even(channels)]
        _require_unclipped(noisy)
        return _by_details(image, channel_axis) if len(noisy) else white_noise(*(0.0,) * len(channels))
    return found


def usual_noise(image: Array, channel_axis: int | None = None) -> NoiseEstimate:
    """White noise, or that of photons where it is clear: what `sedil.denoise` takes it for by default.

    Texture and smoothed noise look too much alike to be told apart without a hint. What is no picture, or
    clipped nearly everywhere, has white noise of the level that its finest details tell.
    """
    return usual_noise_and_doubt(image, channel_axis, doubted=False)[0]


def usual_noise_and_doubt(
    image: Array, channel_axis: int | None = None, *, doubted: bool = True
) -> tuple[NoiseEstimate, bool]:
    """The same, and whether `measure_noise` would take the noise for one that was smoothed.

    The picture is read once for both; that is not looked for if it is not `doubted`.
    """
    if image.ndim - (channel_axis is not None) == 2:
        found, *smoothed = _measure(image, channel_axis, _USUAL_KINDS, *[ALL_KINDS] * doubted)
        if found is not None:
            return found, any(each is not None and each.kind == "correlated" for each in smoothed)
    return _by_details(image, channel_axis), False


def _by_details(image: Array, channel_axis: int | None) -> NoiseEstimate:
    """White noise of the level that the finest details tell, alike in all channels."""
    n_channels = 1 if channel_axis is None else image.shape[channel_axis]
    return white_noise(*(estimate_noise(image, channel_axis),) * n_channels)


def _measure(
    image: Array, channel_axis: int | None, *answers: tuple[EstimatedNoise, ...]
) -> list[NoiseEstimate | None]:
    """The noise, for each of the answers of one of these kinds; None if no block shows any."""
    channels, units = _channels(image, channel_axis)
    if channel_axis is not None and is_grey(image, channel_axis):
        once = _measure(one_channel(image, channel_axis), None, *answers)
        return [each and _in_all_channels(each, len(channels)) for each in once]
    empty = _even(channels)
    if empty.any() and not empty.all():  # they would hide the noise of the others
        measured = _measure(np.ascontiguousarray(channels[~empty]), 0, *answers)
        return [each and _with_empty_channels(each, channels, empty, units) for each in measured]
    if ("correlated",) in answers and channels.ndim != 3:
        raise ValueError(f"Correlated noise is known of pictures, got {channels.ndim - 1} axes.")
    blocks = read_blocks(channels, counts=answers == (("poisson-gaussian",),))
    if not len(blocks.coefficients):
        return [None] * len(answers)
    is_jpeg = _was_coarse_jpeg(to_numpy(image), channel_axis)
    detail = detail_of_scene(blocks)
    fine, uncertainty = fine_noise_of_jpeg(blocks) if is_jpeg else fine_noise(blocks, detail)
    rounded = rounded_noise(to_numpy(image)) if is_jpeg and channel_axis is None else None
    if rounded is not None:
        fine, uncertainty = np.array([ldexp(rounded.variance, 2 * units.exponent)]), rounded.chance
    bins = measure_bins(blocks, detail, is_jpeg)
    read = _Reading(channels, units, blocks, bins, fine, uncertainty)
    return [_answer(read, kinds) for kinds in answers]


class _Reading(NamedTuple):
    """What the blocks of an image told, in its scaled pixels."""

    channels: np.ndarray
    units: Units
    blocks: Blocks
    bins: Sequence[Bin]
    fine: np.ndarray
    uncertainty: float


def _answer(read: _Reading, kinds: tuple[EstimatedNoise, ...]) -> NoiseEstimate:
    """The noise, of one of these kinds."""
    channels, units, blocks, bins, fine, uncertainty = read
    scope = ldexp(units.spread if units.offset else units.largest, units.exponent)
    weight = 0.0
    if "correlated" in kinds and channels.ndim == 3:
        weight = 1.0 if len(kinds) == 1 else _correlated_share(blocks, bins, scope)
    found = _mixed(blocks, bins, fine, weight, scope)
    lines = [_line(*points) for points in zip(*(each.T for each in found[2:]), strict=True)]
    kind: EstimatedNoise = "correlated" if weight >= 0.5 else "white"
    if "poisson-gaussian" in kinds and (
        len(kinds) == 1 or (weight == 0 and channels.ndim == 3 and _is_of_photons(found))
    ):
        kind, found = "poisson-gaussian", _along(lines, found)
    scale = ldexp(1.0, -units.exponent)
    gains = [gain for gain, _ in lines]
    # Variances over the scale: those of very large values are beyond all numbers, their roots are not.
    at_zero = [scale * own - gain * units.offset for gain, own in lines]
    darkest = [scale * np.quantile(channel, _DARKEST) + units.offset for channel in channels]
    return NoiseEstimate(
        kind,
        tuple((scale * found.sigma).tolist()),
        uncertainty / 2,  # of the level, which is the root of the variance
        _neighbours(blocks, bins) if weight else 0.0,
        tuple(scale * gain for gain in gains),
        tuple(sqrt(scale) * _root(own) for own in at_zero),
        tuple(_without_light(*each) for each in zip(gains, at_zero, darkest, strict=True)),
        scale * found.brightness + units.offset,
        found.levels,
        _times_square(found.variances, scale),
    )


def _without_light(gain: float, at_zero: float, darkest: float) -> float:
    """Brightness at which a line that is below 0 at brightness 0 has no noise, below nearly all pixels."""
    return float(max(min(-at_zero / gain, darkest), 0.0)) if at_zero < 0 < gain else 0.0


def _was_coarse_jpeg(image: np.ndarray, channel_axis: int | None) -> bool:
    """Whether a picture was stored as JPEG that rounds much, in grey or in three colours."""
    if image.dtype != np.uint8 or image.ndim - (channel_axis is not None) != 2:
        return False
    if channel_axis is None:
        return was_coarse_jpeg(image)
    colours = np.moveaxis(image, channel_axis, -1)
    if colours.shape[-1] != 3:
        return False
    clipped = np.any((colours == 0) | (colours == 255), axis=-1)
    return was_coarse_jpeg(np.where(clipped, 0, colours @ _LUMINANCE_OF_JPEG))


def _even(channels: np.ndarray) -> np.ndarray:
    """Which channels are the same everywhere."""
    even: np.ndarray = np.ptp(channels.reshape(len(channels), -1), axis=1) == 0
    return even


def _require_unclipped(channels: np.ndarray) -> None:
    """Refuse an image of which most is at the ends of its range, which tell nothing of noise."""
    if channels.size and np.mean((channels == channels.min()) | (channels == channels.max())) > 0.5:
        raise ValueError("Most pixels are clipped at the ends of the range: give sigma.")


def _in_all_channels(found: NoiseEstimate, n_channels: int) -> NoiseEstimate:
    """What was measured in one channel, for so many that are the same."""
    return found._replace(
        sigma=found.sigma * n_channels,
        gain=found.gain * n_channels,
        read_noise=found.read_noise * n_channels,
        offset=found.offset * n_channels,
        brightness=np.repeat(found.brightness, n_channels, axis=1),
        variances=np.repeat(found.variances, n_channels, axis=1),
    )


def first_channel(found: NoiseEstimate) -> NoiseEstimate:
    """What was measured in the first of several channels."""
    return found._replace(
        sigma=found.sigma[:1],
        gain=found.gain[:1],
        read_noise=found.read_noise[:1],
        offset=found.offset[:1],
        brightness=found.brightness[:, :1],
        variances=found.variances[:, :1],
    )


def _with_empty_channels(
    found: NoiseEstimate, channels: np.ndarray, empty: np.ndarray, units: Units
) -> NoiseEstimate:
    """What was measured in the scaled pixels of some channels, for all of them in the units of the image."""
    scale = ldexp(1.0, -units.exponent)

    def spread(values: Sequence[float]) -> tuple[float, ...]:
        own = np.zeros(len(empty))
        own[~empty] = scale * np.array(values)
        return tuple(own.tolist())

    variances = np.zeros((len(found.variances), len(empty)))
    variances[:, ~empty] = _times_square(found.variances, scale)
    brightness = np.repeat(channels.reshape(len(empty), -1)[:, :1].T, len(found.brightness), axis=0)
    brightness[:, ~empty] = found.brightness
    offset = np.array(spread(found.offset)) + np.where(np.array(spread(found.offset)) > 0, units.offset, 0)
    return found._replace(
        sigma=spread(found.sigma),
        gain=spread(found.gain),
        read_noise=spread(found.read_noise),
        offset=tuple(offset.tolist()),
        brightness=scale * brightness + units.offset,
        variances=variances,
    )


def _times_square(values: np.ndarray, scale: float) -> np.ndarray:
    """The largest number where it is beyond all, as variances of very large values may be."""
    with np.errstate(over="ignore", under="ignore"):
        scaled: np.ndarray = scale * (scale * values)
    return np.minimum(scaled, np.finfo(np.float64).max)


class _Found(NamedTuple):
    sigma: np.ndarray
    levels: np.ndarray
    brightness: np.ndarray
    variances: np.ndarray
    chances: np.ndarray


def _mixed(blocks: Blocks, bins: Sequence[Bin], fine: np.ndarray, weight: float, scope: float) -> _Found:
    """White noise, noise with correlation, or where that is not clear something between, by logarithms."""
    brightness = np.array([each.brightness for each in bins])
    fine_variances = np.array([each.fine for each in bins])
    chances = np.array([each.chance for each in bins])
    if weight == 0:
        return _Found(np.sqrt(fine), np.ones(len(bins)), brightness, fine_variances, chances)
    spectra = np.array([_without_scene(blocks, each.spectrum) for each in bins])
    variances = np.mean(np.einsum("nkcc->nkc", spectra), axis=1)
    sigma = np.sqrt(np.median(variances, axis=0))
    edges = np.array([_edge_level(spectrum) for spectrum in spectra])
    usual = max(float(np.median(edges)), 1e-300)
    level = min(np.sqrt(_OVER_EDGE * usual * _OF_RANGE * scope), _MOST_OVER_EDGE * usual)
    levels = level / np.sqrt(np.mean(sigma**2)) * np.clip(edges / usual, _DIMMEST, _BRIGHTEST)
    return _Found(
        np.sqrt(fine) ** (1 - weight) * sigma**weight,
        levels**weight,
        brightness,
        fine_variances ** (1 - weight) * variances**weight,
        chances,
    )


def _correlated_share(blocks: Blocks, bins: Sequence[Bin], scope: float) -> float:
    """From 0 for white noise to 1 for noise that is strong only where it is smooth, and not too strong.

    `scope` is how bright the image could be.
    """
    coarse, middle, finer, finest = (
        _band_variances(blocks, bins, *band) for band in (_COARSE, _MIDDLE, _FINER, _FINEST)
    )
    falling = max(
        _ramp(_usual_ratio(finer, finest), _WHITE, _CORRELATED),
        _ramp(_usual_ratio(middle, finest), _WHITE_THERE, _CORRELATED_THERE),
    )
    strength, fine = (np.sqrt(np.median(each)) / scope for each in (coarse, finest))
    plausible = max(_PLAUSIBLE, _OVER_FINEST * fine)
    texture = _ramp(strength, plausible, plausible * _TEXTURE / _PLAUSIBLE)
    return falling * (1 - texture)


def _usual_ratio(variances: np.ndarray, finest: np.ndarray) -> float:
    """Of amplitudes: of the flattest quarter of the bins, as scenes only add to it."""
    return float(np.sqrt(np.quantile(variances / np.maximum(finest, 1e-9 * variances + 1e-300), 0.25)))


def _band_variances(blocks: Blocks, bins: Sequence[Bin], low: float, high: float) -> np.ndarray:
    """Of each bin, the mean over channels and these frequencies."""
    band = (blocks.frequency >= low) & (blocks.frequency <= high)
    return np.array([np.mean(np.einsum("kcc->kc", each.spectrum[band])) for each in bins])


def _ramp(value: float, low: float, high: float) -> float:
    """0 up to `low`, 1 from `high` on, and between by logarithm."""
    return float(np.clip(np.log(max(value, 1e-300) / low) / np.log(high / low), 0, 1))


def _without_scene(blocks: Blocks, spectrum: np.ndarray) -> np.ndarray:
    """A spectrum whose lowest frequencies are not much above the next ones."""
    steps = np.unique(np.round(blocks.frequency, 9))
    lowest = blocks.frequency < (steps[1] + steps[2]) / 2
    following = np.isclose(blocks.frequency, steps[2])
    most = _LOWEST_OVER_NEXT * np.trace(np.mean(spectrum[following], axis=0))
    own = np.einsum("kcc->k", spectrum)
    share = np.where(lowest & (own > most), most / np.maximum(own, 1e-300), 1.0)
    capped: np.ndarray = spectrum * share[:, None, None]
    return capped


def _edge_level(spectrum: np.ndarray) -> float:
    """Level of white noise whose strongest directions in groups are as strong as those of this noise.

    The largest eigenvalue of the Gram matrix of K members with covariance C is about the least value of
    ``a (K + sum(c / (a - c)))`` over a above all eigenvalues c of C: for white noise the edge of Marchenko
    and Pastur (Silverstein and Choi, 1995).
    """
    own = np.maximum(np.linalg.eigvalsh(spectrum).ravel(), 0)
    n_members = _MEMBERS_PER_ENTRY * len(own)
    at = own.max() * (1 + np.geomspace(1e-3, 30, 500))[:, None]
    edge = np.min(at[:, 0] * (n_members + np.sum(own / (at - own), axis=1)))
    return float(np.sqrt(edge) / (np.sqrt(n_members) + np.sqrt(len(own))))


def _neighbours(blocks: Blocks, bins: Sequence[Bin]) -> float:
    """Correlation of neighbours that the median spectrum has: that of its cosines, mean over the axes."""
    power = np.einsum("kcc->k", np.median([each.spectrum for each in bins], axis=0))
    return float(np.clip(np.sum(power * blocks.at_next) / max(np.sum(power), 1e-300), 0, 1))


def _line(brightness: np.ndarray, variances: np.ndarray, chances: np.ndarray) -> tuple[float, float]:
    """Gain, and variance at brightness 0, of a line through variances; parts that are not flat lie above.

    What chance left in fewer coefficients counts less.
    """
    if len(brightness) < 3 or np.ptp(brightness) == 0:
        return 0.0, float(np.median(variances))
    trust, spread = np.ones_like(variances), np.hypot(chances, _LEAST_CHANCE)
    fit = np.maximum(variances, variances.max() * 1e-9)
    gain, at_zero = 0.0, 0.0
    for _ in range(_ROUNDS):
        weights = np.sqrt(trust) / (fit * spread)
        design = np.stack([brightness, np.ones_like(brightness)], axis=1) * weights[:, None]
        gain, at_zero = np.linalg.lstsq(design, variances * weights, rcond=None)[0]
        if gain < 0:
            gain, at_zero = 0.0, float(np.sum(variances * weights**2) / np.sum(weights**2))
        fit = np.maximum(gain * brightness + at_zero, variances.max() * 1e-6)
        trust = 1 / (1 + np.square(np.maximum(variances / fit - 1, 0) / _OUTLYING))
    return float(gain), float(at_zero)


def _is_of_photons(found: _Found) -> bool:
    """Whether the variance clearly rises with brightness, along a line."""
    brightness, variances, chances = (each.mean(axis=1) for each in found[2:])
    if len(brightness) < _FEWEST_BINS or variances.min() <= 0:
        return False
    gain, at_zero = _line(brightness, variances, chances)
    line = np.maximum(gain * brightness + at_zero, variances.max() * 1e-6)
    if line[-1] < _RISE * line[0]:
        return False
    ranks = np.argsort(np.argsort(variances))
    off, off_median = (np.median(np.abs(np.log(variances / other))) for other in (line, np.median(variances)))
    in_order = np.corrcoef(ranks, np.arange(len(ranks)))[0, 1]
    return bool(_CLOSER * off <= off_median and off <= _FARTHEST and in_order >= _IN_ORDER)


def _along(lines: Sequence[tuple[float, float]], found: _Found) -> _Found:
    """Noise whose variance is on the line of each channel."""
    gains, at_zero = np.array(lines).T
    variances = np.maximum(gains * found.brightness + at_zero, 0)
    sigma = np.sqrt(np.mean(variances, axis=0))
    usual = max(float(np.mean(sigma**2)), 1e-300)
    return found._replace(sigma=sigma, levels=np.sqrt(np.mean(variances, axis=1) / usual))


def _root(variance: float) -> float:
    return float(np.sqrt(max(variance, 0.0)))


def _channels(image: Array, channel_axis: int | None) -> tuple[np.ndarray, Units]:
    """The pixels as float64, channels first."""
    image = checks.as_image(image, channel_axis)
    own = to_numpy(image)
    units = Units.of(own)
    values = units.pixels(own, "float64")
    checks.require_finite(values, "image")
    channels = values[None] if channel_axis is None else np.moveaxis(values, channel_axis, 0)
    if min(channels.shape[1:]) < SHORTEST:
        raise ValueError(f"The noise of an image of shape {values.shape} cannot be estimated: give sigma.")
    return channels, units
