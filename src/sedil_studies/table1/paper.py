"""The figures that the paper prints: its table of denoising results, cell by cell.

Table 1 of Hawe, Seibert, Kleinsteuber (CVPR 2013). A cell is one image at one noise level; it holds PSNR in
dB and SSIM for five methods: top left K-SVD, top right unstructured, middle left ODCT, middle right
separable, bottom BM3D. The file ``printed.csv`` has a line per metric, method and sigma.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

IMAGES = ("lena", "barbara", "boat", "peppers", "house")
SIGMAS = (5, 10, 20, 30, 50)
METHODS = ("ksvd", "unstructured", "odct", "separable", "bm3d")
_FILE = Path(__file__).with_name("printed.csv")


def printed(metric: str, method: str, image: str, sigma: int) -> float | None:
    """What the paper prints for one method in one cell; None where it prints nothing.

    Parameters
    ----------
    metric : {"psnr", "ssim"}
    method, image, sigma : as in the results; methods past the paper have no figure
    """
    line = _lines().get((metric, method, str(sigma)))
    return None if line is None else float(line[image])


@cache
def _lines() -> dict[tuple[str, str, str], dict[str, str]]:
    with _FILE.open(encoding="utf-8", newline="") as stream:
        return {(line["metric"], line["method"], line["sigma"]): line for line in csv.DictReader(stream)}
