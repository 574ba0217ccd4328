"""``sedil app``: the page in a browser."""

from __future__ import annotations

from typing import Annotated

import typer

from sedil.commands.common import examples
from sedil.terminal import clear_errors

EXAMPLES = examples("sedil app", "sedil app --port 8080 --no-browser", "sedil app --host 0.0.0.0")


def app(
    host: Annotated[
        str, typer.Option(help="Address to listen at; 0.0.0.0 lets other machines in.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="Default: the first from 7860 on that is free."),
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser of this machine.")] = True,
) -> None:
    """Denoise, fill and learn in a browser, with pictures that stay on this machine (extra: app)."""
    from sedil.app.serving import serve

    with clear_errors():
        serve(host, port, browser)
