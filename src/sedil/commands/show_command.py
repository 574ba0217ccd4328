"""``sedil show``: the facts of a dictionary, and its atoms as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import sedil
from sedil.commands.common import SHIPPED, dictionaries_like, examples, is_among, require_usable_picture
from sedil.terminal import clear_errors, console

if TYPE_CHECKING:
    from rich.table import Table

EXAMPLES = examples("sedil show separable-8x8", "sedil show dict.npz --picture atoms.png --force")
_LABELS = {"n_patches": "patches trained on", "sedil": "sedil version"}
_SHAPES = ("patch_shape", "n_atoms")
_MOST_SHOWN = 5  # entries of a list


def show(
    dictionary: Annotated[
        Path,
        typer.Argument(
            help=f"A dictionary saved by sedil, or one of {SHIPPED}.",
            metavar="DICT.npz",
            autocompletion=dictionaries_like,
        ),
    ],
    picture: Annotated[
        Path | None,
        typer.Option(help="Where the picture of the atoms goes; default beside the file, or here."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="Overwrite an existing picture.")] = False,
) -> None:
    """Say what a dictionary is, and draw its atoms."""
    from sedil import mosaic
    from sedil.pretrained import as_dictionary

    with clear_errors():
        loaded = as_dictionary(dictionary)
        target = picture or dictionary.with_suffix(".png")
        if is_among(target, [dictionary]):
            raise FileExistsError(f"{target} is the dictionary itself: choose another --picture.")
        if picture is not None:
            require_usable_picture(picture, force)
        console.print(_facts(dictionary.name, loaded))
        if target.exists() and not force:
            console.print(f"picture      {target} (was there already; --force draws it anew)")
            return
        mosaic.save(loaded, target)
        console.print(f"picture      {target}")


def _facts(name: str, dictionary: sedil.SeparableDictionary) -> Table:
    from rich.table import Table

    from sedil.dictionary import format_atoms

    table = Table(title=name, show_header=False, title_justify="left")
    low, high = dictionary.coherence_bounds()
    table.add_row("patches", _shape(dictionary.patch_shape))
    table.add_row("atoms", format_atoms(dictionary.n_atoms))
    table.add_row("redundancy", f"{dictionary.redundancy:.3g}")
    table.add_row("mutual coherence", f"{dictionary.mutual_coherence():.4f} (bounds {low:.3f} to {high:.3f})")
    table.add_row("precision", str(dictionary.factors[0].dtype))
    if dictionary.signal_shape != dictionary.patch_shape:
        table.add_row("drawn as", _shape(dictionary.signal_shape))
    if dictionary.threshold is not None:
        table.add_row("threshold of denoising", f"{dictionary.threshold:g} sigma")
    for key, value in dictionary.info.items():
        if value is not None:
            table.add_row(_label(key), _readable(key, value))
    return table


def _shape(lengths: Sequence[int]) -> str:
    from sedil.dictionary import format_shape

    return format_shape(lengths)


def _label(key: str) -> str:
    return _LABELS.get(key, key.removeprefix("n_").replace("_", " "))


def _readable(key: str, value: Any) -> str:
    """A fact of ``info`` for people: short numbers, short lists, dicts as ``name: value; ...``."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict):
        return "; ".join(
            f"{_label(name)}: {_readable(name, part)}" for name, part in value.items() if part is not None
        )
    if isinstance(value, list | tuple):
        if key in _SHAPES:
            return _shape(value)
        more = len(value) - _MOST_SHOWN
        shown = ", ".join(_readable(key, part) for part in value[:_MOST_SHOWN])
        return f"{shown} and {more} more" if more > 0 else shown
    return str(value)
