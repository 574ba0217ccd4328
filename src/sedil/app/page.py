"""The page: four tabs, the words above and below them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sedil.app.denoise_tab import build_denoise_tab
from sedil.app.fill_tab import build_fill_tab
from sedil.app.learn_tab import build_learn_tab
from sedil.app.limits import IN_WORDS
from sedil.app.samples import write_samples, write_volume_sample
from sedil.app.volume_tab import build_volume_tab

_FONTS = ("system-ui", "sans-serif")
_SECONDS_BETWEEN_CLEANINGS, _SECONDS_KEPT = 600, 3600
STYLE = """
.fact { margin-right: 1.4em; white-space: nowrap; }
progress { width: 12em; height: 0.8em; margin-right: 0.6em; }
progress::-webkit-progress-bar { background: #d4d4d8; }
progress::-webkit-progress-value { background: #6366f1; }
progress::-moz-progress-bar { background: #6366f1; }
.gradio-container { max-width: 1500px !important; margin: auto !important; }
#title h1 { display: inline; margin-right: 0.6em; }
#limits { opacity: 0.75; font-size: 0.85em; }
#volume-before img, #volume-after img { width: 100%; height: 100%; object-fit: contain; }
#learn-cost svg { width: 100%; height: auto; }
"""


def build_page(samples_folder: Path, folder: Path) -> Any:
    """The page as Gradio's blocks.

    Results are written into `folder`, where uploads come too. Samples lie elsewhere: a visitor can name any
    file in `folder` as an upload, and uploads are deleted after a while.
    """
    import gradio as gr

    samples, foam = write_samples(samples_folder), write_volume_sample(samples_folder)
    keeping = (_SECONDS_BETWEEN_CLEANINGS, _SECONDS_KEPT)
    with gr.Blocks(title="sedil", analytics_enabled=False, fill_width=True, delete_cache=keeping) as page:
        own = gr.State(None, time_to_live=_SECONDS_KEPT)  # the dictionary of this visitor
        gr.HTML(
            "<h1>sedil</h1> denoise, fill and learn on the machine that runs this page: nothing leaves it",
            elem_id="title",
            padding=False,
        )
        with gr.Tabs() as tabs:
            with gr.Tab("Denoise", id="denoise"):
                method = build_denoise_tab(samples, folder, own)
            with gr.Tab("Fill", id="fill"):
                build_fill_tab(samples, folder)
            with gr.Tab("Learn", id="learn"):
                build_learn_tab(samples, folder, own, tabs, method)
            with gr.Tab("Volume", id="volume"):
                build_volume_tab(foam, folder)
        gr.HTML(IN_WORDS, elem_id="limits")
    return page


def look() -> dict[str, Any]:
    """What `launch` is told of the looks: fonts of the system alone, none is fetched."""
    import gradio as gr

    theme = gr.themes.Default(primary_hue="indigo", font=_FONTS, font_mono=("ui-monospace", "monospace"))
    return {"theme": theme, "css": STYLE, "footer_links": []}
