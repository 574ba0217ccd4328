"""A row of the results on photographs."""

from __future__ import annotations

from typing import NamedTuple

from sedil_studies.harness.row_kind import RowKind


class PhotographRow(NamedTuple):
    """One method on one image with one mask.

    Attributes
    ----------
    image, mask, method : what was run
    missing : share of the pixels
    psnr : over the missing pixels alone, on the scale 0 to 255
    ssim : of the whole image
    seconds : of the method alone
    threads : it was given
    settings : of the method
    sedil, numpy : versions
    commit : of the code that made it
    """

    image: str
    mask: str
    method: str
    missing: float
    psnr: float
    ssim: float
    seconds: float
    threads: int
    settings: str
    sedil: str
    numpy: str
    commit: str = ""


PHOTOGRAPHS = RowKind(
    PhotographRow, cell=("image", "mask", "method"), made_with=("settings", "sedil", "numpy")
)
