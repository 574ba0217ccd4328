"""The paper's Figure 1: the atoms of an unstructured and of a separable dictionary side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import sedil
from sedil import mosaic
from sedil.choices import ShippedName
from sedil.files import make_folder, replacing
from sedil_studies.harness.running import Summary, Written

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PANELS: dict[ShippedName, str] = {
    "unstructured-8x8": "(a) Unstructured dictionary",
    "separable-8x8": "(b) Separable dictionary",
}
_PIXELS_PER_ENTRY = 4
_DPI = 200
_GAP, _TITLE = 60, 70  # pixels between the panels and above them


def draw() -> Figure:
    """Both shipped dictionaries of 8x8 patches: black most negative, grey zero, white most positive.

    The panels are a whole number of pixels per entry, so that all entries look equally large.
    """
    from matplotlib.figure import Figure

    dictionaries = [sedil.shipped_dictionary(name) for name in PANELS]
    heights, widths = zip(*(mosaic.draw(each, zoom=1).shape for each in dictionaries), strict=True)
    height, width = (_PIXELS_PER_ENTRY * max(sides) for sides in (heights, widths))
    whole = (len(PANELS) * width + (len(PANELS) + 1) * _GAP, height + _GAP + _TITLE)
    figure = Figure(figsize=(whole[0] / _DPI, whole[1] / _DPI), dpi=_DPI)
    for k, (dictionary, title) in enumerate(zip(dictionaries, PANELS.values(), strict=True)):
        left = _GAP + k * (width + _GAP)
        box = (left / whole[0], _GAP / whole[1], width / whole[0], height / whole[1])
        sedil.plot_atoms(dictionary, ax=figure.add_axes(box)).set_title(title, fontsize=9)
    return figure


def save(path: Path) -> None:
    """Draw it into a file, in the format of its suffix."""
    figure = draw()
    with replacing(path) as stream:
        figure.savefig(stream, format=path.suffix.removeprefix("."))


def reproduce(output: Path) -> Summary:
    """Draw it into a folder, as ``sedil reproduce figure1`` says."""
    make_folder(output, parents=True)
    save(output / "figure1.png")
    return Summary((), Written([("picture", output / "figure1.png")]), finished=True)
