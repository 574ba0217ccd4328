"""The tab that learns a dictionary while its visitor watches."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np

import sedil
from sedil import curves, mosaic
from sedil.app.denoise_tab import OWN
from sedil.app.denoised_file import as_facts
from sedil.app.limits import PICTURES, require_pictures
from sedil.app.samples import Sample
from sedil.app.work import Work, as_bar, errors_on_page, on_start
from sedil.image_files.grey_images import read_grey, scikit_image_photographs
from sedil.learning.result import LearningResult, Record, StopReason
from sedil.progress import Progress, Report

_SIDES = (8, 12, 16)
_MOST_ITERATIONS = 1000


def build_learn_tab(samples: Sequence[Sample], folder: Path, own: Any, tabs: Any, method: Any) -> None:
    """Lay out the tab; what is learned goes into the state `own`, and is used in the tab "denoise"."""
    import gradio as gr

    running = gr.State(None)
    with gr.Row():
        with gr.Column(scale=2, min_width=350):
            files = gr.File(
                label=f"Drop pictures, up to {PICTURES}",
                file_count="multiple",
                elem_id="learn-files",
                height=150,
            )
            side = gr.Radio(
                [(f"{side}x{side}", side) for side in _SIDES], value=8, label="Patches", elem_id="learn-side"
            )
            n_patches = gr.Slider(1000, 40_000, 10_000, step=1000, label="Number of patches")
            iterations = gr.Slider(20, _MOST_ITERATIONS, 300, step=20, label="Iterations at most")
            with gr.Row():
                start = gr.Button("Learn", variant="primary", elem_id="learn-start", min_width=90)
                stop = gr.Button("Stop", elem_id="learn-stop", min_width=90)
            gr.HTML(f"Without pictures of yours: from {', '.join(sample.name for sample in samples)}.")
        with gr.Column(scale=5):
            words = gr.HTML("&nbsp;", elem_id="learn-words", padding=False)
            with gr.Row():
                atoms = gr.Image(
                    label="atoms",
                    elem_id="learn-atoms",
                    format="png",
                    interactive=False,
                    height=460,
                    buttons=["fullscreen"],
                )
                cost = gr.HTML(elem_id="learn-cost")
            with gr.Row():
                download = gr.DownloadButton("Download it", interactive=False, elem_id="learn-download")
                use = gr.Button("Denoise with it", interactive=False, elem_id="learn-use")

    def run(paths: list[str] | None, side: int, n_patches: int, iterations: int) -> Any:
        records: list[Record] = []
        with errors_on_page():
            images = [Path(path) for path in paths or []]
            require_pictures(images)
            learning = partial(
                learn_from, images, [sample.name for sample in samples], (side, side), n_patches, iterations
            )
            work = Work(lambda report: learning(noting(records, report)), keeps_what_is_done=True)
            n_shown = 0
            for progress in work.steps():
                bar = as_bar("learning", progress, work.seconds)
                is_new, n_shown = len(records) > n_shown, len(records)
                shown = drawn(progress, records) if is_new and progress else [gr.skip()] * 2
                yield [work, *shown, bar, gr.skip(), gr.skip(), gr.skip()]
            result = work.result()
        file = Path(mkdtemp(dir=folder), "dictionary.npz")
        result.dictionary.save(file)
        yield [
            None,
            mosaic.draw(result.dictionary),
            curve(records),
            in_words(result),
            result.dictionary,
            gr.update(value=str(file), interactive=True),
            gr.update(interactive=True),
        ]

    on_start(
        [start.click],
        run,
        [files, side, n_patches, iterations],
        [running, atoms, cost, words, own, download, use],
        words,
    )
    stop.click(lambda work: work and work.stop(), running, queue=False)
    use.click(lambda: (gr.update(selected="denoise"), OWN), outputs=[tabs, method], show_progress="hidden")


def learn_from(
    files: Sequence[Path],
    names: Sequence[str],
    sides: tuple[int, int],
    n_patches: int,
    iterations: int,
    report: Report,
) -> LearningResult:
    """Learn from the pictures of a visitor, or from those of scikit-image that are named."""
    images = [read_grey(file) for file in files] if files else scikit_image_photographs(names)
    patches = sedil.normalize_patches(sedil.sample_patches(images, sides, n_patches, random_state=0))
    result = sedil.learn(patches, max_iterations=iterations, random_state=0, progress=report)
    result.dictionary.info.update(images=[file.name for file in files] or list(names), seed=0)
    return result


def noting(records: list[Record], report: Report) -> Report:
    """The report, which also keeps the record of each iteration."""

    def note(progress: Progress) -> bool | None:
        if progress.record is not None:
            records.append(progress.record)
        return report(progress)

    return note


def drawn(progress: Progress, records: Sequence[Record]) -> tuple[np.ndarray, str]:
    """Pictures of the atoms and of the cost at present."""
    assert progress.factors is not None
    return mosaic.draw(sedil.SeparableDictionary(progress.factors, normalize=True)), curve(records)


def curve(records: Sequence[Record]) -> str:
    """The cost since its weights were changed last: those of the warm-up do not compare."""
    if not records:
        return ""
    shown = [record for record in records if record.sparsity_scale == records[-1].sparsity_scale]
    return curves.draw([r.iteration for r in shown], [r.objective for r in shown], "iterations", "cost")


def in_words(result: LearningResult) -> str:
    """How the learning went."""
    dictionary = result.dictionary
    return as_facts(
        [
            ("learned", " and ".join("x".join(map(str, factor.shape)) for factor in dictionary.factors)),
            ("cost", f"{result.history[-1].objective:.4g}"),
            ("iterations", f"{result.n_iterations}"),
            ("time", f"{result.history[-1].seconds:.1f} s"),
            ("ended", "stopped" if result.stop_reason is StopReason.PROGRESS else str(result.stop_reason)),
        ]
    )
