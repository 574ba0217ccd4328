"""The paper's two figures of faces: examples; originals, what is left of them, and what is filled in."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sedil_studies.face_baselines import Filler
from sedil_studies.face_masks import make_masks

HOLES = ("centre 32", "half", "anywhere 32", "80 % of pixels", "centre 24")  # one for each column
_ZOOM, _GAP = 3, 12
_WHITE, _MISSING = 255, 255


def examples(training: np.ndarray) -> np.ndarray:
    """Five training faces side by side."""
    return _mosaic([_spread(training)])


def inpainted(faces: np.ndarray, fillers: Sequence[Filler]) -> np.ndarray:
    """Rows: five originals, the same with large regions missing, and a row for each filler."""
    chosen = _spread(faces)
    side = faces.shape[1]
    masks = np.stack([make_masks(hole, len(HOLES), side)[k] for k, hole in enumerate(HOLES)])
    broken = np.where(masks, np.float32(0), chosen)
    seen = np.where(masks, np.float32(_MISSING), chosen)
    return _mosaic([chosen, seen, *(fill(broken, masks) for fill in fillers)])


def _spread(faces: np.ndarray) -> np.ndarray:
    """As many faces as there are holes, evenly spread."""
    return faces[np.linspace(0, len(faces) - 1, len(HOLES)).astype(int)]


def _mosaic(rows: Sequence[np.ndarray]) -> np.ndarray:
    """Rows of faces as one grey picture."""
    pad = [(0, 0), (_GAP, 0), (_GAP, 0)]
    strips = []
    for row in rows:
        large = row.clip(0, 255).repeat(_ZOOM, axis=1).repeat(_ZOOM, axis=2)
        strips.append(np.hstack(list(np.pad(large, pad, constant_values=_WHITE))))
    picture = np.pad(np.vstack(strips), [(0, _GAP), (0, _GAP)], constant_values=_WHITE)
    return np.rint(picture).astype(np.uint8)
