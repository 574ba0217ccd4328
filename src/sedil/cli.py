"""The command line: parse, call one library function, show."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

import sedil
from sedil import mosaic
from sedil.coding.sparse_code import METHODS
from sedil.dictionary import format_shape
from sedil.errors import atom_counts, require_positive
from sedil.experiments import commands as reproduce_commands
from sedil.files import picture_format, require_writable
from sedil.learning.defaults import PRESETS, default_atoms
from sedil.learning.initial import STARTS

if TYPE_CHECKING:
    from sedil.imaging.denoise_files import Facts, Job, Outcome, Settings

app = typer.Typer(
    help="Learn separable dictionaries, look at them, and denoise pictures with them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(reproduce_commands.app, name="reproduce")
# Names and paths are shown as they are: no markup, no emoji, no line breaks.
console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
complaints = Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)

Start = Enum("Start", {name: name for name in STARTS})  # type: ignore[misc]
Preset = Enum("Preset", {name: name for name in PRESETS})  # type: ignore[misc]
Method = Enum("Method", {name: name for name in METHODS})  # type: ignore[misc]

_LABELS = {"n_patches": "patches trained on", "signal_shape": "drawn as", "sedil": "sedil version"}
_MOST_SHOWN = 5  # entries of a list
_DENOISE_EXAMPLES = """Examples:

sedil denoise noisy.png clean.png --compare both.png

sedil denoise a.png b.tif c.jpg clean/

sedil denoise photos/ clean/ --stride 2
"""


@contextmanager
def clear_errors() -> Iterator[None]:
    """Turn an expected error into one sentence and exit code 1; anything else is a bug and is shown whole."""
    try:
        yield
    except (ValueError, TypeError, OSError, MemoryError) as error:
        complaints.print(Text.assemble(("error:", "bold red"), f" {_sentence(error)}"))
        raise typer.Exit(1) from error


def _sentence(error: Exception | None) -> str:
    return str(error) or "There is not enough memory."  # Python says nothing when it runs out


def _lengths(text: str) -> tuple[int, ...]:
    """``8x8`` or ``8,8`` or ``64`` as numbers."""
    try:
        return tuple(int(part) for part in text.replace(",", "x").split("x"))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a list of lengths such as 8x8.") from None


def _patch_sides(text: str) -> tuple[int, ...]:
    sides = _lengths(text)
    if len(sides) != 2 or min(sides) < 1:
        raise typer.BadParameter(f"{text!r} is not two sides of at least 1 such as 8x8.")
    return sides


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
    """Learn separable dictionaries, look at them, and denoise pictures with them."""


@app.command()
def learn(
    images: Annotated[list[Path], typer.Argument(help="Images or folders of images.", metavar="IMAGES...")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the dictionary is saved (.npz).")],
    patch: Annotated[
        Any, typer.Option("--patch", "-p", parser=_patch_sides, metavar="HxW", help="Shape of a patch.")
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
        int, typer.Option("--patches", "-n", min=1, help="Number of training patches.")
    ] = 20_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of patch positions and initial atoms.")] = 0,
    iterations: Annotated[int, typer.Option(min=0, help="Iterations at most.")] = 500,
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
    from sedil.imaging.images import find_images
    from sedil.progress import progress_bar

    with clear_errors():
        files = find_images(images)
        output, picture = _places(output, picture, files, force)
        if checkpoint is not None:
            require_writable(checkpoint)
        sides = (prod(patch),) if unstructured else patch
        n_atoms = _atom_counts(atoms, sides)
        console.print(f"reading {_counted(len(files), 'image')}")
        samples = sedil.sample_patches(_read_images(files, patch), patch, patches, seed)
        training = sedil.normalize_patches(samples)
        dropped = len(samples) - len(training)
        console.print(
            f"{_counted(len(training), 'patch', 'patches')} of {format_shape(patch)}"
            + (f" ({_counted(dropped, 'flat one')} left out)" if dropped else "")
            + "; Ctrl-C stops early and keeps what is learned"
        )
        with progress_bar(iterations) as show:
            result = sedil.learn(
                training.reshape(len(training), *sides),
                n_atoms,
                initial=initial.value,
                preset=preset.value,
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
        console.print(str(result))
        console.print(f"saved        {output}")
        mosaic.save(result.dictionary, picture)
        console.print(f"picture      {picture}")


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
        target = picture or dictionary.with_suffix(".png")
        if _is_among(target, [dictionary]):
            raise FileExistsError(f"{target} is the dictionary itself: choose another --picture.")
        if picture is not None:
            _require_picture(picture, force)
        console.print(_facts(dictionary.name, loaded))
        if target.exists() and not force:
            console.print(f"picture      {target} (was there already; --force draws it anew)")
            return
        mosaic.save(loaded, target)
        console.print(f"picture      {target}")


@app.command(epilog=_DENOISE_EXAMPLES)
def denoise(
    images: Annotated[
        list[Path],
        typer.Argument(  # readable or not: that is told with the other reasons, and stops no other picture
            help="A noisy picture, several, or a folder of them.", metavar="IN", readable=False
        ),
    ],
    output: Annotated[
        Path,
        typer.Argument(
            help="Where the clean picture goes; for several a folder, where they keep their names.",
            metavar="OUT",
        ),
    ],
    sigma: Annotated[
        float | None,
        typer.Option(
            help="Standard deviation of the noise in the units of the picture (0 to 255, or 0 to 65535 "
            "with 16 bits); default estimated from each picture."
        ),
    ] = None,
    dictionary: Annotated[
        Path | None,
        typer.Option("--dictionary", "-d", help="A dictionary in place of the shipped one."),
    ] = None,
    method: Annotated[Method, typer.Option(help="How patches are coded.")] = Method["refit"],
    stride: Annotated[int, typer.Option(min=1, help="Distance of patches: 2 is four times faster.")] = 1,
    compare: Annotated[
        Path | None,
        typer.Option(
            help="Where a picture with before and after side by side goes; for several a folder, not OUT."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="Overwrite existing files.")] = False,
) -> None:
    """Remove white Gaussian noise from pictures.

    The suffix of OUT chooses the format. Depth, transparency, colour profile
    and camera facts are kept where it can hold them; what is lost is said.
    """
    from sedil.imaging.denoise_files import Settings, plan_one, plan_several

    with clear_errors():
        if sigma is not None:
            require_positive(sigma, "sigma")
        loaded = None if dictionary is None else sedil.load_dictionary(dictionary)
        settings = Settings(sigma, loaded, method.value, stride)
        if len(images) == 1 and not images[0].is_dir():
            _denoise_one(plan_one(images[0], output, compare, force), settings)
        else:
            _denoise_several(plan_several(images, output, compare, force), settings)


@app.command()
def demo(
    folder: Annotated[Path, typer.Option("--output", "-o", help="Folder for the results.")] = Path("demo"),
) -> None:
    """Learn a dictionary from pictures that scikit-image carries and denoise one, in about a minute."""
    from sedil.demo import run_demo

    with clear_errors():
        run_demo(folder, console)


def _places(output: Path, picture: Path | None, images: Sequence[Path], force: bool) -> tuple[Path, Path]:
    """Where dictionary and picture go, once it is sure that they can be written there."""
    if output.is_dir():
        raise IsADirectoryError(f"{output} is a folder: give the name of a file.")
    if output.suffix != ".npz":
        output = output.with_name(output.name + ".npz")
    picture = picture or output.with_suffix(".png")
    for path in (output, picture):
        if _is_among(path, images):
            raise FileExistsError(
                f"{path} is one of the training images: choose another --output or --picture."
            )
    _require_writable(output, force)
    _require_picture(picture, force)
    return output, picture


def _denoise_one(job: Job, settings: Settings) -> None:
    from sedil.imaging.denoise_files import denoise_file, open_noisy
    from sedil.progress import patch_bar

    noisy = open_noisy(job, settings.sigma)
    _tell_notes(noisy.facts)
    if noisy.facts.estimated:
        console.print(f"estimated noise: {_noise(noisy.facts)}")
    began = time.perf_counter()
    with patch_bar() as show:
        denoise_file(noisy, settings, show)
    seconds = time.perf_counter() - began
    console.print(f"denoised     {format_shape(noisy.picture.pixels.shape)} in {seconds:.1f} s")
    console.print(f"saved        {job.target}")
    if job.comparison is not None:
        console.print(f"compared     {job.comparison}")


def _denoise_several(jobs: Sequence[Job], settings: Settings) -> None:
    from sedil.imaging.denoise_files import denoise_files
    from sedil.progress import patch_bar

    console.print(f"denoising {_counted(len(jobs), 'picture')} into {jobs[0].target.parent}")
    width = max(len(job.source.name) for job in jobs)
    n_tried, failed = 0, []
    began = time.perf_counter()
    try:
        with patch_bar() as show:
            for outcome in denoise_files(jobs, settings, show):
                n_tried += 1
                _tell_outcome(outcome, width)
                if outcome.error is not None:
                    failed.append(outcome.job.source.name)
    finally:  # after Ctrl-C too
        seconds = time.perf_counter() - began
        console.print(f"denoised     {n_tried - len(failed)} of {len(jobs)} in {seconds:.1f} s")
    if n_tried < len(jobs):
        raise OSError(f"The disk is full: {_counted(len(jobs) - n_tried, 'picture')} not tried.")
    if failed:
        raise OSError(f"{_counted(len(failed), 'picture')} failed: {', '.join(failed)}.")


def _tell_outcome(outcome: Outcome, width: int) -> None:
    """One line a file: its name, its noise and the time, or why it failed."""
    if outcome.facts is not None:
        _tell_notes(outcome.facts)
    name = f"{outcome.job.source.name:{width}}"
    if outcome.error is not None or outcome.facts is None:
        complaints.print(Text.assemble(f"{name}  ", ("failed:", "bold red"), f" {_sentence(outcome.error)}"))
        return
    origin = "estimated" if outcome.facts.estimated else "given"
    console.print(f"{name}  {_noise(outcome.facts)} ({origin})  {outcome.seconds:.1f} s")


def _tell_notes(facts: Facts) -> None:
    for note in facts.notes:
        console.print(f"note: {note}")


def _noise(facts: Facts) -> str:
    if facts.sigma == 0:
        return "none found, the picture stays as it is"
    return f"sigma {facts.sigma:.3g}" if facts.sigma < 100 else f"sigma {facts.sigma:.0f}"


def _is_among(path: Path, files: Sequence[Path]) -> bool:
    return path.exists() and any(path.samefile(file) for file in files)


def _require_picture(path: Path, force: bool) -> None:
    _require_writable(path, force)
    picture_format(path)


def _require_writable(path: Path, force: bool) -> None:
    if path.exists() and not path.is_dir() and not force:
        raise FileExistsError(f"{path} exists already: choose another name or add --force.")
    require_writable(path)


def _atom_counts(atoms: tuple[int, ...] | None, sides: tuple[int, ...]) -> tuple[int, ...]:
    """Atoms per axis as asked for; by default a redundancy of four, with one atom where the side is one."""
    if atoms is not None:
        return atom_counts(atoms[0] if len(atoms) == 1 else atoms, sides)
    return (4 * sides[0],) if len(sides) == 1 and sides[0] > 1 else default_atoms(sides)


def _read_images(files: Sequence[Path], patch: tuple[int, ...]) -> list[np.ndarray]:
    from sedil.imaging.images import read_grey

    images = []
    for file in files:
        image = read_grey(file)
        if any(side < length for side, length in zip(image.shape, patch, strict=True)):
            raise ValueError(
                f"{file} is smaller than a patch: it has {format_shape(image.shape)} pixels, a patch "
                f"{format_shape(patch)}: leave it out or choose a smaller --patch."
            )
        images.append(image)
    return images


def _facts(name: str, dictionary: sedil.SeparableDictionary) -> Table:
    table = Table(title=name, show_header=False, title_justify="left")
    low, high = dictionary.coherence_bounds()
    table.add_row("patches", format_shape(dictionary.patch_shape))
    table.add_row("atoms", f"{format_shape(dictionary.n_atoms)} = {prod(dictionary.n_atoms)}")
    table.add_row("redundancy", f"{dictionary.redundancy:.3g}")
    table.add_row("mutual coherence", f"{dictionary.mutual_coherence():.4f} (bounds {low:.3f} to {high:.3f})")
    table.add_row("precision", str(dictionary.factors[0].dtype))
    for key, value in dictionary.info.items():
        table.add_row(_label(key), _readable(value))
    return table


def _label(key: str) -> str:
    return _LABELS.get(key, key.removeprefix("n_").replace("_", " "))


def _readable(value: Any) -> str:
    """A fact of ``info`` for people: short numbers, short lists, dicts as ``name: value; ...``."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict):
        return "; ".join(f"{_label(key)}: {_readable(part)}" for key, part in value.items())
    if isinstance(value, list | tuple):
        more = len(value) - _MOST_SHOWN
        shown = ", ".join(map(_readable, value[:_MOST_SHOWN]))
        return f"{shown} and {more} more" if more > 0 else shown
    return str(value)


def _counted(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
