"""The photographs that some tests need: research data that does not ship with the package."""

import os
from pathlib import Path

import pytest

from sedil.image_files.grey_images import read_grey

FOLDER = Path(os.environ.get("SEDIL_DATA", Path(__file__).parents[2] / "shared/data"))

needs_photographs = pytest.mark.skipif(
    not (FOLDER / "images/train").is_dir(),
    reason=f"there are no photographs in {FOLDER}: set SEDIL_DATA to a folder that holds images/train",
)


def photograph(name, part="train"):
    return read_grey(FOLDER / "images" / part / f"{name}.png")
