"""``sedil denoise``: files of pictures and volumes without their noise."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from sedil.choices import DenoisingMethod, NoiseKind
from sedil.commands.block_work import (
    Scheduler,
    is_worked_on_in_blocks,
    require_one_in_blocks,
    restore_in_blocks,
)
from sedil.commands.common import Dictionary, Failures, Force, Threads, examples, is_among
from sedil.terminal import bar, clear_errors, console, counted

if TYPE_CHECKING:
    from sedil.file_jobs.denoise_files import DenoiseSettings, Outcome
    from sedil.file_jobs.job_planning import FileJob
    from sedil.imaging.measured_noise import NoiseEstimate


class DenoiseCommand(TyperCommand):
    """All that comes before the last argument is IN, which Typer cannot say of a list."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """How it is called."""
        return ["[OPTIONS]", "IN...", "OUT"]


_DRAWN = (".png", ".svg", ".pdf")

EXAMPLES = examples(
    "sedil denoise noisy.png clean.png --compare both.png",
    "sedil denoise a.png b.tif c.jpg clean/",
    "sedil denoise photos/ clean/ --method quick",
    "sedil denoise head.nii.gz clean.nii.gz --sigma 20",
    "sedil denoise clip.tif clean.tif --time-axis 0",
    "sedil denoise cells.tif clean.tif --noise poisson-gaussian --gain 2.1",
    "sedil denoise embryo.zarr clean.zarr --method quick",
)


def denoise(
    context: typer.Context,
    paths: Annotated[
        list[Path],
        typer.Argument(  # readable or not: that is told with the other reasons, and stops no other picture
            help="A noisy picture or volume, several, or folders of them; and last where the clean picture "
            "goes, for several a folder, where they keep their names.",
            metavar="IN... OUT",
            readable=False,
        ),
    ],
    sigma: Annotated[
        float | None,
        typer.Option(
            help="Standard deviation of the noise in the units of the picture (0 to 255, or 0 to 65535 "
            "with 16 bits); default estimated from each picture."
        ),
    ] = None,
    sigma_map: Annotated[
        Path | None,
        typer.Option(
            help="A picture, volume or array with the noise of each pixel, in the same units; 0 leaves a "
            "pixel unchanged."
        ),
    ] = None,
    noise: Annotated[
        NoiseKind | None,
        typer.Option(
            help="white: a level for each channel. poisson-gaussian: counts of photons. correlated: as "
            "cameras and JPEG leave it. Default: one of the first two, as it looks, and of a camera's shot "
            "at ISO 1600 or more one of the three. auto: one of the three for any picture."
        ),
    ] = None,
    gain: Annotated[
        float | None,
        typer.Option(help="Of poisson-gaussian: what a photon adds to a pixel; default estimated."),
    ] = None,
    read_noise: Annotated[
        float | None,
        typer.Option(
            help="Of poisson-gaussian: noise besides that of the photons; default estimated, with --gain 0."
        ),
    ] = None,
    offset: Annotated[
        float | None,
        typer.Option(help="Of poisson-gaussian: a pixel without light; default estimated, with --gain 0."),
    ] = None,
    dictionary: Dictionary = None,
    method: Annotated[
        DenoisingMethod | None,
        typer.Option(
            help="groups, the default: alike patches together, the best picture. quick: each patch on its "
            "own, the default with a dictionary. l1 and pursuit: other ways to code a patch."
        ),
    ] = None,
    stride: Annotated[
        int | None,
        typer.Option(min=1, help="Distance of patches or groups: larger is faster.", show_default=False),
    ] = None,
    time_axis: Annotated[
        int | None,
        typer.Option(help="For a clip: the axis along which its frames lie, 0 for the pages of a TIFF."),
    ] = None,
    compare: Annotated[
        Path | None,
        typer.Option(
            help="Where a picture with before and after side by side goes, of a volume its middle slice; "
            "for several a folder, not OUT."
        ),
    ] = None,
    noise_plot: Annotated[
        Path | None,
        typer.Option(
            help="Where a picture goes that shows the estimated noise over brightness (.png, .svg or .pdf); "
            "for one picture."
        ),
    ] = None,
    scheduler: Scheduler = None,
    threads: Threads = None,
    force: Force = False,
) -> None:
    """Remove noise from pictures, volumes and stacks of frames.

    The suffix of OUT chooses the format. Depth, transparency, colour profile
    and camera facts are kept where it can hold them; what is lost is said.

    Folders are searched with their subfolders, which OUT gets too. A file that
    cannot be read is named and left out.

    Volumes are NIfTI files (.nii, .nii.gz), TIFF files of several pages, and
    arrays (.npy, .npz); the result has the format and the header of IN.

    Zarr stores, OME-Zarr groups and HDF5 files (file.h5/name) are denoised
    block by block and need not fit into memory, and so are .npy and TIFF files
    with --scheduler. A run that was stopped goes on where it was.
    """
    *images, output = paths
    if not images:
        context.fail(f"Missing argument 'OUT': where does the clean picture of {output} go?")
    from sedil.file_jobs.chunk_jobs import ChunkSettings
    from sedil.file_jobs.denoise_files import DenoiseSettings, given_levels
    from sedil.file_jobs.job_planning import plan_one, plan_several
    from sedil.imaging.denoise import check_noise
    from sedil.pretrained import as_dictionary

    with clear_errors():
        level = given_levels(sigma, sigma_map)
        check_noise(level, noise, gain, read_noise, offset)
        loaded = None if dictionary is None else as_dictionary(dictionary)
        settings = DenoiseSettings(
            level, loaded, method, stride, time_axis, noise, gain, read_noise, offset, threads
        )
        if is_worked_on_in_blocks([*images, output], scheduler):
            require_one_in_blocks(images, compare)
            if sigma_map is not None or noise is not None or noise_plot is not None:
                raise ValueError(
                    "--sigma-map, --noise and --noise-plot are for files that are read as a whole."
                )
            settings_of_blocks = ChunkSettings(sigma, loaded, method, stride, time_axis)
            restore_in_blocks(images[0], output, settings_of_blocks, None, scheduler, threads, force)
        elif len(images) == 1 and not images[0].is_dir():
            _denoise_one(plan_one(images[0], output, compare, force), settings, noise_plot, force)
        elif noise_plot is not None:
            raise ValueError("--noise-plot is for one picture: leave it out.")
        else:
            _denoise_several(plan_several(images, output, compare, force), output, settings)


def _denoise_one(job: FileJob, settings: DenoiseSettings, noise_plot: Path | None, force: bool) -> None:
    from sedil.dictionary import format_shape
    from sedil.file_jobs.denoise_files import denoise_file, find_noise, noise_in_words
    from sedil.file_jobs.opened_file import open_file

    if noise_plot is not None:
        _require_plot(noise_plot, settings, job, force)
    opened = open_file(job)
    noise, doubts = find_noise(opened.content, settings)
    _tell_notes([*opened.notes, *doubts])
    if noise is not None:
        console.print(f"estimated noise: {noise_in_words(noise)}")
    if noise_plot is not None and noise is not None:
        if len(noise.brightness):
            _draw(noise, noise_plot)
            console.print(f"noise drawn  {noise_plot}")
        else:
            _tell_notes(["no flat parts show noise by brightness: --noise-plot has nothing to draw"])
    began = time.perf_counter()
    with bar("denoising") as report:
        denoise_file(opened, noise, settings, report)
    seconds = time.perf_counter() - began
    console.print(f"denoised     {format_shape(opened.content.pixels.shape)} in {seconds:.1f} s")
    console.print(f"saved        {job.target}")
    if job.comparison is not None:
        console.print(f"compared     {job.comparison}")


def _require_plot(path: Path, settings: DenoiseSettings, job: FileJob, force: bool) -> None:
    """Refuse what cannot be drawn, or written, before the work."""
    from sedil.files import require_free, require_writable

    given = (settings.sigma, settings.gain, settings.read_noise, settings.offset)
    if any(each is not None for each in given):
        raise ValueError(
            "--noise-plot shows estimated noise: leave it out, or what says how strong the noise is."
        )
    if path.suffix.lower() not in _DRAWN:
        raise ValueError(f"--noise-plot writes {', '.join(_DRAWN)} files, got {path}.")
    if path in job.outputs or is_among(path, (job.source, *job.outputs)):
        raise ValueError(f"{path} is another file of this run: give --noise-plot another name.")
    require_free([path], force)
    require_writable(path)


def _draw(noise: NoiseEstimate, path: Path) -> None:
    from matplotlib.figure import Figure

    from sedil.files import replacing
    from sedil.plots import plot_noise

    figure = Figure(figsize=(6, 4), layout="constrained")
    plot_noise(noise, ax=figure.add_subplot())
    with replacing(path) as stream:
        figure.savefig(stream, format=path.suffix.lower()[1:], dpi=150)


def _denoise_several(jobs: Sequence[FileJob], output: Path, settings: DenoiseSettings) -> None:
    from sedil.file_jobs.denoise_files import denoise_files

    console.print(f"denoising {counted(len(jobs), 'picture')} into {output}")
    width = max(len(_name(job, output)) for job in jobs)
    n_tried, failures = 0, Failures("picture")
    began = time.perf_counter()
    try:
        with bar("denoising") as report:
            for outcome in denoise_files(jobs, settings, report):
                n_tried += 1
                _tell_outcome(outcome, _name(outcome.job, output), width, settings, failures)
    finally:  # after Ctrl-C too
        seconds = time.perf_counter() - began
        console.print(f"denoised     {n_tried - len(failures.names)} of {len(jobs)} in {seconds:.1f} s")
    if n_tried < len(jobs):
        raise OSError(f"The disk is full: {counted(len(jobs) - n_tried, 'picture')} not tried.")
    failures.raise_if_any()


def _name(job: FileJob, output: Path) -> str:
    """A picture below the folder that was given; its result has the same name."""
    return str(job.target.relative_to(output))


def _tell_outcome(
    outcome: Outcome, name: str, width: int, settings: DenoiseSettings, failures: Failures
) -> None:
    """One line a file: its name, its noise and the time, or why it failed."""
    from sedil.file_jobs.denoise_files import noise_in_words

    _tell_notes(outcome.notes)
    if outcome.error is not None:
        failures.tell(name, outcome.error, before=f"{name:{width}}  ")
    else:
        found = outcome.noise
        words = _given_in_words(settings) if found is None else f"{noise_in_words(found)} (estimated)"
        console.print(f"{name:{width}}  {words}  {outcome.seconds:.1f} s")


def _tell_notes(notes: Sequence[str]) -> None:
    for note in notes:
        console.print(f"note: {note}")


def _given_in_words(settings: DenoiseSettings) -> str:
    from sedil.file_jobs.denoise_files import number_in_words

    if isinstance(settings.sigma, float):
        return f"sigma {number_in_words(settings.sigma)} (given)"
    return "sigma by a map (given)" if settings.noise != "poisson-gaussian" else "noise of photons"
