"""The first guess of a clean image, in which alike patches are sought.

Where noise is strong, patches that seem alike in the noisy image share noise. A dictionary of large patches,
few of them, takes most of it away in a tenth of the time that the groups take.
"""

from __future__ import annotations

from typing import Literal

from sedil.arrays import Array
from sedil.choices import ShippedName
from sedil.engines.contract import Cleaning
from sedil.imaging.image_dictionaries import Vote, plan_cleaning
from sedil.pretrained import DictionaryLike, as_dictionary, shipped_dictionary

# The noisy image itself, a pass of groups that were sought in it, or patches cleaned over a dictionary.
Guide = Literal["noisy", "groups"] | Cleaning

# Of the shipped dictionaries that of the largest patches is the best guide, with few of them
# (docs/groups.md).
_NAME: ShippedName = "separable-16x16"
_SIDE, _STRIDE = 16, 4


def plan_guide(channel: Array, sigma: float, dictionary: DictionaryLike | None, is_weak: bool) -> Guide:
    """What suits channels like this one, with noise that is weak beside what they hold, or not."""
    if dictionary is not None:
        return plan_cleaning(Vote(as_dictionary(dictionary), 2), channel, "refit", sigma, None, 1)
    if is_weak:
        return "noisy"
    if channel.ndim != 2 or min(channel.shape) < _SIDE:
        return "groups"
    return plan_cleaning(Vote(shipped_dictionary(_NAME)), channel, "refit", sigma, None, _STRIDE)
