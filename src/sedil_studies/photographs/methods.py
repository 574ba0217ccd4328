"""The methods of the study, by name: each takes an image and its mask and returns the filled image."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

import sedil
from sedil.pretrained import NAMES as SHIPPED
from sedil_studies.harness.learned import fingerprint_of_atoms
from sedil_studies.harness.meter import Show
from sedil_studies.harness.method import Filler, Method
from sedil_studies.peers.biharmonic import biharmonic_fill
from sedil_studies.peers.packages import SCIKIT_IMAGE
from sedil_studies.photographs.masks import make_mask

_ODCT = (12, 12), (24, 24)  # patches and atoms


def _default(threads: int) -> Method[Filler]:
    atoms = fingerprint_of_atoms(*map(sedil.shipped_dictionary, SHIPPED))  # it chooses among them
    return _warm(f"defaults of sedil.inpaint ({atoms})", partial(sedil.inpaint, threads=threads))


def _odct(threads: int) -> Method[Filler]:
    fill = partial(sedil.inpaint, dictionary=sedil.odct(*_ODCT), threads=threads)
    return _warm("ODCT of 12x12, 24x24 atoms", fill)


def _biharmonic(threads: int) -> Method[Filler]:
    return _warm(f"inpaint_biharmonic of {SCIKIT_IMAGE.version()}", biharmonic_fill)


METHODS: dict[str, Callable[[int], Method[Filler]]] = {
    "biharmonic": _biharmonic,
    "odct": _odct,
    "default": _default,
}


def _warm(settings: str, fill: Filler) -> Method[Filler]:
    """A method that has filled a tiny image, so that what is compiled on first use is not on the clock."""

    def prepare(show: Show) -> Filler:
        ramp = np.add.outer(np.arange(32.0), np.arange(32.0))
        fill(ramp, make_mask("50 % of pixels", ramp.shape))
        return fill

    return Method(settings, prepare)
