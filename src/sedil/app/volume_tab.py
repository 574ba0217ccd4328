"""The tab that denoises a volume and leafs through its slices."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sedil.app.denoised_file import denoise_upload
from sedil.app.limits import AT_ONCE, require_volume
from sedil.app.samples import Sample
from sedil.app.views import View
from sedil.app.work import Work, as_bar, errors_on_page
from sedil.file_jobs.denoise_files import DenoiseSettings

Slices = tuple[np.ndarray, np.ndarray]
_METHODS: list[tuple[str, str]] = [("groups (best)", "groups"), ("quick", "quick")]


def build_volume_tab(sample: Sample, folder: Path) -> None:
    """Lay out the tab."""
    import gradio as gr

    volumes = gr.State(None)  # before and after, in eight bits
    with gr.Row():
        with gr.Column(scale=2, min_width=300):
            file = gr.File(label="Drop a volume: NIfTI, TIFF stack, .npy", elem_id="volume-file", height=130)
            method = gr.Radio(_METHODS, value="groups", label="Method", elem_id="volume-method")
            with gr.Row():
                try_sample = gr.Button(f"Try {sample.name}", variant="primary", elem_id="volume-sample")
                stop = gr.Button("Stop", elem_id="volume-stop")
        with gr.Column(scale=5):
            words = gr.HTML("&nbsp;", elem_id="volume-words", padding=False)
            with gr.Row():
                before = gr.Image(label="noisy", elem_id="volume-before", **_PLAIN, height=420)
                after = gr.Image(label="clean", elem_id="volume-after", **_PLAIN, height=420)
            number = gr.Slider(0, 1, 0, step=1, label="Slice", elem_id="volume-slice", visible=False)
            download = gr.DownloadButton(
                "Download the clean volume", interactive=False, elem_id="volume-download"
            )

    def run(path: str | Path, name: str) -> Any:
        clean = sample.clean if path == sample.noisy else None
        with errors_on_page():
            require_volume(Path(path))
            how = DenoiseSettings(method="groups" if name == "groups" else "quick")
            work = Work(partial(denoise_upload, Path(path), how, clean, folder))
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

    how = {
        "outputs": [volumes, before, after, number, words, download],
        "concurrency_id": "work",
        "concurrency_limit": AT_ONCE,
        "show_progress": "hidden",
    }
    runs = [
        file.upload(run, [file, method], **how),
        try_sample.click(lambda name: (yield from run(sample.noisy, name)), method, **how),
    ]
    runs[0].then(lambda: None, outputs=file, show_progress="hidden")  # ready for the next
    stop.click(lambda: "stopped", outputs=words, cancels=runs, queue=False)
    number.input(at, [number, volumes], [before, after], show_progress="hidden")


def at(number: int, volumes: Slices) -> Slices:
    """The slices of that number before and after."""
    before, after = volumes
    return before[number], after[number]


_PLAIN = {"interactive": False, "format": "png", "buttons": ["fullscreen"]}
