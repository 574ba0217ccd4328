"""Figures from dictionaries and results; nothing here computes one."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import numpy as np

from sedil import mosaic
from sedil.arrays import to_numpy
from sedil.checks import patch_lengths, require_choice, short
from sedil.choices import AtomOrder
from sedil.dictionary import SeparableDictionary, format_atoms, format_shape
from sedil.imaging.given_noise import require_estimate
from sedil.imaging.measured_noise import NoiseEstimate
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
    order: AtomOrder = "frequency",
    ax: Axes | None = None,
) -> Axes:
    """Draw all atoms as in the paper's Figure 1: black most negative, grey zero, white most positive.

    Of dictionaries for volumes, the factors are drawn, one column an atom, and below them some of the atoms,
    each as its slices side by side.

    Parameters
    ----------
    dictionary : SeparableDictionary, str, Path, LearningResult or fitted SeparableDictionaryLearning
        The path of a file and the name of a shipped dictionary will do.
    signal_shape : tuple of int, optional
        Shape to give each atom, for example (8, 8) for an unstructured dictionary of 64-vectors.
    order : {"frequency", "use", "stored"}, default "frequency"
        Which atoms come first: the smooth ones, those that the codes of a LearningResult use most, or as they
        lie in the dictionary. Columns of each factor are sorted, so that a table of atoms stays one.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib, sedil
    >>> matplotlib.use("Agg")  # no window
    >>> ax = sedil.plot_atoms("separable-8x8")
    >>> ax.get_title()
    '16x16 = 256 atoms of 8x8'
    """
    given = as_dictionary(dictionary) if isinstance(dictionary, str | Path) else dictionary
    words = "a SeparableDictionary, a path, a shipped name"
    _require_axes(ax)
    found = _part_of(given, "dictionary", SeparableDictionary, words)
    shape = found.signal_shape if signal_shape is None else patch_lengths(signal_shape, "signal_shape")
    picture = mosaic.draw(found, shape, zoom=1, order=_columns(given, found, order))
    ax = _new_axes(figsize=(6, 6 * picture.shape[0] / picture.shape[1])) if ax is None else ax
    ax.imshow(picture, cmap="gray", vmin=0, vmax=255, interpolation="nearest")
    ax.set_title(_title(found, shape))
    ax.set_axis_off()
    return ax


def _columns(given: Any, dictionary: SeparableDictionary, order: AtomOrder) -> list[np.ndarray] | None:
    """The order of the columns of each factor; None for that of `mosaic.draw`."""
    require_choice(order, "order", get_args(AtomOrder))
    if order == "frequency":
        return None
    if order == "stored":
        return [np.arange(count) for count in dictionary.n_atoms]
    codes = getattr(given, "codes", None)
    if codes is None:
        raise ValueError(
            'order="use" needs codes, which the LearningResult of sedil.learn has: give that, or choose '
            "another order."
        )
    return mosaic.by_use(to_numpy(codes))


def _title(dictionary: SeparableDictionary, shape: Sequence[int]) -> str:
    atoms = f"{format_atoms(dictionary.n_atoms)} atoms of {format_shape(shape)}"
    if len(shape) < 3:
        return atoms
    some = f"{min(prod(dictionary.n_atoms), mosaic.MOST_BLOCKS)} atoms, slice by slice"
    return f"{atoms}\n" + (some if len(dictionary.factors) == 1 else f"above: the factors; below: {some}")


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

    Examples
    --------
    >>> import matplotlib, numpy as np, sedil
    >>> matplotlib.use("Agg")  # no window
    >>> patches = np.random.default_rng(0).standard_normal((50, 3, 3))
    >>> result = sedil.learn(patches, n_atoms=4, max_iterations=5, random_state=0)
    >>> ax = sedil.plot_history(result)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('iterations', 'cost per patch')
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


def plot_noise(noise: NoiseEstimate, *, ax: Axes | None = None) -> Axes:
    """Draw the noise of the flat parts of an image over their brightness, and the line through it.

    Parameters
    ----------
    noise : NoiseEstimate
        Of `sedil.measure_noise`.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib, numpy as np, sedil
    >>> matplotlib.use("Agg")  # no window
    >>> photons = np.random.default_rng(0).poisson(np.linspace(20, 200, 128) * np.ones((128, 1)))
    >>> ax = sedil.plot_noise(sedil.measure_noise(photons))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('brightness', 'variance of the noise')
    """
    if not isinstance(noise, NoiseEstimate):
        raise TypeError(f"noise must be a NoiseEstimate of sedil.measure_noise, got {short(noise)}.")
    noise = require_estimate(noise)
    if not len(noise.brightness):
        raise ValueError("noise holds no flat parts by brightness: there is nothing to draw.")
    _require_axes(ax)
    ax = _new_axes(figsize=(6, 4)) if ax is None else ax
    n_channels = len(noise.sigma)
    colours = ("tab:red", "tab:green", "tab:blue") if n_channels == 3 else ("black",) * n_channels
    for channel, colour in enumerate(colours):
        brightness, gain = noise.brightness[:, channel], noise.gain[channel]
        ends = np.array([brightness.min(), brightness.max()])
        line = gain * (ends - noise.offset[channel]) + noise.read_noise[channel] ** 2
        which = f"channel {channel}: " if n_channels > 1 else ""
        label = f"{which}gain {gain:.3g}, read noise {noise.read_noise[channel]:.3g}"
        ax.plot(brightness, noise.variances[:, channel], "o", color=colour)
        ax.plot(ends, line, color=colour, label=label)
    ax.set_xlabel("brightness")
    ax.set_ylabel("variance of the noise")
    ax.set_ylim(bottom=0)
    sigmas = ", ".join(f"{sigma:.3g}" for sigma in noise.sigma)
    ax.set_title(f"{noise.kind} noise, sigma {sigmas}")
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
