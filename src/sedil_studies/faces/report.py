"""The report on face inpainting, as Markdown, from the rows of the results files."""

from __future__ import annotations

from collections.abc import Sequence

from sedil_studies.faces.face_rows import LEARNING, FaceRow, LearningRow
from sedil_studies.faces.masks import KINDS
from sedil_studies.faces.methods import METHODS
from sedil_studies.harness.source_commit import commits_in_words
from sedil_studies.harness.tables import markdown_table, page

TITLE = "Faces: large holes filled from the dictionary"
_EXPLANATION = (
    "± is half the 95 % confidence interval of the mean, faces of one person counting as dependent. "
    "Holes are squares of so many pixels a side, at the centre or anywhere; "
    "a half is the left, right, upper or lower one. Every method gets the same pixels."
)
_CENTRES = ("centre 16", "centre 24", "centre 32")
_LEARNING = (
    "PSNR inside centre holes of 200 validation faces, plain l1. Memory is the largest of the process "
    "until then."
)

Found = dict[tuple[str, str], FaceRow]  # by method and hole


def markdown(rows: Sequence[FaceRow], learning: Sequence[LearningRow]) -> str:
    """The report; of rows that were run more than once, the last counts."""
    found = {(row.method, row.hole): row for row in rows}
    last = next(reversed(found.values()))
    holes = [hole for hole in KINDS if any(key[1] == hole for key in found)]
    methods = [method for method in METHODS if any(key[0] == method for key in found)]
    faces = f"{last.n_faces:,} {last.part} faces of {last.n_persons} persons, none of whom was learned from"
    commits = [row.commit for row in found.values()] + [row.commit for row in LEARNING.latest(learning)]
    return page(
        f"# {TITLE}",
        f"Over {faces}. {_EXPLANATION}",
        "## PSNR in dB inside the hole",
        _figures(found, methods, holes, "psnr", 2),
        "## SSIM of whole faces",
        _figures(found, methods, holes, "ssim", 3),
        "## Size, time and settings",
        _settings(found, methods),
        "## Learning",
        _LEARNING,
        _learning(learning),
        commits_in_words(commits),
    )


def _figures(found: Found, methods: Sequence[str], holes: Sequence[str], name: str, decimals: int) -> str:
    lines = [
        [method, *(_figure(found.get((method, hole)), name, decimals) for hole in holes)]
        for method in methods
    ]
    return markdown_table(["method", *holes], lines, texts=1)


def _figure(row: FaceRow | None, name: str, decimals: int) -> str:
    if row is None:
        return ""
    mean, half = getattr(row, name), getattr(row, f"{name}_margin")
    return f"{mean:.{decimals}f} ± {half:.{decimals}f}"


def _settings(found: Found, methods: Sequence[str]) -> str:
    lines = []
    for method in methods:
        mine = [row for key, row in found.items() if key[0] == method]
        times = [1000 * row.seconds for row in mine]
        spread = f"{min(times):.3g} to {max(times):.3g}"
        lines.append([method, f"{mine[-1].n_numbers:,}", spread, str(mine[-1].threads), mine[-1].settings])
    return markdown_table(["method", "numbers stored", "ms per face", "threads", "settings"], lines, texts=1)


def _learning(rows: Sequence[LearningRow]) -> str:
    columns = ["learner", "settings", "seconds", "processor seconds", "memory, GB", *_CENTRES]
    lines = [
        [
            row.learner,
            row.settings,
            f"{row.seconds:.0f}",
            f"{row.processor_seconds:.0f}",
            f"{row.peak_gb:.1f}",
            *(f"{figure:.2f}" for figure in (row.centre16, row.centre24, row.centre32)),
        ]
        for row in LEARNING.latest(rows)
    ]
    return markdown_table(columns, lines, texts=1)
