"""A method of a study: a way to restore pictures, made ready once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import numpy as np

from sedil_studies.harness.meter import Show, silent

T = TypeVar("T")
Denoiser = Callable[[np.ndarray, float], np.ndarray]  # from noisy pixels and sigma to clean ones
Filler = Callable[..., np.ndarray]  # from pixels and a mask, True where they are missing, to whole pictures


class Method(Generic[T]):
    """One line or column of a table.

    Parameters
    ----------
    settings : str
        All that decides the result besides versions, in words.
    prepare : callable
        Does what takes long and is done once, off the clock, such as learning and compiling, and returns
        the method ready for use. It is given a function that shows how far it is.
    package : str, optional
        That of a peer, with its version; empty for methods of sedil.
    """

    def __init__(self, settings: str, prepare: Callable[[Show], T], package: str = "") -> None:
        self.settings = settings
        self.package = package
        self._prepare = prepare
        self._prepared: list[T] = []

    @classmethod
    def at_hand(cls, settings: str, function: T, package: str = "") -> Method[T]:
        """A method that needs no preparation."""
        return cls(settings, lambda show: function, package)

    def ready(self, show: Show = silent) -> T:
        """The method, prepared when it is asked for the first time."""
        if not self._prepared:
            self._prepared.append(self._prepare(show))
        return self._prepared[0]
