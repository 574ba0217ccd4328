"""Shipped dictionaries, learned by this package from images that are free to use (see README.md here)."""

from sedil.pretrained.shipped import NAMES, shipped_dictionary

__all__ = ["NAMES", "shipped_dictionary"]
