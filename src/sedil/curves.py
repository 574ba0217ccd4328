"""A curve as a small SVG, for notebooks: drawn with nothing but text, on a logarithmic scale."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import log

_WIDTH, _HEIGHT = 360, 150
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 10, 12, 34  # margins, which hold the labels


def draw(steps: Sequence[float], values: Sequence[float], across: str, upward: str) -> str:
    """SVG of positive values over steps, with the labels of both axes and their ends.

    Parameters
    ----------
    steps, values : numbers, as many of one as of the other, at least one
    across, upward : what the axes say

    Examples
    --------
    >>> from sedil.curves import draw
    >>> draw([0, 1], [10.0, 0.1], "iterations", "cost").startswith("<svg")
    True
    """
    heights = [log(value) for value in values]
    x = _scaled(steps, _LEFT, _WIDTH - _RIGHT)
    y = _scaled(heights, _HEIGHT - _BOTTOM, _TOP)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
    base, edge = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" '
        f'height="{_HEIGHT}" font-family="sans-serif" font-size="11" fill="currentColor">'
        f'<path d="M{_LEFT - 4} {_TOP}V{base + 4}H{edge}" fill="none" stroke="currentColor"/>'
        f'<polyline points="{points}" fill="none" stroke="#1f77b4" stroke-width="2"/>'
        + _text(_LEFT - 8, _TOP + 8, "end", f"{max(values):.3g}")
        + _text(_LEFT - 8, base, "end", f"{min(values):.3g}")
        + _text(_LEFT - 8, (_TOP + base) / 2 + 4, "end", upward)
        + _text(_LEFT, _HEIGHT - 14, "middle", f"{min(steps):g}")
        + _text(edge, _HEIGHT - 14, "end", f"{max(steps):g}")
        + _text((_LEFT + edge) / 2, _HEIGHT - 14, "middle", across)
        + "</svg>"
    )


def _scaled(values: Sequence[float], start: float, end: float) -> list[float]:
    low, high = min(values), max(values)
    return [start + (end - start) * (value - low) / ((high - low) or 1) for value in values]


def _text(x: float, y: float, anchor: str, words: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(words)}</text>'
