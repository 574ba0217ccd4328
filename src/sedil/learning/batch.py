"""What a learner is given at a time."""

from __future__ import annotations

from typing import NamedTuple

from sedil.arrays import Array


class Batch(NamedTuple):
    """Some patches (n, *patch_shape), and where their entries are missing, if that is given."""

    patches: Array
    mask: Array | None = None
