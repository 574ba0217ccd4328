"""Atoms as one picture, in the convention of the paper's Figure 1.

Each atom is one tile: black is its most negative entry, grey is zero, white is its most positive
entry. Negative and positive entries are scaled apart, so all three hold for every atom.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from io import BytesIO
from math import ceil, prod, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sedil.arrays import to_numpy
from sedil.checks import patch_lengths
from sedil.files import write_picture

if TYPE_CHECKING:
    from sedil.dictionary import SeparableDictionary

MAX_PIXELS = 4_000_000
MOST_BLOCKS = 24  # atoms of three and four axes that are drawn; their factors say the rest
_GREY = 127.5
_GAP = 4  # pixels between the factors, and between them and the atoms


def draw(
    dictionary: SeparableDictionary,
    signal_shape: Sequence[int] | None = None,
    zoom: int = 3,
    *,
    order: Sequence[np.ndarray] | None = None,
) -> np.ndarray:
    """Grey picture (uint8) of all atoms with a thin border between them.

    It has at most `MAX_PIXELS` pixels. Where all atoms take more, the zoom is lowered; where they take
    more even at zoom 1, only the first rows of atoms that fit are drawn (of a longer row, its first
    atoms; of a larger atom, every second entry, every third, and so on).

    Atoms of one axis are drawn as a bar code. Of atoms with three and four axes there are too many to look
    at: the factors are drawn, and below them `MOST_BLOCKS` atoms from first to last, each as its slices
    side by side.

    Parameters
    ----------
    dictionary : SeparableDictionary
    signal_shape : shape to give each atom, for example (8, 8) where 64 values are an image patch.
        Default: that of the dictionary.
    zoom : size of one entry in pixels, at most.
    order : for each factor, the order of its columns. Default: `by_frequency`.
    """
    shape = dictionary.signal_shape if signal_shape is None else patch_lengths(signal_shape, "signal_shape")
    if prod(shape) != prod(dictionary.patch_shape):
        raise ValueError(f"signal_shape {shape} does not hold a patch of shape {dictionary.patch_shape}.")
    order = by_frequency(dictionary, shape) if order is None else order
    factors = [to_numpy(each)[:, columns] for each, columns in zip(dictionary.factors, order, strict=True)]
    if len(shape) < 3:
        return _all_atoms(factors, shape, zoom)
    picture = _some_blocks(factors, shape, zoom)
    return picture if len(factors) == 1 else _below_factors(picture, factors)


def by_frequency(dictionary: SeparableDictionary, signal_shape: Sequence[int]) -> list[np.ndarray]:
    """For each factor its columns from smooth to fine, by their squared differences of neighbours."""
    single = len(dictionary.factors) == 1
    shapes = [tuple(signal_shape)] if single else [(length,) for length in dictionary.patch_shape]
    return [
        np.argsort(_roughness(to_numpy(factor).T.reshape(-1, *shape)), kind="stable")
        for factor, shape in zip(dictionary.factors, shapes, strict=True)
    ]


def by_use(codes: np.ndarray) -> list[np.ndarray]:
    """For each factor its columns from the one that `codes`, (n, *n_atoms), use most to the least used."""
    use = np.abs(codes).sum(axis=0, dtype=np.float64)
    axes = range(use.ndim)
    return [
        np.argsort(-use.sum(axis=tuple(other for other in axes if other != k)), kind="stable") for k in axes
    ]


def _roughness(columns: np.ndarray) -> np.ndarray:
    """Sum of squared differences of neighbours, for each of the blocks (n, *shape)."""
    axes = range(1, columns.ndim)
    return sum((np.diff(columns, axis=k) ** 2).sum(axis=tuple(axes)) for k in axes)


def _all_atoms(factors: Sequence[np.ndarray], shape: tuple[int, ...], zoom: int) -> np.ndarray:
    """Two factors make a table of atoms; otherwise the mosaic is near square."""
    count = prod(factor.shape[1] for factor in factors)
    columns = factors[1].shape[1] if len(factors) == 2 else ceil(sqrt(count))
    return _fitted(factors, range(count), shape, columns, zoom)


def _some_blocks(factors: Sequence[np.ndarray], shape: tuple[int, ...], zoom: int) -> np.ndarray:
    """Atoms evenly from the first to the last, in a mosaic that is near square."""
    count = prod(factor.shape[1] for factor in factors)
    last = min(count, MOST_BLOCKS) - 1
    chosen = [k * (count - 1) // max(last, 1) for k in range(last + 1)]
    columns = max(1, round(sqrt(len(chosen) * shape[-2] / (prod(shape[:-2]) * shape[-1]))))
    return _fitted(factors, chosen, shape, columns, zoom)


def _fitted(
    factors: Sequence[np.ndarray], chosen: Sequence[int], shape: tuple[int, ...], columns: int, zoom: int
) -> np.ndarray:
    """The mosaic of the chosen atoms, or of the first of them that fit."""
    height, width = _as_pictures(np.zeros((1, *shape), np.uint8)).shape[1:]
    thinning = _thinning(height, width)
    rows, columns, zoom = _layout(len(chosen), columns, ceil(height / thinning), ceil(width / thinning), zoom)
    tiles = _grey_levels(_atoms(factors, chosen[: rows * columns]))
    tiles = _as_pictures(tiles.reshape(-1, *shape))[:, ::thinning, ::thinning]
    tiles = tiles.repeat(zoom, axis=1).repeat(zoom, axis=2)
    return _tile(tiles, columns)


def _below_factors(picture: np.ndarray, factors: Sequence[np.ndarray]) -> np.ndarray:
    """The picture with the factors side by side above it, one column an atom; without them if too large."""
    width = picture.shape[1]
    zoom = (width - _GAP * (len(factors) - 1)) // sum(factor.shape[1] for factor in factors)
    top = max(factor.shape[0] for factor in factors) * zoom + _GAP
    if zoom < 1 or picture.size + top * width > MAX_PIXELS:
        return picture
    above = np.full((top, width), 255, np.uint8)
    left = 0
    for factor in factors:
        levels = _grey_levels(factor.T).T.repeat(zoom, axis=0).repeat(zoom, axis=1)
        above[: levels.shape[0], left : left + levels.shape[1]] = levels
        left += levels.shape[1] + _GAP
    return np.vstack([above, picture])


def save(dictionary: SeparableDictionary, path: str | Path, **how: Any) -> None:
    """Write the picture of the atoms to a file, in the format of its suffix; `how` goes to `draw`.

    An existing file is replaced in one step: after a crash it is still whole.
    """
    write_picture(path, draw(dictionary, **how))


def as_data_uri(picture: np.ndarray) -> str:
    """The picture as a PNG inside a ``data:`` address, for HTML."""
    from PIL import Image

    stream = BytesIO()
    Image.fromarray(picture).save(stream, format="PNG")
    return "data:image/png;base64," + base64.b64encode(stream.getvalue()).decode()


def _thinning(height: int, width: int) -> int:
    """Draw every so-many-th entry, so that one tile with its border fits."""
    thinning = 1
    while thinning < max(height, width) and (
        _length(1, ceil(height / thinning)) * _length(1, ceil(width / thinning)) > MAX_PIXELS
    ):
        thinning += 1
    return thinning


def _layout(count: int, columns: int, height: int, width: int, zoom: int) -> tuple[int, int, int]:
    """Rows, columns and zoom of the mosaic that fits."""
    rows = ceil(count / columns)
    while zoom > 1 and _length(rows, height * zoom) * _length(columns, width * zoom) > MAX_PIXELS:
        zoom -= 1
    if zoom == 1:
        rows = min(rows, _tiles_that_fit(_length(columns, width), height))
    if rows < 1:  # not even one row fits
        rows, columns = 1, max(1, _tiles_that_fit(_length(1, height), width))
    return rows, columns, zoom


def _length(n_tiles: int, side: int, border: int = 1) -> int:
    """Pixels along `n_tiles` tiles with their borders."""
    return n_tiles * (side + border) + border


def _tiles_that_fit(across: int, side: int, border: int = 1) -> int:
    """How many tiles fit along one axis of a picture that has `across` pixels along the other."""
    return (MAX_PIXELS // across - border) // (side + border)


def _atoms(factors: Sequence[np.ndarray], chosen: Sequence[int]) -> np.ndarray:
    """The chosen atoms as blocks; the others are never computed."""
    atoms = np.ones(len(chosen))
    indices = np.unravel_index(np.asarray(chosen), [factor.shape[1] for factor in factors])
    for factor, index in zip(factors, indices, strict=True):
        columns = factor.T[index]
        atoms = atoms[..., None] * columns.reshape(len(chosen), *[1] * (atoms.ndim - 1), -1)
    return atoms


def _grey_levels(atoms: np.ndarray) -> np.ndarray:
    axes = tuple(range(1, atoms.ndim))
    lowest = np.maximum(-atoms.min(axis=axes, keepdims=True), np.finfo(float).tiny)
    highest = np.maximum(atoms.max(axis=axes, keepdims=True), np.finfo(float).tiny)
    scaled = np.where(atoms < 0, atoms / lowest, atoms / highest)
    return np.rint(_GREY + _GREY * scaled).astype(np.uint8)


def _as_pictures(tiles: np.ndarray) -> np.ndarray:
    """Tiles of any number of axes as (n, rows, columns): leading axes go side by side, with gaps."""
    if tiles.ndim == 2:
        return tiles[:, :, None].repeat(max(2, tiles.shape[1] // 4), axis=2)
    *leading, rows, columns = tiles.shape[1:]
    slices = tiles.reshape(len(tiles), prod(leading), rows, columns)
    if leading:  # a gap after each slice, and a wider one after the last
        slices = np.pad(slices, [(0, 0), (0, 0), (0, 0), (0, 1)], constant_values=255)
    side_by_side = slices.transpose(0, 2, 1, 3).reshape(len(tiles), rows, -1)
    return np.pad(side_by_side, [(0, 0), (0, 0), (0, 2 * bool(leading))], constant_values=255)


def _tile(tiles: np.ndarray, columns: int, border: int = 1) -> np.ndarray:
    count, height, width = tiles.shape
    rows = ceil(count / columns)
    picture = np.full((_length(rows, height, border), _length(columns, width, border)), 255, np.uint8)
    for index, tile in enumerate(tiles):
        top = border + (index // columns) * (height + border)
        left = border + (index % columns) * (width + border)
        picture[top : top + height, left : left + width] = tile
    return picture
