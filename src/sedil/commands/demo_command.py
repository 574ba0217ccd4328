"""``sedil demo``: see it work, without any data of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sedil.commands.common import examples
from sedil.terminal import clear_errors

EXAMPLES = examples("sedil demo", "sedil demo --output first-look")


def demo(
    folder: Annotated[Path, typer.Option("--output", "-o", help="Folder for the results.")] = Path("demo"),
) -> None:
    """Learn a dictionary from pictures that scikit-image carries and denoise one, in about a minute."""
    from sedil.demo import run_demo

    with clear_errors():
        run_demo(folder)
