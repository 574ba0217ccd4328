"""Dictionaries that commands are given by name."""

# until learn and denoise take progress=: sedil.pretrained.as_dictionary takes the place of this module.

from __future__ import annotations

from pathlib import Path

import sedil
from sedil.commands.options import SHIPPED


def named_dictionary(name: Path) -> sedil.SeparableDictionary:
    """The file of that name, else the shipped dictionary."""
    if name.exists():
        return sedil.load_dictionary(name)
    if str(name) in SHIPPED:
        return sedil.shipped_dictionary(str(name))
    raise FileNotFoundError(
        f"There is no file {name}, nor a shipped dictionary of that name: those are {', '.join(SHIPPED)}."
    )
