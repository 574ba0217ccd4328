"""Engines: how the products with the factors are computed, apart from what is done with them."""
