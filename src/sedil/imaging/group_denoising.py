"""Noise out of groups of alike patches, in passes that feed a part of the removed noise back."""

from __future__ import annotations

from array_api_compat import array_namespace

from sedil.arrays import AnyArray, Array
from sedil.imaging.groups import GroupShape, find_groups, mean_over_groups, patch_means
from sedil.imaging.patch_averages import CleaningOptions

# Chosen on photographs that are not among the test images (benchmarks/group_settings.py).
PASSES = 4
_MATCH_EVERY = 2  # passes with the same groups
_FEEDBACK = 0.15  # share of what was removed that the next pass gets back
_FIRST_LEVEL = 1.2  # of the first pass, in standard deviations of the noise
_LEFT = 0.58  # the noise that is left after a pass is alike in neighbouring patches: so much of it counts


def denoise_by_groups(
    noisy: AnyArray, sigma: float, guide: Array, shape: GroupShape, options: CleaningOptions
) -> AnyArray:
    """An image (channels, *shape) without its noise.

    Parameters
    ----------
    noisy : (channels, *shape)
    sigma : float
        Standard deviation of the noise.
    guide : like `noisy`
        A first estimate, in which patches are compared in the first pass.
    shape : GroupShape
    options : CleaningOptions
    """
    xp = array_namespace(noisy)
    groups = find_groups(guide, shape, options)
    noise = xp.full_like(noisy[0, ...], (_FIRST_LEVEL * sigma) ** 2)
    estimate = mean_over_groups(noisy, groups, noise, options)
    for number in range(1, PASSES):
        if number % _MATCH_EVERY == 0:
            groups = find_groups(estimate, shape, options)
        shown = estimate + _FEEDBACK * (noisy - estimate)
        noise = _noise_left(noisy, shown, sigma, shape.patch_shape)
        estimate = mean_over_groups(shown, groups, noise, options)
    return estimate


def _noise_left(noisy: Array, shown: AnyArray, sigma: float, patch_shape: tuple[int, ...]) -> AnyArray:
    """Variance of the noise in each patch of `shown`: what was there, less what was taken away."""
    xp = array_namespace(shown)
    taken = patch_means(xp.mean((noisy - shown) ** 2, axis=0), patch_shape)
    return _LEFT**2 * xp.abs(sigma**2 - taken)
