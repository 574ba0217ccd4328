"""The command line ``sedil``: its commands, put together.

A module of `sedil.commands` loads what does the work when its command is called, so that help comes at once.
"""

from __future__ import annotations

from typing import Annotated

import typer

import sedil
from sedil.commands import (
    app_command,
    demo_command,
    denoise_command,
    inpaint_command,
    learn_command,
    show_command,
    study_commands,
)
from sedil.commands.common import examples
from sedil.terminal import console

_HELP = "Learn separable dictionaries, look at them, denoise and inpaint pictures with them."
_EXAMPLES = examples(
    "sedil denoise noisy.png clean.png",
    "sedil inpaint scratched.png mask.png whole.png",
    "sedil learn photos/ -o dict.npz",
    "sedil show separable-8x8",
)

app = typer.Typer(
    help=_HELP,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(epilog=learn_command.EXAMPLES)(learn_command.learn)
app.command(epilog=show_command.EXAMPLES)(show_command.show)
app.command(cls=denoise_command.DenoiseCommand, epilog=denoise_command.EXAMPLES)(denoise_command.denoise)
app.command(epilog=inpaint_command.EXAMPLES)(inpaint_command.inpaint)
app.command(epilog=demo_command.EXAMPLES)(demo_command.demo)
app.command(epilog=app_command.EXAMPLES)(app_command.app)
app.add_typer(study_commands.app, name="reproduce")
app.command(epilog=study_commands.BENCH_EXAMPLES)(study_commands.bench)


def _show_version(wanted: bool) -> None:
    if wanted:
        console.print(f"sedil {sedil.__version__}")
        raise typer.Exit


@app.callback(help=_HELP, epilog=_EXAMPLES)
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Options that stand before the command."""
