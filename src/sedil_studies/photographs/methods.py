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
from sedil_studies.harness.sedil_denoisers import filling_in_words
from sedil_studies.peers.biharmonic import biharmonic_fill
from sedil_studies.peers.packages import SCIKIT_IMAGE
from sedil_studies.photographs.masks import make_mask

_WARM_SIDE = 32  # of the image that everything is compiled with
_ODCT = (12, 12), (24, 24)  # patches and atoms


def _groups(threads: int) -> Method[Filler]:
    return _warm(filling_in_words(n_axes=2), partial(sedil.inpaint, threads=threads))


def _quick(threads: int) -> Method[Filler]:
    atoms = fingerprint_of_atoms(*map(sedil.shipped_dictionary, SHIPPED))  # it chooses among them
    fill = partial(sedil.inpaint, method="quick", threads=threads)
    return _warm(f"sedil.inpaint, method quick ({atoms}), 18 passes or more", fill)


def _odct(threads: int) -> Method[Filler]:
    fill = partial(sedil.inpaint, dictionary=sedil.odct(*_ODCT), threads=threads)
    return _warm("ODCT of 12x12, 24x24 atoms, 18 passes or more", fill)


def _biharmonic(threads: int) -> Method[Filler]:
    return _warm(f"inpaint_biharmonic of {SCIKIT_IMAGE.version()}", biharmonic_fill)


METHODS: dict[str, Callable[[int], Method[Filler]]] = {
    "biharmonic": _biharmonic,
    "odct": _odct,
    "quick": _quick,
    "groups": _groups,
}


def _warm(settings: str, fill: Filler) -> Method[Filler]:
    """A method that has filled a tiny image, so that what is compiled on first use is not on the clock."""

    def prepare(show: Show) -> Filler:
        ramp = np.add.outer(np.arange(float(_WARM_SIDE)), np.arange(float(_WARM_SIDE)))
        fill(ramp, make_mask("50 % of pixels", ramp.shape))
        return fill

    return Method(settings, prepare)
