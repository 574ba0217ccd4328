"""The paper's two figures of faces: examples; originals, what is left of them, and what is filled in."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sedil_studies.faces.masks import make_masks
from sedil_studies.harness.method import Filler
from sedil_studies.harness.panels import side_by_side

HOLES = ("centre 32", "half", "anywhere 32", "80 % of pixels", "centre 24")  # one for each column
_MISSING = 255  # shown white


def examples(training: np.ndarray) -> np.ndarray:
    """Five training faces side by side."""
    return _together([_spread(training)])


def inpainted(faces: np.ndarray, fillers: Sequence[Filler]) -> np.ndarray:
    """Rows: five originals, the same with large regions missing, and a row for each filler."""
    chosen = _spread(faces)
    side = faces.shape[1]
    masks = np.stack([make_masks(hole, len(HOLES), side)[k] for k, hole in enumerate(HOLES)])
    broken = np.where(masks, np.float32(0), chosen)
    seen = np.where(masks, np.float32(_MISSING), chosen)
    return _together([chosen, seen, *(fill(broken, masks) for fill in fillers)])


def _spread(faces: np.ndarray) -> np.ndarray:
    """As many faces as there are holes, evenly spread."""
    return faces[np.linspace(0, len(faces) - 1, len(HOLES)).astype(int)]


def _together(rows: Sequence[np.ndarray]) -> np.ndarray:
    return side_by_side([list(row) for row in rows], gap=12, zoom=3, framed=True)
