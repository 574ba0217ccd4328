"""Dictionaries that commands are given by name."""

from __future__ import annotations

from pathlib import Path

import sedil
from sedil.pretrained import FOR_VOLUMES, NAMES

SHIPPED = NAMES + FOR_VOLUMES
CHOICE = f"A dictionary file, or a shipped one by name: {', '.join(SHIPPED)}; default several."


def named_dictionary(name: Path) -> sedil.SeparableDictionary:
    """The file of that name, else the shipped dictionary."""
    if not name.exists() and str(name) in SHIPPED:
        return sedil.shipped_dictionary(str(name))
    return sedil.load_dictionary(name)
