"""Options that several commands take in the same words.

What can be chosen is repeated here, so that the help of a command does not load what does the work.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

SHIPPED = ("separable-8x8", "separable-12x12", "separable-16x16", "unstructured-8x8", "separable-8x8x8")

Dictionary = Annotated[
    Path | None,
    typer.Option(
        "--dictionary",
        "-d",
        help=f"A dictionary file, or a shipped one by name: {', '.join(SHIPPED)}; default several.",
    ),
]
Threads = Annotated[int | None, typer.Option(min=1, help="Threads to compute with; default one per core.")]
Force = Annotated[bool, typer.Option("--force", "-f", help="Overwrite existing files.")]
