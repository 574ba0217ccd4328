"""What is restored block by block: an array in a file, its axes, and the images that it holds."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import sedil
from sedil.choices import DenoisingMethod, InpaintingMethod
from sedil.cluster.multiscale import Multiscale, open_multiscale
from sedil.cluster.stored_arrays import StoredArray, blocks_of, is_stored, open_stored
from sedil.dictionary import SeparableDictionary
from sedil.errors import ImageFileError

_LAYOUT = 3  # of OUT.unfinished: one more whenever the steps of a run, or what it keeps, change
_RGB = 3


class ChunkSettings(NamedTuple):
    """How arrays are restored: see `sedil.denoise` and `sedil.inpaint`; what is not for both is None."""

    sigma: float | None = None
    dictionary: SeparableDictionary | None = None
    method: DenoisingMethod | InpaintingMethod | None = None
    stride: int | None = None
    time_axis: int | None = None

    def identity(self) -> dict[str, Any]:
        """What the result depends on, in plain words and numbers."""
        factors = None
        if self.dictionary is not None:
            from sedil.learning.checkpoint import fingerprint

            factors = [fingerprint(factor) for factor in self.dictionary.factors]
        return self._replace(dictionary=None)._asdict() | {"dictionary": factors}


class ChunkJob(NamedTuple):
    """What is read and where the result goes; with a mask its missing pixels are filled."""

    source: StoredArray | Multiscale
    target: Path
    settings: ChunkSettings
    mask: StoredArray | None = None
    force: bool = False

    @property
    def image(self) -> StoredArray:
        """What is worked on: of several scales the finest."""
        return self.source.levels[0] if isinstance(self.source, Multiscale) else self.source

    @property
    def axes(self) -> tuple[str, ...]:
        """What each axis is. Three colours come last, unless a file says what its axes are."""
        if isinstance(self.source, Multiscale):
            return self.source.axes
        shape = self.source.shape
        is_colour = len(shape) > 2 and shape[-1] == _RGB
        return ("space",) * (len(shape) - is_colour) + ("colour",) * is_colour

    @property
    def is_in_image(self) -> tuple[bool, ...]:
        """Which axes are those of an image that is worked on by itself; one of length one is not."""
        pairs = zip(self.axes, self.image.shape, strict=True)
        return tuple(axis == "colour" or (axis == "space" and side > 1) for axis, side in pairs)

    @property
    def channel_axis(self) -> int | None:
        """Of each image."""
        return -1 if "colour" in self.axes else None

    def places(self) -> list[tuple[int | None, ...]]:
        """Of all images: where they lie along the other axes, of times and channels; None along their own."""
        sides = zip(self.is_in_image, self.image.shape, strict=True)
        return list(product(*([None] if own else range(side) for own, side in sides)))

    def block_sides(self, chunks: tuple[int, ...] | None) -> tuple[int, ...]:
        """Sides of blocks to read or write: no more images at a time than lie in one of these chunks."""
        lengths = chunks or (1,) * self.image.ndim
        triples = zip(self.is_in_image, self.image.shape, lengths, strict=True)
        shape = [side if own else min(length, side) for own, side, length in triples]
        return blocks_of(shape, chunks)

    def identity(self) -> dict[str, Any]:
        """What the result follows from, and how what is kept of a run is to be read."""
        image = self.image
        return {
            "sedil": sedil.__version__,
            "layout": _LAYOUT,
            "source": str(image.path.resolve() / image.name),
            "shape": image.shape,
            "dtype": str(image.dtype),
            "mask": None if self.mask is None else str(self.mask.path.resolve() / self.mask.name),
            **self.settings.identity(),
        }


def open_job(
    source: Path, target: Path, settings: ChunkSettings, mask: Path | None = None, force: bool = False
) -> ChunkJob:
    """Open what is read, and make sure that the result may be written."""
    found: StoredArray | Multiscale = open_multiscale(source.absolute()) or open_stored(source)
    target = (target / source.name if _is_plain_folder(target) else target).absolute()
    job = ChunkJob(found, target, settings, None if mask is None else open_stored(mask), force)
    if target.exists() and target.samefile(job.image.path):
        raise FileExistsError(f"{target} is what is read itself: choose another name.")
    if target.exists() and not force:
        raise FileExistsError(f"{target} exists already: choose another name or add --force.")
    if not 1 <= sum(job.is_in_image) <= 3:
        raise ImageFileError(
            f"{job.image} has the shape {job.image.shape}: one to three axes of space are needed."
        )
    if isinstance(found, Multiscale) and target.suffix.lower() != ".zarr":
        raise ValueError(f"Cannot write {target}: what comes from an OME-Zarr group goes into one, as .zarr.")
    return job


def _is_plain_folder(path: Path) -> bool:
    return path.is_dir() and not is_stored(path)
