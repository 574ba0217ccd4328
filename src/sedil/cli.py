"""The command line: parse, call one library function, show."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

import sedil
from sedil import mosaic
from sedil.errors import require_folder

app = typer.Typer(
    help="Learn separable dictionaries and look at them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
console = Console(highlight=False)
complaints = Console(stderr=True, highlight=False)


@contextmanager
def clear_errors() -> Iterator[None]:
    """Turn an expected error into one sentence and exit code 1; anything else is a bug and is shown whole."""
    try:
        yield
    except (ValueError, TypeError, OSError) as error:
        complaints.print(f"[bold red]error:[/] {error}", soft_wrap=True)
        raise typer.Exit(1) from error


def _lengths(text: str) -> tuple[int, ...]:
    """``8x8`` or ``8,8`` or ``64`` as numbers."""
    try:
        return tuple(int(part) for part in text.replace(",", "x").split("x"))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a list of lengths such as 8x8.") from None


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
    """Learn separable dictionaries and look at them."""


@app.command()
def learn(
    images: Annotated[list[Path], typer.Argument(help="Images or folders of images.", metavar="IMAGES...")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the dictionary is saved (.npz).")],
    patch: Annotated[
        Any, typer.Option("--patch", "-p", parser=_lengths, metavar="HxW", help="Shape of a patch.")
    ] = "8x8",
    atoms: Annotated[
        Any,
        typer.Option(
            "--atoms",
            "-a",
            parser=_lengths,
            metavar="AxB",
            help="Atoms per axis; default twice the patch, or four times its size if unstructured.",
        ),
    ] = None,
    patches: Annotated[int, typer.Option("--patches", "-n", help="Number of training patches.")] = 20_000,
    seed: Annotated[int, typer.Option(help="Seed of patch positions and initial atoms.")] = 0,
    iterations: Annotated[int, typer.Option(help="Iterations at most.")] = 500,
    initial: Annotated[str, typer.Option(help="Atoms to start from: random, odct or data.")] = "random",
    preset: Annotated[str, typer.Option(help="Weights of the cost: data or paper.")] = "data",
    unstructured: Annotated[
        bool, typer.Option("--unstructured", help="One ordinary dictionary over whole patches.")
    ] = False,
    picture: Annotated[
        Path | None, typer.Option(help="Where the picture of the atoms goes; default beside OUTPUT.")
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Save the state here now and then; go on from it if it exists.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="Overwrite existing files.")] = False,
) -> None:
    """Learn a dictionary from images."""
    from sedil.imaging.images import find_images, read_grey
    from sedil.progress import progress_bar

    with clear_errors():
        output = output if output.suffix == ".npz" else output.with_name(output.name + ".npz")
        picture = picture or output.with_suffix(".png")
        _require_writable(output, force)
        _require_writable(picture, force)
        files = find_images(images)
        console.print(f"reading {len(files)} image{'s' if len(files) > 1 else ''}")
        samples = sedil.sample_patches([read_grey(file) for file in files], patch, patches, seed)
        training = sedil.normalize_patches(samples)
        dropped = len(samples) - len(training)
        console.print(
            f"{len(training)} patches of {_by(patch)}"
            + (f" ({dropped} flat ones left out)" if dropped else "")
            + "; Ctrl-C stops early and keeps what is learned"
        )
        if unstructured:
            training = training.reshape(len(training), -1)
        with progress_bar(iterations) as show:
            result = sedil.learn(
                training,
                atoms or _default_atoms(patch, unstructured),
                initial=initial,
                preset=preset,
                max_iterations=iterations,
                random_state=seed,
                callback=show,
                checkpoint=checkpoint,
                resume=checkpoint is not None,
            )
        result.dictionary.info.update(
            images=[file.name for file in files], seed=seed, signal_shape=list(patch), sedil=sedil.__version__
        )
        result.dictionary.save(output)
        mosaic.save(result.dictionary, picture)
    console.print(str(result), markup=False, soft_wrap=True)
    console.print(f"saved        {output}\npicture      {picture}")


@app.command()
def show(
    dictionary: Annotated[Path, typer.Argument(help="A dictionary saved by sedil.", metavar="DICT.npz")],
    picture: Annotated[
        Path | None, typer.Option(help="Where the picture of the atoms goes; default beside the file.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="Overwrite an existing picture.")] = False,
) -> None:
    """Say what a dictionary is, and draw its atoms."""
    with clear_errors():
        loaded = sedil.load_dictionary(dictionary)
        console.print(_facts(dictionary.name, loaded))
        target = picture or dictionary.with_suffix(".png")
        if target.exists() and picture is None and not force:
            console.print(f"picture      {target} (was there already; --force draws it anew)")
            return
        _require_writable(target, force)
        mosaic.save(loaded, target)
    console.print(f"picture      {target}")


@app.command()
def demo(
    folder: Annotated[Path, typer.Option("--output", "-o", help="Folder for the results.")] = Path("demo"),
) -> None:
    """Learn a dictionary from pictures that scikit-image carries, in about a minute."""
    from sedil.demo import run_demo

    with clear_errors():
        run_demo(folder, console)


def _default_atoms(patch: tuple[int, ...], unstructured: bool) -> tuple[int, ...]:
    return (4 * prod(patch),) if unstructured else tuple(2 * side for side in patch)


def _facts(name: str, dictionary: sedil.SeparableDictionary) -> Table:
    table = Table(title=name, show_header=False, title_justify="left")
    low, high = dictionary.coherence_bounds()
    table.add_row("patches", _by(dictionary.patch_shape))
    table.add_row("atoms", f"{_by(dictionary.n_atoms)} = {prod(dictionary.n_atoms)}")
    table.add_row("redundancy", f"{dictionary.redundancy:.3g}")
    table.add_row("mutual coherence", f"{dictionary.mutual_coherence():.4f} (bounds {low:.3f} to {high:.3f})")
    table.add_row("precision", str(dictionary.factors[0].dtype))
    for key, value in dictionary.info.items():
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        table.add_row(key.replace("_", " "), text)
    return table


def _require_writable(path: Path, force: bool) -> None:
    if path.exists() and not force:
        raise FileExistsError(f"{path} exists already: choose another name or add --force.")
    require_folder(path)


def _by(lengths: tuple[int, ...]) -> str:
    return "x".join(map(str, lengths))
