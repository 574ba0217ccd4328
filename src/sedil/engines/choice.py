"""Which engine computes: the arrays decide, unless the caller does. The only place where one is picked."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Literal, get_args

from sedil.arrays import Array
from sedil.checks import short
from sedil.engines.contract import Engine

# Packages here whose `ENGINE` keeps the contract, the most wanted first. The last one takes all arrays.
EngineName = Literal["fused", "portable"]
ENGINES: dict[str, str] = {name: f"sedil.engines.{name}" for name in get_args(EngineName)}


def choose_engine(
    name: EngineName | None, array: Array, n_atoms: Sequence[int], *, masked: bool = False
) -> Engine:
    """The engine of that name; without a name the first that suits the array and the dictionary.

    Parameters
    ----------
    name : one of `ENGINES`, or None
    array : what will be computed on: its library, device and precision count
    n_atoms : atoms of each factor
    masked : whether a dictionary is to be learned from an array with missing entries
    """
    if name is None:
        return next(engine for engine in map(_load, ENGINES) if engine.suits(array, n_atoms, masked))
    engine = _load(require_engine(name))
    refusal = engine.refusal(array, masked)
    if refusal:
        raise ValueError(refusal)
    return engine


def require_engine(name: EngineName) -> EngineName:
    """The name of an engine."""
    if not isinstance(name, str) or name not in ENGINES:
        raise ValueError(f"engine must be one of {', '.join(map(repr, ENGINES))} or None, got {short(name)}.")
    return name


def _load(name: str) -> Engine:
    return import_module(ENGINES[name]).ENGINE
