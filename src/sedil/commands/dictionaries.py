"""Dictionaries that commands are given by name."""

from __future__ import annotations

from pathlib import Path

import sedil
from sedil.pretrained import FOR_VOLUMES, NAMES


def named_dictionary(name: Path) -> sedil.SeparableDictionary:
    """The file of that name, else the shipped dictionary."""
    if not name.exists() and str(name) in NAMES + FOR_VOLUMES:
        return sedil.shipped_dictionary(str(name))
    return sedil.load_dictionary(name)
