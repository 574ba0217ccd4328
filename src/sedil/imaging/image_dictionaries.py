"""Which dictionaries the patches of an image are coded with, where the caller does not say, and how."""

from __future__ import annotations

from math import prod, sqrt
from typing import NamedTuple

from sedil import checks
from sedil.analytic import odct
from sedil.arrays import Array
from sedil.choices import CodingMethod, ShippedName
from sedil.dictionary import SeparableDictionary
from sedil.engines.contract import Cleaning, Effort, L1Coding, PursuitCoding
from sedil.patch_grid import PatchGrid
from sedil.pretrained import DictionaryLike, as_dictionary, shipped_dictionary

_L1_PENALTY = 2.0  # sigma; the best constant for plain l1
# sigma; from weak noise to strong 3.1 to 3.25 are within 0.05 dB of each other on photographs, 3.05 is worse
# (results/recipes.csv). A dictionary may know better: the atoms of the ODCT fit less well, so that detail
# needs a lower one.
_REFIT_PENALTY = 3.2
# On photographs a smaller gap or more looks change the PSNR by less than 0.01 dB. Where noise is so weak that
# most atoms are in use, the looks are what keeps a patch from taking milliseconds.
SUPPORT_EFFORT = Effort(tolerance=1e-3, max_iterations=100, max_looks=8)
_L1_EFFORT = Effort(tolerance=1e-3, max_iterations=200, max_looks=30)
REFIT_ITERATIONS = 12
# With the sides of their patches, and how many strides these are apart.
_SEPARABLE: tuple[tuple[ShippedName, int, int], ...] = (
    ("separable-8x8", 8, 1),
    ("separable-12x12", 12, 1),
    ("separable-16x16", 16, 2),
)


class Vote(NamedTuple):
    """A dictionary whose patches are averaged with those of others, and how many strides these are apart."""

    dictionary: SeparableDictionary
    strides: int = 1


def given_votes(dictionary: DictionaryLike | None) -> list[Vote]:
    """The dictionary of the caller alone; empty if there is none."""
    return [] if dictionary is None else [Vote(as_dictionary(dictionary))]


def default_votes(shape: tuple[int, ...]) -> list[Vote]:
    """The dictionaries whose patches are averaged: those that fit into an image of this shape."""
    # Stripes are rare in what the learned ones have learned from (benchmarks/together.py).
    waves = [Vote(odct((16, 16), 32), 2)] if len(shape) == 2 and min(shape) >= 16 else []
    return learned_votes(shape) + waves


def learned_votes(shape: tuple[int, ...]) -> list[Vote]:
    """The learned ones of them."""
    if len(shape) == 3:
        return [Vote(_default_for_volumes(shape), 2)]
    if len(shape) != 2:
        raise ValueError(
            f"There is no default dictionary for {len(shape)} axes: give one, for example "
            f"dictionary=sedil.odct({(8,) * len(shape)}, 16), or channel_axis for colour."
        )
    return [
        Vote(shipped_dictionary(name), strides)
        for name, side, strides in _SEPARABLE
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
        return shipped_dictionary("separable-8x8x8")
    block = [min(side, 8) for side in shape]
    return odct(block, [side * 3 // 2 for side in block])


def plan_cleaning(
    vote: Vote, image: Array, method: CodingMethod, sigma: float, threshold: float | None, stride: int
) -> Cleaning:
    """How the patches of a grey image are cleaned with one dictionary; `threshold` in multiples of sigma."""
    patch_shape = image_patch_shape(vote.dictionary, image.shape)
    if vote.strides > 1:  # the caller knows nothing of it, and no pixel may be left out
        stride = min(vote.strides * stride, min(patch_shape))
    return Cleaning(
        vote.dictionary.like(image).factors,
        PatchGrid(image.shape, patch_shape, stride),
        image_coding(vote.dictionary, method, sigma, threshold),
    )


def image_coding(
    dictionary: SeparableDictionary, method: CodingMethod, sigma: float, threshold: float | None = None
) -> L1Coding | PursuitCoding:
    """How patches with noise of this level are coded.

    Defaults of `threshold` were chosen on photographs that are not among the test images; for "pursuit" it is
    one standard deviation above the expected length of the noise.
    """
    n_entries = prod(dictionary.patch_shape)
    if method == "pursuit":
        per_entry = threshold or sqrt(1 + sqrt(2 / n_entries))
        return PursuitCoding(per_entry * sigma * sqrt(n_entries), max(n_entries // 2, 1))
    if method == "l1":
        return L1Coding((threshold or _L1_PENALTY) * sigma, _L1_EFFORT)
    penalty = (threshold or default_threshold(dictionary)) * sigma
    return L1Coding(penalty, SUPPORT_EFFORT, REFIT_ITERATIONS)


def default_threshold(dictionary: SeparableDictionary) -> float:
    """Of "refit", in multiples of sigma: the dictionary's own, if it has one."""
    return dictionary.threshold or _REFIT_PENALTY


def image_patch_shape(dictionary: SeparableDictionary, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Shape of the patches that a dictionary is for, if the image has as many axes and is as large."""
    patch_shape = dictionary.signal_shape
    if len(patch_shape) != len(shape):
        raise ValueError(
            f"The dictionary is for patches of {len(patch_shape)} axes ({patch_shape}), the image has "
            f"{len(shape)}: give one with as many, or channel_axis for colour."
        )
    checks.require_fits(shape, patch_shape, "The image", "give a dictionary of smaller patches")
    return patch_shape
