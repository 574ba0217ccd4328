"""The tab that denoises a picture."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sedil.app.denoised_file import Denoised, denoise_upload
from sedil.app.dropping import drop_area, make_ready
from sedil.app.limits import require_picture
from sedil.app.samples import SIGMA, Sample
from sedil.app.views import View, shrunk
from sedil.app.work import Work, as_bar, errors_on_page, on_start, on_stop
from sedil.checks import require_positive
from sedil.dictionary import SeparableDictionary
from sedil.file_jobs.denoise_files import DenoiseSettings

OWN = "my dictionary"
_METHODS: list[tuple[str, str]] = [
    ("groups (best)", "groups"),
    ("quick", "quick"),
    ("my dictionary", OWN),
]


class Source(NamedTuple):
    """What a visitor has chosen: a file, and what it should be if that is known."""

    path: Path
    clean: np.ndarray | None


def build_denoise_tab(samples: Sequence[Sample], folder: Path, own: Any) -> Any:
    """Lay out the tab; `own` is the state with the visitor's dictionary. Returns the choice of method."""
    import gradio as gr

    chosen, times_chosen = gr.State(None), gr.State(0)
    with gr.Row():
        with gr.Column(scale=2, min_width=350):
            file = drop_area("Drop a noisy picture", "denoise")
            gr.HTML(f"or pick one, with noise (sigma {SIGMA:g}) added:", padding=False)
            gallery = gr.Gallery(
                [(str(sample.noisy), sample.name) for sample in samples],
                show_label=False,
                elem_id="denoise-samples",
                columns=len(samples),
                height=118,
                allow_preview=False,
                interactive=False,
                buttons=[],
            )
            method = gr.Radio(_METHODS, value="groups", label="Method", elem_id="denoise-method")
            sigma = sigma_field("denoise")
            with gr.Row():
                start = gr.Button("Denoise", variant="primary", elem_id="denoise-start", min_width=90)
                stop = gr.Button("Stop", elem_id="denoise-stop", min_width=90)
        with gr.Column(scale=5):
            words = gr.HTML("&nbsp;", elem_id="denoise-words", padding=False)
            slider = gr.ImageSlider(
                label="noisy | clean",
                elem_id="denoise-result",
                format="png",
                interactive=False,
                height=560,
                buttons=["fullscreen"],
            )
            download = gr.DownloadButton(
                "Download the clean picture", interactive=False, elem_id="denoise-download"
            )

    def take_file(path: str, times: int) -> tuple[Source, int]:
        with errors_on_page():
            require_picture(Path(path))
        return Source(Path(path), None), times + 1

    def take_sample(times: int, picked: gr.SelectData) -> tuple[Source, int]:
        sample = samples[picked.index]
        return Source(sample.noisy, sample.clean), times + 1

    def run(source: Source | None, name: str, level: float | None, own: SeparableDictionary | None) -> Any:
        with errors_on_page():
            work = begin(source, settings(name, level, own), folder)
            for progress in work.steps():
                yield gr.skip(), as_bar("denoising", progress, work.seconds), gr.skip()
            done = work.result()
        view = View(done.before)
        pair = tuple(shrunk(view(pixels)) for pixels in (done.before, done.after))
        yield pair, done.words, gr.update(value=str(done.file), interactive=True)

    dropped = file.upload(take_file, [file, times_chosen], [chosen, times_chosen], show_progress="hidden")
    make_ready(file, dropped)
    gallery.select(take_sample, times_chosen, [chosen, times_chosen], show_progress="hidden")
    running = on_start(
        [times_chosen.change, start.click],
        run,
        [chosen, method, sigma, own],
        [slider, words, download],
        words,
        trigger_mode="always_last",  # what is chosen during work comes next
    )
    on_stop(stop, running, words)
    return method


def sigma_field(name: str) -> Any:
    """Where a visitor who knows the noise says how strong it is."""
    import gradio as gr

    return gr.Number(0, label="Sigma of the noise; 0: estimated", elem_id=f"{name}-sigma")


def settings(name: str, level: float | None, own: SeparableDictionary | None) -> DenoiseSettings:
    """What the visitor has chosen, in the words of the library."""
    level = require_positive(level, "sigma") if level else None
    if name != OWN:
        return DenoiseSettings(level, method="groups" if name == "groups" else "quick")
    if own is None:
        raise ValueError("You have no dictionary yet: learn one under Learn, or choose another method.")
    return DenoiseSettings(level, dictionary=own)


def begin(source: Source | None, how: DenoiseSettings, folder: Path) -> Work[Denoised]:
    """Start the work on what is chosen."""
    if source is None:
        raise ValueError("There is no picture yet: drop one, or pick one of those below.")
    return Work(partial(denoise_upload, source.path, how, source.clean, folder))
