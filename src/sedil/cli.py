"""The command line ``sedil``: its commands, put together."""

from __future__ import annotations

from typing import Annotated

import typer

import sedil
from sedil.commands import bench, demo, denoise, inpaint, learn, reproduce, show
from sedil.terminal import console

app = typer.Typer(
    help="Learn separable dictionaries, look at them, denoise and inpaint pictures with them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(learn.learn)
app.command()(show.show)
app.command(epilog=denoise.EXAMPLES)(denoise.denoise)
app.command(epilog=inpaint.EXAMPLES)(inpaint.inpaint)
app.command()(demo.demo)
app.add_typer(reproduce.app, name="reproduce")
app.command()(bench.bench)


def _show_version(wanted: bool) -> None:
    if wanted:
        console.print(f"sedil {sedil.__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Learn separable dictionaries, look at them, denoise and inpaint pictures with them."""
