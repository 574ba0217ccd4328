"""The paper's two figures of faces: examples; originals, what is left of them, and what is filled in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sedil.panels import Panel, side_by_side
from sedil_studies.faces.masks import make_masks
from sedil_studies.harness.method import Filler
from sedil_studies.measures.inside import psnr_inside

HOLES = ("centre 32", "half", "anywhere 32", "80 % of pixels", "centre 24")  # one for each column
_MISSING = 255  # shown white


def examples(training: np.ndarray) -> np.ndarray:
    """Five training faces side by side."""
    return _together([[("", face) for face in _spread(training)]])


def inpainted(faces: np.ndarray, fillers: Mapping[str, Filler]) -> np.ndarray:
    """Rows: five originals, the same with large regions missing, and a row for each filler, with its PSNR."""
    chosen = _spread(faces)
    side = faces.shape[1]
    masks = np.stack([make_masks(hole, len(HOLES), side)[k] for k, hole in enumerate(HOLES)])
    broken = np.where(masks, np.float32(0), chosen)
    seen = np.where(masks, np.float32(_MISSING), chosen)
    rows: list[list[Panel]] = [[("original", face) for face in chosen], list(zip(HOLES, seen, strict=True))]
    for name, fill in fillers.items():
        filled = fill(broken, masks)
        quality = map(psnr_inside, filled, chosen, masks)
        rows.append([(f"{name}: {psnr:.1f} dB", face) for psnr, face in zip(quality, filled, strict=True)])
    return _together(rows)


def _spread(faces: np.ndarray) -> np.ndarray:
    """As many faces as there are holes, evenly spread."""
    return faces[np.linspace(0, len(faces) - 1, len(HOLES)).astype(int)]


def _together(rows: Sequence[Sequence[Panel]]) -> np.ndarray:
    return side_by_side(rows, gap=12, zoom=3, framed=True)
