"""The cases of the benchmark by name, in the order of the report."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from sedil_studies.bench import pictures
from sedil_studies.bench.cases import (
    coding_gap,
    cost_gradient,
    denoising,
    large,
    learning_time,
    peak,
    scaling,
    switch,
)
from sedil_studies.bench.results import Findings
from sedil_studies.bench.setting import Setting


class Case(NamedTuple):
    """One case.

    Attributes
    ----------
    title, words : what is measured
    run : measure it
    draw : its picture
    size : what the size of a measurement is; empty if the case has one size only
    timed : whether seconds say something in its table
    """

    title: str
    words: str
    run: Callable[[Setting], Findings]
    draw: pictures.Draw
    size: str = ""
    timed: bool = True


CASES = {
    "coding": Case(
        "l1 coding",
        "All patches of a noisy picture, each coded to the same duality gap with the same penalty.",
        coding_gap.run,
        pictures.draw_contestants,
        size="penalty in sigma",
    ),
    "denoising": Case(
        "Denoising",
        "One noisy picture, all overlapping patches.",
        denoising.run,
        pictures.draw_contestants,
    ),
    "cost": Case(
        "Value and gradient of the learning cost",
        "One evaluation of Eq. (16) with its gradient in codes and factors, where learning starts.",
        cost_gradient.run,
        pictures.draw_contestants,
    ),
    "learning": Case(
        "Learning",
        "Denoising with dictionaries on their way, against the time spent learning them.",
        learning_time.run,
        pictures.draw_learning,
    ),
    "scaling": Case(
        "Separable against unstructured",
        "The same coding problem with factors and with their Kronecker product written out.",
        scaling.run,
        pictures.draw_scaling,
        size="side of a patch",
    ),
    "large": Case(
        "Large pictures",
        "Time and memory of denoising against the size of the picture.",
        large.run,
        pictures.draw_large,
        size="side of the picture",
    ),
    "peak": Case(
        "Use of the machine",
        "Multiply-adds per second, from the bare ones to the whole of sparse_code.",
        peak.run,
        pictures.draw_peak,
        size="side of a patch",
        timed=False,
    ),
    "switch": Case(
        "Fused engine or BLAS",
        "A synthesis and an analysis, for ever larger dictionaries.",
        switch.run,
        pictures.draw_switch,
        size="side of a patch",
    ),
}
