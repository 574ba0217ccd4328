"""Figures from dictionaries and results; nothing here computes one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sedil import mosaic
from sedil.checks import short
from sedil.dictionary import SeparableDictionary
from sedil.learning.result import History
from sedil.pretrained import DictionaryLike, as_dictionary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sedil.estimators import SeparableDictionaryLearning
    from sedil.learning.result import LearningResult

Part = TypeVar("Part")


def plot_atoms(
    dictionary: DictionaryLike | LearningResult | SeparableDictionaryLearning,
    *,
    signal_shape: Sequence[int] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw all atoms as in the paper's Figure 1: black most negative, grey zero, white most positive.

    Parameters
    ----------
    dictionary : SeparableDictionary, str, Path, LearningResult or fitted SeparableDictionaryLearning
        The path of a file and the name of a shipped dictionary will do.
    signal_shape : tuple of int, optional
        Shape to give each atom, for example (8, 8) for an unstructured dictionary of 64-vectors.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
    """
    given = as_dictionary(dictionary) if isinstance(dictionary, str | Path) else dictionary
    words = "a SeparableDictionary, a path, a shipped name"
    _require_axes(ax)
    found = _part_of(given, "dictionary", SeparableDictionary, words)
    picture = mosaic.draw(found, signal_shape, zoom=1)
    ax = _new_axes(figsize=(6, 6 * picture.shape[0] / picture.shape[1])) if ax is None else ax
    ax.imshow(picture, cmap="gray", vmin=0, vmax=255, interpolation="nearest")
    ax.set_axis_off()
    return ax


def plot_history(
    history: History | LearningResult | SeparableDictionaryLearning, *, ax: Axes | None = None
) -> Axes:
    """Draw the cost and its terms over the iterations or batches, on a logarithmic scale.

    Parameters
    ----------
    history : History, LearningResult or fitted SeparableDictionaryLearning
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
    """
    records = _part_of(history, "history", History, "a History")
    _require_axes(ax)
    ax = _new_axes(figsize=(6, 4)) if ax is None else ax
    for name in ("objective", "data", "sparsity", "coherence"):
        ax.semilogy(records["iteration"], records[name], label=name, lw=2 if name == "objective" else 1)
    ax.set_xlabel(records.unit)
    ax.set_ylabel("cost per patch")
    ax.legend()
    return ax


def _part_of(value: Any, name: str, kind: type[Part], words: str) -> Part:
    """The dictionary or the history of what was given, which may be it already."""
    if isinstance(value, kind):
        return value
    for attribute in (name, f"{name}_"):  # of a result, of an estimator
        if isinstance(part := getattr(value, attribute, None), kind):
            return part
    remedy = ": fit it first" if hasattr(value, "fit") else ""
    raise TypeError(
        f"{name} must be {words}, a LearningResult or a fitted SeparableDictionaryLearning, got "
        f"{short(value)}{remedy}."
    )


def _require_axes(ax: Any) -> None:
    from matplotlib.axes import Axes

    if ax is not None and not isinstance(ax, Axes):
        raise TypeError(f"ax must be Axes of matplotlib, to draw into, got {short(ax)}.")


def _new_axes(**kwargs: Any) -> Axes:
    from matplotlib import pyplot

    return pyplot.figure(**kwargs, layout="constrained").add_subplot()
