"""Loading the shipped dictionaries."""

from __future__ import annotations

from functools import cache
from importlib.resources import as_file, files

from sedil.checks import require_choice
from sedil.dictionary import SeparableDictionary

NAMES = ("separable-8x8", "separable-12x12", "separable-16x16", "unstructured-8x8")
FOR_VOLUMES = ("separable-8x8x8",)


@cache
def shipped_dictionary(name: str) -> SeparableDictionary:
    """One of the shipped dictionaries.

    Parameters
    ----------
    name : {"separable-8x8", "separable-12x12", "separable-16x16", "unstructured-8x8", "separable-8x8x8"}
        The last is for volumes and stacks of frames.

    Returns
    -------
    SeparableDictionary
        float32 NumPy factors; ``info`` says from what and by which command it was learned.
    """
    require_choice(name, "name", NAMES + FOR_VOLUMES)
    with as_file(files("sedil.pretrained") / f"{name}.npz") as path:
        return SeparableDictionary.load(path)
