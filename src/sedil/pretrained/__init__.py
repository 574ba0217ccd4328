"""Shipped dictionaries, learned by this package from images that are free to use (see README.md here)."""

from sedil.pretrained.shipped import NAMES, for_noise, shipped_dictionary

__all__ = ["NAMES", "for_noise", "shipped_dictionary"]
