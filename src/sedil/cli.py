"""The command line ``sedil``: its commands, put together.

A module of `sedil.commands` loads what does the work when its command is called, so that help comes at once.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import sedil
from sedil.commands import demo_command, denoise_command, inpaint_command, learn_command, show_command
from sedil.terminal import console

_HELP = "Learn separable dictionaries, look at them, denoise and inpaint pictures with them."
_STUDIES = {
    "reproduce": "Reproduce the paper's table and figures.",
    "bench": "Measure how fast sedil is, beside SPAMS, scikit-learn, BM3D and JAX where they are installed.",
}


class _Commands(TyperGroup):
    """Commands of studies are listed by name, and loaded when they are called."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] in _STUDIES:
            self.commands[args[0]] = _load_study(args[0])
        return super().resolve_command(ctx, args)


def _load_study(name: str) -> Any:
    from sedil_studies import commands as reproduce
    from sedil_studies.bench import commands as bench

    studies = typer.Typer(add_completion=False)
    studies.add_typer(reproduce.app, name="reproduce")
    studies.command()(bench.bench)
    return typer.main.get_command(studies).commands[name]  # type: ignore[attr-defined]


app = typer.Typer(
    cls=_Commands,
    help=_HELP,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(learn_command.learn)
app.command()(show_command.show)
app.command(cls=denoise_command.DenoiseCommand, epilog=denoise_command.EXAMPLES)(denoise_command.denoise)
app.command(epilog=inpaint_command.EXAMPLES)(inpaint_command.inpaint)
app.command()(demo_command.demo)
for _name, _words in _STUDIES.items():
    app.command(_name, help=_words)(lambda: None)


def _show_version(wanted: bool) -> None:
    if wanted:
        console.print(f"sedil {sedil.__version__}")
        raise typer.Exit


@app.callback(help=_HELP)
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Options that stand before the command."""
