"""Engines: how things are computed, apart from what is done with them."""

from sedil.engines.choice import ENGINES, EngineName, choose_engine, require_engine

__all__ = ["ENGINES", "EngineName", "choose_engine", "require_engine"]
