"""``sedil learn``: a dictionary from images."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import sedil
from sedil.choices import PresetName, StartName
from sedil.commands.common import (
    Failures,
    Force,
    Threads,
    examples,
    is_among,
    require_usable,
    require_usable_picture,
)
from sedil.terminal import bar, clear_errors, console, counted

if TYPE_CHECKING:
    import numpy as np

EXAMPLES = examples(
    "sedil learn photos/ -o dict.npz",
    "sedil learn photos/ -o large.npz --patch 16x16 --atoms 32x32",
    "sedil learn photos/ -o many.npz --minibatch -n 1000000",
    "sedil learn scan.nii.gz -o blocks.npz --patch 6x6x6",
)
_PATCHES, _STREAMED_PATCHES = 20_000, 100_000
_ITERATIONS = 500
_BATCH_SIZE = 1000


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
        list[Path],
        typer.Argument(
            help="Images, volumes, or folders of them; with --minibatch a Zarr store or an HDF5 file too.",
            metavar="IMAGES",
            readable=False,
        ),
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
    initial: Annotated[StartName, typer.Option(help="Atoms to start from.")] = "random",
    preset: Annotated[PresetName, typer.Option(help="Where the weights of the cost come from.")] = "data",
    unstructured: Annotated[
        bool, typer.Option("--unstructured", help="One ordinary dictionary over whole patches.")
    ] = False,
    picture: Annotated[
        Path | None, typer.Option(help="Where the picture of the atoms goes; default beside OUTPUT.")
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Save the state here now and then; go on from it if it exists.")
    ] = None,
    threads: Threads = None,
    force: Force = False,
) -> None:
    """Learn a dictionary from images.

    Folders are searched with their subfolders. A file that cannot be read, or
    is smaller than a patch, is named and left out.
    """
    from sedil import mosaic
    from sedil.learning.defaults import choose_atoms

    with clear_errors():
        _require_options_of_one_kind(minibatch, iterations=iterations, batch_size=batch_size, epochs=epochs)
        files = _training_files(images, len(patch), minibatch)
        output, picture = _output_paths(output, picture, files, force)
        if checkpoint is not None:
            _require_own_path(checkpoint, (output, picture), files)
        sides = (prod(patch),) if unstructured else patch
        n_atoms = choose_atoms(atoms[0] if atoms and len(atoms) == 1 else atoms, sides)
        settings = {
            "initial": initial,
            "preset": preset,
            "random_state": seed,
            "checkpoint": checkpoint,
            "resume": checkpoint is not None,
            "threads": threads,
        }
        training = _TrainingFiles(files, patch, seed, unstructured)
        if minibatch:
            limits = {"batch_size": batch_size or _BATCH_SIZE, "n_epochs": epochs or 1}
            result = _learn_from_stream(training, patches or _STREAMED_PATCHES, n_atoms, settings | limits)
        else:
            limits = {"max_iterations": _ITERATIONS if iterations is None else iterations}
            result = _learn_jointly(training, patches or _PATCHES, n_atoms, settings | limits)
        record = {"images": training.names, "seed": seed, "sedil": sedil.__version__}
        learned = result.dictionary.replace(signal_shape=patch, info=result.dictionary.info | record)
        learned.save(output)
        console.print(str(result))
        console.print(f"saved        {output}")
        mosaic.save(learned, picture)
        console.print(f"picture      {picture}")
        training.failures.raise_if_any()


def _training_files(images: Sequence[Path], n_axes: int, minibatch: bool) -> list[Path]:
    """All files that are meant; a store of chunks goes alone."""
    from sedil.cluster.stored_arrays import is_stored
    from sedil.image_files.image_search import find_training_files

    stored = [path for path in images if is_stored(path)]
    if not stored:
        return find_training_files(images, n_axes)
    if not minibatch:
        raise ValueError(f"{stored[0]} is read in parts: add --minibatch.")
    if len(images) > 1:
        raise ValueError(f"{stored[0]} is learned from alone: leave the other images out.")
    return stored


class _TrainingFiles:
    """Files to learn from; those that fail are named and left out, unless there is but one."""

    def __init__(self, files: Sequence[Path], patch: tuple[int, ...], seed: int, flatten: bool) -> None:
        self._files, self._patch, self._seed, self._flatten = files, patch, seed, flatten
        self.failures = Failures("image")

    @property
    def names(self) -> list[str]:
        """Names of the files that were learned from."""
        return [file.name for file in self._files if str(file) not in self.failures.names]

    def stream(self, n_patches: int) -> Any:
        """Patches, read from the files while they are learned from."""
        images = self._files[0] if len(self._files) == 1 else self._files
        return sedil.stream_patches(
            images, self._patch, n_patches, self._seed, flatten=self._flatten, on_error=self._skip
        )

    def sample(self, n_patches: int) -> np.ndarray:
        """Patches of all files at once, without the flat ones; says how many of either there are."""
        from sedil.dictionary import format_shape
        from sedil.imaging.training_images import ImageFiles

        console.print(f"reading {counted(len(self._files), 'image')}")
        images = list(ImageFiles(self._files, self._patch, self._skip).read(range(len(self._files))))
        samples = sedil.sample_patches(images, self._patch, n_patches, self._seed)
        patches = sedil.normalize_patches(samples)
        dropped = len(samples) - len(patches)
        console.print(
            f"{counted(len(patches), 'patch', 'patches')} of {format_shape(self._patch)}"
            + (f" ({counted(dropped, 'flat one')} left out)" if dropped else "")
            + "; Ctrl-C stops early and keeps what is learned"
        )
        return patches.reshape(len(patches), -1) if self._flatten else patches

    def _skip(self, file: Path, error: Exception) -> None:
        if len(self._files) == 1:
            raise error
        self.failures.tell(str(file), error)


def _learn_jointly(
    training: _TrainingFiles, n_patches: int, n_atoms: tuple[int, ...], settings: dict[str, Any]
) -> sedil.LearningResult:
    patches = training.sample(n_patches)
    with bar("learning") as report:
        return sedil.learn(patches, n_atoms, progress=report, **settings)


def _learn_from_stream(
    training: _TrainingFiles, n_patches: int, n_atoms: tuple[int, ...], settings: dict[str, Any]
) -> sedil.LearningResult:
    stream = training.stream(n_patches)
    source = counted(stream.n_images, "image" if stream.files else "block")
    console.print(
        f"{counted(stream.n_patches, 'patch', 'patches')} from {source}, "
        f"read while learning; Ctrl-C stops early and keeps what is learned"
    )
    with bar("learning") as report:
        return sedil.learn_minibatch(stream, n_atoms, progress=report, **settings)


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


def _output_paths(
    output: Path, picture: Path | None, images: Sequence[Path], force: bool
) -> tuple[Path, Path]:
    """Where dictionary and picture go, once it is sure that they can be written there."""
    if output.is_dir():
        raise IsADirectoryError(f"{output} is a folder: give the name of a file.")
    if output.suffix not in ("", ".npz"):
        name = output.with_suffix(".npz")
        raise ValueError(f"{output} is not the name of a dictionary, which is an .npz file: use {name}.")
    output = output.with_suffix(".npz")
    picture = picture or output.with_suffix(".png")
    for path in (output, picture):
        if is_among(path, images):
            raise FileExistsError(
                f"{path} is one of the training images: choose another --output or --picture."
            )
    require_usable(output, force)
    require_usable_picture(picture, force)
    return output, picture


def _require_own_path(checkpoint: Path, results: Sequence[Path], images: Sequence[Path]) -> None:
    """A checkpoint overwrites neither the images nor what is learned from them."""
    from sedil.files import require_writable

    if checkpoint.resolve() in [result.resolve() for result in results]:
        raise FileExistsError(f"{checkpoint} is where the result goes: choose another --checkpoint.")
    if is_among(checkpoint, images):
        raise FileExistsError(f"{checkpoint} is one of the training images: choose another --checkpoint.")
    require_writable(checkpoint)
