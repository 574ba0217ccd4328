"""The area that a file is dropped on."""

from __future__ import annotations

from typing import Any


def drop_area(label: str, name: str) -> Any:
    """Where a file is dropped, or chosen by a click; of all formats, as the reader knows best what it is."""
    import gradio as gr

    return gr.File(label=label, elem_id=f"{name}-file", height=150, interactive=True)


def make_ready(area: Any, taken: Any) -> None:
    """Empty the area once its file is taken or refused: the next one may come."""
    for end in (taken.success, taken.failure):
        end(lambda: None, outputs=area, show_progress="hidden")
