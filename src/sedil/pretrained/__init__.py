"""Shipped dictionaries, learned by this package from images that are free to use (see README.md here)."""

from sedil.pretrained.shipped import (
    FOR_VOLUMES,
    NAMES,
    SHIPPED,
    DictionaryLike,
    as_dictionary,
    load_dictionary,
    shipped_dictionary,
)

__all__ = [
    "FOR_VOLUMES",
    "NAMES",
    "SHIPPED",
    "DictionaryLike",
    "as_dictionary",
    "load_dictionary",
    "shipped_dictionary",
]
