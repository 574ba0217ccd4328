"""Engines: how the products with the factors are computed, apart from what is done with them."""

from sedil.engines.choice import ENGINES, choose_engine

__all__ = ["ENGINES", "choose_engine"]
