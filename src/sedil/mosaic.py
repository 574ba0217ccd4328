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

from sedil.checks import patch_lengths
from sedil.files import write_picture

if TYPE_CHECKING:
    from sedil.dictionary import SeparableDictionary

MAX_PIXELS = 4_000_000
_GREY = 127.5


def draw(
    dictionary: SeparableDictionary, signal_shape: Sequence[int] | None = None, zoom: int = 3
) -> np.ndarray:
    """Grey picture (uint8) of all atoms with a thin border between them.

    It has at most `MAX_PIXELS` pixels. Where all atoms take more, the zoom is lowered; where they take
    more even at zoom 1, only the first rows of atoms that fit are drawn (of a longer row, its first
    atoms; of a larger atom, every second entry, every third, and so on).

    Parameters
    ----------
    dictionary : SeparableDictionary
    signal_shape : shape to give each atom, for example (8, 8) where 64 values are an image patch.
        Default: that of the dictionary. Atoms of three and
        four axes are drawn as their slices side by side, atoms of one axis as a bar code.
    zoom : size of one entry in pixels, at most.
    """
    shape = dictionary.signal_shape if signal_shape is None else patch_lengths(signal_shape, "signal_shape")
    if prod(shape) != prod(dictionary.patch_shape):
        raise ValueError(f"signal_shape {shape} does not hold a patch of shape {dictionary.patch_shape}.")
    height, width = _as_pictures(np.zeros((1, *shape), np.uint8)).shape[1:]
    thinning = _thinning(height, width)
    rows, columns, zoom = _layout(
        prod(dictionary.n_atoms),
        _columns(dictionary.n_atoms),
        ceil(height / thinning),
        ceil(width / thinning),
        zoom,
    )
    tiles = _grey_levels(_first_atoms(dictionary, rows * columns))
    tiles = _as_pictures(tiles.reshape(-1, *shape))[:, ::thinning, ::thinning]
    tiles = tiles.repeat(zoom, axis=1).repeat(zoom, axis=2)
    return _tile(tiles, columns)


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


def _first_atoms(dictionary: SeparableDictionary, count: int) -> np.ndarray:
    """The first atoms as blocks, at most `count`; the others are never computed."""
    count = min(count, prod(dictionary.n_atoms))
    atoms = np.ones(count)
    indices = np.unravel_index(np.arange(count), dictionary.n_atoms)
    for factor, index in zip(dictionary.like(np.empty(0)).factors, indices, strict=True):
        columns = np.asarray(factor).T[index]
        atoms = atoms[..., None] * columns.reshape(count, *[1] * (atoms.ndim - 1), -1)
    return atoms


def _grey_levels(atoms: np.ndarray) -> np.ndarray:
    axes = tuple(range(1, atoms.ndim))
    lowest = np.maximum(-atoms.min(axis=axes, keepdims=True), np.finfo(float).tiny)
    highest = np.maximum(atoms.max(axis=axes, keepdims=True), np.finfo(float).tiny)
    scaled = np.where(atoms < 0, atoms / lowest, atoms / highest)
    return np.rint(_GREY + _GREY * scaled).astype(np.uint8)


def _as_pictures(tiles: np.ndarray) -> np.ndarray:
    """Tiles of any number of axes as (n, rows, columns): leading axes go side by side."""
    if tiles.ndim == 2:
        return tiles[:, :, None].repeat(max(2, tiles.shape[1] // 4), axis=2)
    *leading, rows, columns = tiles.shape[1:]
    slices = tiles.reshape(len(tiles), prod(leading), rows, columns)
    return slices.transpose(0, 2, 1, 3).reshape(len(tiles), rows, -1)


def _columns(n_atoms: Sequence[int]) -> int:
    """Two factors make a table of atoms; otherwise the mosaic is near square."""
    return n_atoms[1] if len(n_atoms) == 2 else ceil(sqrt(prod(n_atoms)))


def _tile(tiles: np.ndarray, columns: int, border: int = 1) -> np.ndarray:
    count, height, width = tiles.shape
    rows = ceil(count / columns)
    picture = np.full((_length(rows, height, border), _length(columns, width, border)), 255, np.uint8)
    for index, tile in enumerate(tiles):
        top = border + (index // columns) * (height + border)
        left = border + (index % columns) * (width + border)
        picture[top : top + height, left : left + width] = tile
    return picture
