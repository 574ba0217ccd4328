"""The tab that fills what a visitor paints over."""

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple

import numpy as np

import sedil
from sedil.app.denoised_file import as_facts
from sedil.app.dropping import drop_area, make_ready
from sedil.app.limits import PAINTED_PIXELS, require_picture
from sedil.app.samples import Sample, scratches
from sedil.app.views import View
from sedil.app.work import Work, as_bar, errors_on_page, on_start, on_stop
from sedil.dictionary import format_shape
from sedil.files import write_content
from sedil.image_files.picture_files import conform, encode, read_picture
from sedil.progress import Report

_SHOW_RESULT = "() => document.getElementById('fill-result').scrollIntoView({behavior: 'smooth'})"
_PAINT = (255, 64, 64)
_METHODS: list[tuple[str, str]] = [("groups (best)", "groups"), ("quick", "quick")]


class Picture(NamedTuple):
    """Pixels in full depth, where the editor has but eight bits, and what is painted over from the start."""

    pixels: np.ndarray
    mask: np.ndarray


class Filled(NamedTuple):
    """What is filled, where it lies, and how long it took."""

    pixels: np.ndarray
    file: Path
    seconds: float


def build_fill_tab(samples: Sequence[Sample], folder: Path) -> None:
    """Lay out the tab."""
    import gradio as gr

    chosen = gr.State(None)
    colour = "#{:02x}{:02x}{:02x}".format(*_PAINT)
    with gr.Row():
        with gr.Column(scale=2, min_width=350):
            file = drop_area("Drop a picture", "fill")
            sample = gr.Dropdown(
                [sample.name for sample in samples], value=None, label="or pick one", elem_id="fill-sample"
            )
            method = gr.Radio(_METHODS, value="groups", label="Method", elem_id="fill-method")
            with gr.Row():
                start = gr.Button("Fill", variant="primary", elem_id="fill-start", min_width=90)
                stop = gr.Button("Stop", elem_id="fill-stop", min_width=90)
            words = gr.HTML("&nbsp;", elem_id="fill-words", padding=False)
            download = gr.DownloadButton(
                "Download the filled picture", interactive=False, elem_id="fill-download"
            )
        with gr.Column(scale=5):
            editor = gr.ImageEditor(
                label="Paint over what is to be filled",
                elem_id="fill-editor",
                type="numpy",
                format="png",
                sources=(),
                transforms=(),
                layers=False,
                brush=gr.Brush(colors=[colour], default_size=12, color_mode="fixed"),
                height=520,
                buttons=[],
            )
            slider = gr.ImageSlider(
                label="painted | filled",
                elem_id="fill-result",
                format="png",
                interactive=False,
                height=520,
                buttons=["fullscreen"],
            )

    def take_file(path: str) -> Any:
        with errors_on_page():
            require_picture(Path(path), PAINTED_PIXELS)
            pixels = read_picture(path).pixels
        return shown(Picture(pixels, np.zeros(pixels.shape[:2], bool)))

    def take_sample(name: str) -> Any:
        pixels = next(sample.clean for sample in samples if sample.name == name)
        return shown(Picture(pixels, scratches(pixels.shape)))

    def shown(picture: Picture) -> Any:
        background = painted_over(picture.pixels, picture.mask)
        return picture, {"background": background, "layers": [], "composite": background}

    def run(picture: Picture | None, painted: dict[str, Any] | None, name: str) -> Any:
        with errors_on_page():
            if picture is None or painted is None:
                raise ValueError("There is no picture yet: drop one, or pick one.")
            pixels, mask = picture.pixels, picture.mask | painted_mask(painted["layers"], picture.mask.shape)
            work = Work(partial(fill, pixels, mask, name, folder))
            for progress in work.steps():
                yield gr.skip(), as_bar("filling", progress, work.seconds), gr.skip()
            done = work.result()
        facts = [("filled", f"{mask.sum():,} pixels, {mask.mean():.1%}"), ("time", f"{done.seconds:.1f} s")]
        pair = painted_over(pixels, mask), View(pixels)(done.pixels)
        yield pair, as_facts(facts), gr.update(value=str(done.file), interactive=True)

    quiet = {"show_progress": "hidden"}
    dropped = file.upload(take_file, file, [chosen, editor], **quiet)
    make_ready(file, dropped)
    sample.input(take_sample, sample, [chosen, editor], **quiet)
    running = on_start([start.click], run, [chosen, editor, method], [slider, words, download], words)
    running.success(None, js=_SHOW_RESULT)
    on_stop(stop, running, words)


def painted_mask(layers: Sequence[np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
    """True where a visitor has painted, on whichever layer of the editor."""
    mask = np.zeros(shape, bool)
    for layer in layers:
        if layer.shape[:2] != shape:
            raise ValueError(
                f"What is painted has {format_shape(layer.shape[:2])} pixels, the picture "
                f"{format_shape(shape)}: drop the picture again."
            )
        mask |= layer[..., 3] > 0
    return mask


def fill(pixels: np.ndarray, mask: np.ndarray, name: str, folder: Path, report: Report) -> Filled:
    """Fill what is missing, into a file in a new folder inside `folder`."""
    if not mask.any():
        raise ValueError("Nothing is painted yet: paint over what is to be filled.")
    began = time.perf_counter()
    axis = -1 if pixels.ndim == 3 else None
    filled = sedil.inpaint(
        pixels, mask, method="groups" if name == "groups" else "quick", channel_axis=axis, progress=report
    )
    suffix = ".png" if filled.dtype in (np.uint8, np.uint16) else ".tif"
    file = Path(mkdtemp(dir=folder), f"filled{suffix}")
    write_content(file, encode(file, conform(file, filled)[0]))
    return Filled(filled, file, time.perf_counter() - began)


def painted_over(pixels: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """The picture in eight bits and three colours, with paint where the mask is True."""
    picture = View(pixels)(pixels)
    painted = picture.copy() if picture.ndim == 3 else picture[..., None].repeat(3, axis=-1)
    painted[mask] = _PAINT
    return painted
