"""``sedil learn``: a dictionary from images."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

import sedil
from sedil import mosaic
from sedil.commands.places import is_among, require_free, require_free_picture
from sedil.dictionary import format_shape
from sedil.files import require_writable
from sedil.learning.defaults import PRESETS, choose_atoms
from sedil.learning.initial import STARTS
from sedil.terminal import clear_errors, console, counted

if TYPE_CHECKING:
    from sedil.imaging.patch_stream import PatchStream

_PATCHES, _STREAMED_PATCHES = 20_000, 100_000
_ITERATIONS = 500
_BATCH_SIZE = 1000

Start = Enum("Start", {name: name for name in STARTS})  # type: ignore[misc]
Preset = Enum("Preset", {name: name for name in PRESETS})  # type: ignore[misc]


def _lengths(text: str) -> tuple[int, ...]:
    """``8x8`` or ``8,8`` or ``64`` as numbers."""
    try:
        return tuple(int(part) for part in text.replace(",", "x").split("x"))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a list of lengths such as 8x8.") from None


def _patch_sides(text: str) -> tuple[int, ...]:
    sides = _lengths(text)
    if len(sides) not in (2, 3) or min(sides) < 1:
        raise typer.BadParameter(f"{text!r} is not two or three sides of at least 1 such as 8x8 or 8x8x8.")
    return sides


def learn(
    images: Annotated[
        list[Path], typer.Argument(help="Images, volumes, or folders of them.", metavar="IMAGES...")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the dictionary is saved (.npz).")],
    patch: Annotated[
        Any,
        typer.Option(
            "--patch", "-p", parser=_patch_sides, metavar="HxW", help="Shape of a patch; 8x8x8 for volumes."
        ),
    ] = "8x8",
    atoms: Annotated[
        Any,
        typer.Option(
            "--atoms",
            "-a",
            parser=_lengths,
            metavar="AxB",
            help="Atoms per axis, one number for all; default twice the patch, or four times its size if "
            "unstructured.",
        ),
    ] = None,
    patches: Annotated[
        int | None,
        typer.Option(
            "--patches",
            "-n",
            min=1,
            help=f"Number of training patches; default {_PATCHES:,}, with --minibatch {_STREAMED_PATCHES:,}.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of patch positions and initial atoms.")] = 0,
    iterations: Annotated[
        int | None, typer.Option(min=0, help=f"Iterations at most; default {_ITERATIONS}.")
    ] = None,
    minibatch: Annotated[
        bool,
        typer.Option(
            "--minibatch", help="A batch at a time: sooner done, and images need not fit into memory."
        ),
    ] = False,
    batch_size: Annotated[
        int | None, typer.Option(min=1, help=f"Patches in a batch; default {_BATCH_SIZE:,}.")
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(min=1, help="How often the patches of --minibatch are gone through.")
    ] = None,
    initial: Annotated[Start, typer.Option(help="Atoms to start from.")] = Start["random"],
    preset: Annotated[Preset, typer.Option(help="Where the weights of the cost come from.")] = Preset["data"],
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
    from sedil.image_files.images import find_training_files

    with clear_errors():
        _require_options_of_one_kind(minibatch, iterations=iterations, batch_size=batch_size, epochs=epochs)
        files = find_training_files(images, len(patch))
        output, picture = _places(output, picture, files, force)
        if checkpoint is not None:
            _require_own_place(checkpoint, (output, picture), files)
        sides = (prod(patch),) if unstructured else patch
        n_atoms = choose_atoms(atoms[0] if atoms and len(atoms) == 1 else atoms, sides)
        settings = {
            "initial": initial.value,
            "preset": preset.value,
            "random_state": seed,
            "checkpoint": checkpoint,
            "resume": checkpoint is not None,
        }
        if minibatch:
            stream = sedil.stream_patches(
                files, patch, patches or _STREAMED_PATCHES, seed, flatten=unstructured
            )
            limits = {"batch_size": batch_size or _BATCH_SIZE, "n_epochs": epochs or 1}
            result = _learn_from_stream(stream, n_atoms, settings | limits)
        else:
            training = _training_patches(files, patch, patches or _PATCHES, seed)
            limits = {"max_iterations": _ITERATIONS if iterations is None else iterations}
            result = _learn_jointly(training.reshape(len(training), *sides), n_atoms, settings | limits)
        result.dictionary.info.update(
            images=[file.name for file in files], seed=seed, signal_shape=list(patch), sedil=sedil.__version__
        )
        result.dictionary.save(output)
        console.print(str(result))
        console.print(f"saved        {output}")
        mosaic.save(result.dictionary, picture)
        console.print(f"picture      {picture}")


def _learn_jointly(
    training: np.ndarray, n_atoms: tuple[int, ...], settings: dict[str, Any]
) -> sedil.LearningResult:
    return sedil.learn(training, n_atoms, progress=True, **settings)


def _learn_from_stream(
    stream: PatchStream, n_atoms: tuple[int, ...], settings: dict[str, Any]
) -> sedil.LearningResult:
    console.print(
        f"{counted(stream.n_patches, 'patch', 'patches')} from {counted(len(stream.files), 'image')}, "
        f"read while learning; Ctrl-C stops early and keeps what is learned"
    )
    return sedil.learn_minibatch(stream, n_atoms, progress=True, **settings)


def _require_options_of_one_kind(minibatch: bool, **given: int | None) -> None:
    """Options that the chosen way of learning does not know are refused, not ignored."""
    foreign = ("iterations",) if minibatch else ("batch_size", "epochs")
    for name in foreign:
        if given[name] is not None:
            option = "--" + name.replace("_", "-")
            raise ValueError(
                f"{option} does not go with --minibatch: use --batch-size and --epochs."
                if minibatch
                else f"{option} goes with --minibatch: add it or leave {option} out."
            )


def _places(output: Path, picture: Path | None, images: Sequence[Path], force: bool) -> tuple[Path, Path]:
    """Where dictionary and picture go, once it is sure that they can be written there."""
    if output.is_dir():
        raise IsADirectoryError(f"{output} is a folder: give the name of a file.")
    if output.suffix != ".npz":
        output = output.with_name(output.name + ".npz")
    picture = picture or output.with_suffix(".png")
    for path in (output, picture):
        if is_among(path, images):
            raise FileExistsError(
                f"{path} is one of the training images: choose another --output or --picture."
            )
    require_free(output, force)
    require_free_picture(picture, force)
    return output, picture


def _require_own_place(checkpoint: Path, results: Sequence[Path], images: Sequence[Path]) -> None:
    """A checkpoint overwrites neither the images nor what is learned from them."""
    if checkpoint.resolve() in [result.resolve() for result in results]:
        raise FileExistsError(f"{checkpoint} is where the result goes: choose another --checkpoint.")
    if is_among(checkpoint, images):
        raise FileExistsError(f"{checkpoint} is one of the training images: choose another --checkpoint.")
    require_writable(checkpoint)


def _training_patches(files: Sequence[Path], patch: tuple[int, ...], n_patches: int, seed: int) -> np.ndarray:
    """Patches of the images without the flat ones; says how many of either there are."""
    console.print(f"reading {counted(len(files), 'image')}")
    samples = sedil.sample_patches(_read_images(files, patch), patch, n_patches, seed)
    training = sedil.normalize_patches(samples)
    dropped = len(samples) - len(training)
    console.print(
        f"{counted(len(training), 'patch', 'patches')} of {format_shape(patch)}"
        + (f" ({counted(dropped, 'flat one')} left out)" if dropped else "")
        + "; Ctrl-C stops early and keeps what is learned"
    )
    return training


def _read_images(files: Sequence[Path], patch: tuple[int, ...]) -> list[np.ndarray]:
    from sedil.imaging.patch_stream import read_large_enough

    return [read_large_enough(file, patch) for file in files]
