"""The tab that denoises a volume and leafs through its slices."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sedil.app.denoise_tab import settings, sigma_field
from sedil.app.denoised_file import denoise_upload
from sedil.app.dropping import drop_area, make_ready
from sedil.app.limits import require_volume
from sedil.app.samples import Sample
from sedil.app.views import View
from sedil.app.work import Work, as_bar, errors_on_page, on_start, on_stop

_PLAIN = {"interactive": False, "format": "png", "buttons": ["fullscreen"]}
Slices = tuple[np.ndarray, np.ndarray]
_METHODS: list[tuple[str, str]] = [("groups (best)", "groups"), ("quick", "quick")]


def build_volume_tab(sample: Sample, folder: Path) -> None:
    """Lay out the tab."""
    import gradio as gr

    chosen, times_chosen = gr.State(None), gr.State(0)
    volumes = gr.State(None)  # before and after, in eight bits
    with gr.Row():
        with gr.Column(scale=2, min_width=350):
            file = drop_area("Drop a volume: NIfTI, TIFF stack, .npy", "volume")
            try_sample = gr.Button(f"or take this {sample.name}", elem_id="volume-sample")
            method = gr.Radio(_METHODS, value="groups", label="Method", elem_id="volume-method")
            sigma = sigma_field("volume")
            with gr.Row():
                start = gr.Button("Denoise", variant="primary", elem_id="volume-start", min_width=90)
                stop = gr.Button("Stop", elem_id="volume-stop", min_width=90)
        with gr.Column(scale=5):
            words = gr.HTML("&nbsp;", elem_id="volume-words", padding=False)
            with gr.Row():
                before = gr.Image(label="noisy", elem_id="volume-before", **_PLAIN, height=420)
                after = gr.Image(label="clean", elem_id="volume-after", **_PLAIN, height=420)
            number = gr.Slider(0, 1, 0, step=1, label="Slice", elem_id="volume-slice", visible=False)
            download = gr.DownloadButton(
                "Download the clean volume", interactive=False, elem_id="volume-download"
            )

    def take_file(path: str, times: int) -> tuple[Path, int]:
        with errors_on_page():
            require_volume(Path(path))
        return Path(path), times + 1

    def run(path: Path | None, name: str, level: float | None) -> Any:
        with errors_on_page():
            if path is None:
                raise ValueError(f"There is no volume yet: drop one, or take the {sample.name}.")
            clean = sample.clean if path == sample.noisy else None
            work = Work(partial(denoise_upload, path, settings(name, level, None), clean, folder))
            for progress in work.steps():
                yield [gr.skip()] * 4 + [as_bar("denoising", progress, work.seconds), gr.skip()]
            done = work.result()
        view = View(done.before)
        pair = view(done.before), view(done.after)
        middle = len(done.before) // 2
        leaf = gr.update(maximum=len(done.before) - 1, value=middle, visible=True)
        yield [
            pair, *at(middle, pair), leaf, done.words, gr.update(value=str(done.file), interactive=True)
        ]  # fmt: skip

    dropped = file.upload(take_file, [file, times_chosen], [chosen, times_chosen], show_progress="hidden")
    make_ready(file, dropped)
    try_sample.click(
        lambda times: (sample.noisy, times + 1), times_chosen, [chosen, times_chosen], show_progress="hidden"
    )
    running = on_start(
        [times_chosen.change, start.click],
        run,
        [chosen, method, sigma],
        [volumes, before, after, number, words, download],
        words,
        trigger_mode="always_last",  # what is chosen during work comes next
    )
    on_stop(stop, running, words)
    number.input(at, [number, volumes], [before, after], show_progress="hidden")


def at(number: int, volumes: Slices) -> Slices:
    """The slices of that number before and after."""
    before, after = volumes
    return before[number], after[number]
