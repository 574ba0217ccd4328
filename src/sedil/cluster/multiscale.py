"""OME-Zarr: groups that hold an image at several scales, of which the first is worked on.

Versions 0.1 to 0.4 say so in the attribute ``multiscales``, 0.5 in ``ome``; all that a group says is kept.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sedil.cluster.stored_arrays import StoredArray, one_sentence, zarr_array, zarr_module
from sedil.errors import ImageFileError
from sedil.imaging.pixels import as_type


class Multiscale(NamedTuple):
    """An image at several scales.

    Attributes
    ----------
    path : of the group
    levels : the finest first
    axes : what each axis is, "time", "channel" or "space"
    """

    path: Path
    levels: tuple[StoredArray, ...]
    axes: tuple[str, ...]


def open_multiscale(path: Path) -> Multiscale | None:
    """The image in a group; None if there is none that says so."""
    if not any((path / mark).is_file() for mark in (".zgroup", "zarr.json")):
        return None
    zarr = zarr_module()
    with one_sentence(path, "read"):
        group = zarr.open(path, mode="r")
        if not isinstance(group, zarr.Group):
            return None
        attributes = dict(group.attrs)
        images = attributes.get("multiscales") or attributes.get("ome", {}).get("multiscales")
        if not images:
            return None
        names = [level["path"] for level in images[0]["datasets"]]
        levels = tuple(zarr_array(path, name, group[name]) for name in names)
    axes = _kinds_of_axes(images[0].get("axes"), levels[0].ndim)
    if len(axes) != levels[0].ndim or not 1 <= axes.count("space") <= 3:
        raise ImageFileError(f"{path} does not say which of its {levels[0].ndim} axes are space.")
    return Multiscale(path, levels, axes)


def _kinds_of_axes(axes: Any, n_axes: int) -> tuple[str, ...]:
    """Of version 0.4 and later as they are said, of 0.3 by their names, before that always t, c, z, y, x."""
    by_name = {"t": "time", "c": "channel"}
    if axes is None:
        axes = list("tczyx")[-n_axes:]
    return tuple(
        by_name.get(axis, "space") if isinstance(axis, str) else axis.get("type", "space") for axis in axes
    )


def create_multiscale(place: Path, like: Multiscale) -> Multiscale:
    """A copy of a group with all that it says and holds, but for the numbers of its levels."""
    zarr = zarr_module()
    ours = {like.path / level.name for level in like.levels}

    def left_out(folder: str, names: list[str]) -> list[str]:
        return [name for name in names if Path(folder) / name in ours]

    shutil.copytree(like.path, place, ignore=left_out)
    for level in like.levels:
        source = zarr.open_array(level.path / level.name, mode="r")
        zarr.from_array(
            place / level.name, data=source, write_data=False, attributes=dict(source.attrs), overwrite=True
        )
    made = [
        zarr_array(place, level.name, zarr.open_array(place / level.name, mode="r")) for level in like.levels
    ]
    return like._replace(path=place, levels=tuple(made))


def coarser(fine: StoredArray, shape: tuple[int, ...], where: Sequence[slice]) -> np.ndarray:
    """A part of an image at a coarser scale, of this shape: each pixel the mean of those it stands for.

    Beyond its end the finer one is taken to go on as it ends.
    """
    factors = [-(-own // side) for own, side in zip(fine.shape, shape, strict=True)]
    wanted = [(at.start * by, at.stop * by) for at, by in zip(where, factors, strict=True)]
    there = [
        slice(min(begin, own - 1), min(end, own))
        for (begin, end), own in zip(wanted, fine.shape, strict=True)
    ]
    short = [(0, end - begin - (at.stop - at.start)) for (begin, end), at in zip(wanted, there, strict=True)]
    block = fine[tuple(there)]
    block = np.pad(block, short, mode="edge") if any(after for _, after in short) else block
    pairs = [n for length, by in zip(block.shape, factors, strict=True) for n in (length // by, by)]
    means = block.reshape(pairs).mean(axis=tuple(range(1, 2 * len(factors), 2)))
    return as_type(means, fine.dtype)
