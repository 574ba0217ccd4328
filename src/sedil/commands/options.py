"""Options that several commands take in the same words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, get_args

import typer

from sedil.choices import ShippedName

SHIPPED = ", ".join(get_args(ShippedName))

Dictionary = Annotated[
    Path | None,
    typer.Option(
        "--dictionary",
        "-d",
        help=f"A dictionary file, or a shipped one by name: {SHIPPED}; default several.",
    ),
]
Threads = Annotated[int | None, typer.Option(min=1, help="Threads to compute with; default one per core.")]
Force = Annotated[bool, typer.Option("--force", "-f", help="Overwrite existing files.")]
