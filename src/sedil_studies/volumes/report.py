"""The report on volumes and video: tables from the rows of the results files, and a picture of slices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sedil.imaging.quality import quality_in_words
from sedil.panels import Panel, side_by_side
from sedil_studies.harness.denoising_rows import DENOISING, DenoisingRow
from sedil_studies.harness.method import Denoiser
from sedil_studies.harness.source_commit import commits_in_words
from sedil_studies.harness.tables import markdown_table, page
from sedil_studies.volumes.data import middle, noisy_volume
from sedil_studies.volumes.filling import FILLERS, FILLINGS, FillingRow

LABELS = {
    "slices": "slice by slice, 2-D",
    "odct": "ODCT, 3-D",
    "learned": "three factors, learned",
    "quick": "sedil quick, 3-D",
    "groups": "sedil",
    "bm4d": "BM4D",
}
_CASES = {
    "head": "T1 head, learned from its back, tested on its front",
    "runner": "clip runner, learned from the clip traffic",
    "traffic": "clip traffic, learned from the clip runner",
}
_NOTES = (
    "White Gaussian noise, neither clipped nor rounded, on the scale 0 to 255; one seed; every method gets "
    "the same voxels.",
    "PSNR in dB and SSIM (in three axes, settings of Wang et al. 2004) of the unrounded result.",
    "Settings were chosen on parts of the data that are not tested: see docs/volumes.md.",
)
_SHOWN_SIGMA = 20


def markdown(rows: Sequence[DenoisingRow], fillings: Sequence[FillingRow]) -> str:
    """The report as Markdown."""
    rows = DENOISING.latest(rows)
    parts = ["# Volumes and video: noise and missing voxels", "\n".join(f"- {note}" for note in _NOTES)]
    for case in dict.fromkeys(row.image for row in rows):
        mine = [row for row in rows if row.image == case]
        parts += [f"## {_CASES.get(case, case)}", _noise_table(mine)]
    if fillings:
        words = (
            "A part of 24 slices in the middle of the test; PSNR over the missing voxels. Slice by slice, a "
            "lost slice is the mean of its neighbours."
        )
        parts += ["## Missing voxels", words, _filling_table(fillings)]
    commits = [row.commit for row in rows] + [row.commit for row in FILLINGS.latest(fillings)]
    return page(*parts, "## Settings", _settings(rows), commits_in_words(commits))


def _noise_table(rows: Sequence[DenoisingRow]) -> str:
    """A line per method: PSNR and SSIM at each noise level, its gain over the slices, mean seconds."""
    sigmas = sorted({row.sigma for row in rows})
    psnr = {(row.method, row.sigma): row.psnr for row in rows}
    lines = []
    for method in dict.fromkeys(row.method for row in rows):
        mine = {row.sigma: row for row in rows if row.method == method}
        cells = [
            f"{mine[sigma].psnr:.2f} ({_gain(psnr, method, sigma)}) / {mine[sigma].ssim:.3f}"
            if sigma in mine
            else ""
            for sigma in sigmas
        ]
        seconds = np.mean([row.seconds for row in mine.values()])
        lines.append([LABELS.get(method, method), *cells, f"{seconds:.1f}"])
    columns = ["PSNR (over 2-D) / SSIM", *(f"sigma {sigma}" for sigma in sigmas), "seconds"]
    return markdown_table(columns, lines)


def _gain(psnr: Mapping[tuple[str, int], float], method: str, sigma: int) -> str:
    base = psnr.get(("slices", sigma))
    return "" if base is None else f"{psnr[method, sigma] - base:+.2f}"


def _filling_table(rows: Sequence[FillingRow]) -> str:
    last = {(row.case, row.missing, row.method): row for row in FILLINGS.latest(rows)}
    lines = [
        [
            case,
            missing,
            *(f"{last[case, missing, name].psnr:.2f}" for name in FILLERS),
            *(f"{last[case, missing, name].seconds:.1f}" for name in FILLERS),
        ]
        for case, missing in dict.fromkeys(key[:2] for key in last)
        if all((case, missing, name) in last for name in FILLERS)
    ]
    names = [LABELS[name] for name in FILLERS]
    return markdown_table(["case", "missing", *names, *(f"seconds, {name}" for name in names)], lines)


def _settings(rows: Sequence[DenoisingRow]) -> str:
    kinds = dict.fromkeys(
        (row.image, LABELS.get(row.method, row.method), row.settings, row.baseline, str(row.threads))
        for row in rows
    )
    return markdown_table(["case", "method", "settings", "package", "threads"], list(kinds))


def picture(tests: Mapping[str, np.ndarray], methods: Mapping[str, Mapping[str, Denoiser]]) -> np.ndarray:
    """The middle slice of each case: clean, noisy, then what each method makes of it."""
    rows: list[list[Panel]] = []
    for case, test in tests.items():
        clean = middle(test, 16)
        noisy = noisy_volume(clean, case, _SHOWN_SIGMA, 0)
        results = {LABELS[name]: denoise(noisy, _SHOWN_SIGMA) for name, denoise in methods[case].items()}
        original = clean[len(clean) // 2]
        row: list[Panel] = [(f"{case}, original", original)]
        for name, volume in {f"sigma {_SHOWN_SIGMA}": noisy, **results}.items():
            middle_slice = volume[len(volume) // 2]
            row.append((f"{name}: {quality_in_words(middle_slice, original)}", middle_slice))
        rows.append(row)
    return side_by_side(rows, gap=4, zoom=2)
