"""Pictures of the cases, from their reports; nothing is computed here but places on the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

from sedil_studies.bench.cases import learning_time, scaling
from sedil_studies.bench.results import Findings, Measurement, named
from sedil_studies.bench.words import digits, duration

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Draw = Callable[["Figure", Findings], None]

_OURS, _OTHERS, _GUIDE = "#0b6e4f", "#8a8f98", "#b0b4ba"
_COLOURS = ("#0b6e4f", "#c2571a", "#3b5b92", "#8a4f7d", "#b8a13a", "#5c5c5c")
_MEMORY_BOUND = 1.5  # GB
_PEAK_SHARE = 0.25


def draw_contestants(figure: Figure, outcome: Findings) -> None:
    """Times as points, a panel per size; lines from the fastest to the slowest repetition."""
    sizes = sorted({each.size for each in outcome.measurements})
    figure.set_size_inches(8, 1 + 0.36 * (len(outcome.measurements) + len(sizes)))
    panels = figure.subplots(len(sizes), 1, sharex=True, squeeze=False)[:, 0]
    for axes, size in zip(panels, sizes, strict=True):
        _draw_points(axes, [each for each in outcome.measurements if each.size == size])
        if size:
            axes.set_title(f"penalty {size:g} sigma", fontsize=9, loc="left")
    shortest = min(each.median for each in outcome.measurements)
    longest = max(max(each.seconds) for each in outcome.measurements)
    panels[0].set_xlim(shortest / 2, longest * 4)  # room for the words
    _set_logarithmic(panels[0].xaxis, duration)
    _plain(*panels)


def _draw_points(axes: Axes, found: list[Measurement]) -> None:
    """On an axis without a zero, the length of a bar would say nothing."""
    ordered = sorted(found, key=lambda each: each.median)
    places = range(len(ordered))
    medians = np.array([each.median for each in ordered])
    ends = np.array([[min(each.seconds), max(each.seconds)] for each in ordered]).T
    colours = [_OURS if _is_ours(each) else _OTHERS for each in ordered]
    axes.hlines(places, *ends, color=colours, lw=2)
    axes.scatter(medians, places, color=colours, s=36, zorder=2)
    axes.grid(axis="y", color=_GUIDE, lw=0.5, alpha=0.5)
    axes.set_axisbelow(True)
    for k, each in enumerate(ordered):
        quality = f", {each.figures['PSNR']:.1f} dB" if "PSNR" in each.figures else ""
        axes.annotate(
            f"{duration(each.median)}, {each.median / ordered[0].median:.3g}x{quality}",
            (max(each.seconds), k),
            (8, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
        )
    axes.set_yticks(places, [_label(each) for each in ordered], fontsize=8)
    axes.set_ylim(len(ordered) - 0.4, -0.6)


def draw_learning(figure: Figure, outcome: Findings) -> None:
    """PSNR against the time; a ring where a learner is near its end for good, and when that is."""
    figure.set_size_inches(10, 4.5)
    axes = figure.add_subplot()
    for colour, (name, path) in zip(cycle(_COLOURS), _by_contestant(outcome.measurements), strict=False):
        quality = [each.figures["PSNR"] for each in path]
        seconds = learning_time.arrival(path)
        label = f"{name}: {duration(seconds)}"
        axes.plot([each.median for each in path], quality, "o-", ms=3, color=colour, label=label)
        there = next(each for each in path if each.median == seconds)
        axes.plot(seconds, there.figures["PSNR"], "o", ms=11, mfc="none", color=colour)
    _set_logarithmic(axes.xaxis, duration)
    axes.set_xlabel(f"time spent learning (ring: within {learning_time.NEAR} dB of the end)")
    axes.set_ylabel("PSNR in dB")
    axes.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    _plain(axes)


def draw_scaling(figure: Figure, outcome: Findings) -> None:
    """Time per patch with the paper's lines, and how many times faster separable is."""
    figure.set_size_inches(10, 4.2)
    left, right = figure.subplots(1, 2)
    lines = {scaling.UNSTRUCTURED: (4, "O(n) per pixel"), scaling.SEPARABLE: (3, "O(√n) per pixel")}
    for colour, (name, (power, order)) in zip((_COLOURS[1], _OURS), lines.items(), strict=True):
        mine = named(outcome.measurements, name)
        _draw_line(left, mine, name, colour)
        sides = np.array([each.size for each in mine])
        middle = mine[len(mine) // 2]
        guide = middle.median * (sides / middle.size) ** power
        left.plot(sides, guide, "--", color=colour, lw=1, alpha=0.6, label=order)
    _set_sides(left, named(outcome.measurements, scaling.SEPARABLE), "side of a patch, √n")
    _set_logarithmic(left.yaxis, duration)
    left.set_ylabel("time per patch")
    left.legend(fontsize=8, frameon=False)
    gain = scaling.gains(outcome.measurements)
    right.plot(list(gain), list(gain.values()), "o-", color=_OURS)
    right.axhline(4, color=_GUIDE, ls="--", lw=1)
    for side, value in gain.items():
        right.annotate(
            f"{value:.1f}", (side, value), (0, 8), textcoords="offset points", fontsize=8, ha="center"
        )
    _set_sides(right, named(outcome.measurements, scaling.SEPARABLE), "side of a patch, √n")
    _set_logarithmic(right.yaxis, digits)
    right.set_ylabel("times faster than unstructured (dashed: 4)")
    _plain(left, right)


def draw_large(figure: Figure, outcome: Findings) -> None:
    """Time and memory against the side of the picture."""
    figure.set_size_inches(10, 4.2)
    left, right = figure.subplots(1, 2)
    found = outcome.measurements
    for colour, (name, path) in zip(cycle(_COLOURS), _by_contestant(found), strict=False):
        _draw_line(left, path, name, colour)
        sides = np.array([each.size for each in path])
        left.plot(sides, path[0].median * (sides / sides[0]) ** 2, "--", color=_GUIDE, lw=1)
        right.plot(sides, [(each.peak_bytes or 0) / 1e9 for each in path], "o-", color=colour)
    _set_logarithmic(left.yaxis, duration)
    left.set_ylabel("time (dashed: linear in pixels)")
    left.legend(fontsize=8, frameon=False)
    right.axhline(_MEMORY_BOUND, color=_GUIDE, ls="--", lw=1)
    right.set_ylim(0, None)
    right.set_ylabel("GB at the peak, whole process (dashed: 1.5)")
    for axes in (left, right):
        _set_sides(axes, found, "side of the picture")
    _plain(left, right)


def draw_peak(figure: Figure, outcome: Findings) -> None:
    """Stages from the bare multiply-adds to the whole, as shares of the peak."""
    found = outcome.measurements
    figure.set_size_inches(8, 1.2 + 0.36 * len(found))
    axes = figure.add_subplot()
    colours = [_OTHERS if not each.size else _COLOURS[_rank(found, each) % len(_COLOURS)] for each in found]
    speeds = [each.figures["GFLOP/s"] for each in found]
    axes.barh(range(len(found)), speeds, color=colours, height=0.65, zorder=2)
    for k, each in enumerate(found):
        axes.text(
            speeds[k],
            k,
            f" {speeds[k]:.0f}, {each.figures['share of the peak']:.0%}",
            va="center",
            fontsize=8,
        )
    axes.axvline(_PEAK_SHARE * speeds[0], color="black", ls="--", lw=1, zorder=1)
    axes.set_yticks(range(len(found)), [each.contestant for each in found], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.15 * max(speeds))
    axes.set_xlabel("GFLOP/s in the products (dashed: a quarter of the peak)")
    _plain(axes)


def draw_switch(figure: Figure, outcome: Findings) -> None:
    """Time per patch of each way, over the smallest of all."""
    axes = figure.add_subplot()
    best: dict[float, float] = {}
    for each in outcome.measurements:
        best[each.size] = min(best.get(each.size, np.inf), each.median)
    for colour, (name, path) in zip(cycle(_COLOURS), _by_contestant(outcome.measurements), strict=False):
        ratios = [each.median / best[each.size] for each in path]
        axes.plot([each.size for each in path], ratios, "o-", color=colour, label=name)
        _set_sides(axes, path, "side of a patch; twice as many atoms per axis")
    axes.set_ylim(0, None)
    axes.set_ylabel("time over that of the fastest")
    axes.legend(fontsize=8, frameon=False)
    _plain(axes)


def _draw_line(axes: Axes, path: list[Measurement], name: str, colour: str) -> None:
    sides = [each.size for each in path]
    axes.plot(sides, [each.median for each in path], "o-", color=colour, label=name)
    axes.fill_between(
        sides,
        [min(each.seconds) for each in path],
        [max(each.seconds) for each in path],
        color=colour,
        alpha=0.2,
    )


def _set_logarithmic(axis: Any, tell: Callable[[float], str]) -> None:
    """Logarithmic, with ticks at 1, 2 and 5 as people write them, or at 1 and 3 where these are too many."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    low, high = axis.get_view_interval()
    crowded = high > 3e3 * low  # the numbers would lie across each other
    axis.set_major_locator(LogLocator(subs=(1, 3) if crowded else (1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda value, place: tell(value)))
    axis.set_minor_locator(NullLocator())


def _set_sides(axes: Axes, path: Iterable[Measurement], label: str) -> None:
    from matplotlib.ticker import NullFormatter, NullLocator

    sides = [int(each.size) for each in path]
    axes.set_xscale("log", base=2)
    axes.set_xticks(sides, list(map(str, sides)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(label)


def _by_contestant(found: Iterable[Measurement]) -> list[tuple[str, list[Measurement]]]:
    paths: dict[str, list[Measurement]] = {}
    for each in found:
        paths.setdefault(each.contestant, []).append(each)
    return list(paths.items())


def _rank(found: list[Measurement], each: Measurement) -> int:
    return sorted({other.size for other in found if other.size}).index(each.size)


def _is_ours(each: Measurement) -> bool:
    return each.contestant.startswith("sedil") and "portable" not in each.contestant


def _label(each: Measurement) -> str:
    return each.contestant + (" (part)" if each.share < 1 else "")


def _plain(*several: Axes) -> None:
    for axes in several:
        axes.spines[["top", "right"]].set_visible(False)
