"""Shipped dictionaries, learned by this package from images that are free to use (see README.md here)."""

from sedil.pretrained.shipped import DEFAULT, NAMES, shipped_dictionary

__all__ = ["DEFAULT", "NAMES", "shipped_dictionary"]
