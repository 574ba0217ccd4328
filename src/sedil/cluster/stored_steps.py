"""`denoise` of an image in a file, from files to files: each step reads what earlier ones have written.

No block waits in memory for its neighbours, and a worker holds no more than the one block that it works on,
with what lies around it. The steps are those of `sedil.cluster.denoising_steps`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sedil.cluster.denoising_steps import HowToDenoise, Step, end, steps_of
from sedil.cluster.facts import Noise
from sedil.cluster.kept_blocks import Index, Kept, KeptBlocks
from sedil.cluster.parts import Chunks, Layout, layout_of
from sedil.cluster.stored_arrays import StoredArray


@dataclass(frozen=True)
class StoredImage:
    """One of the images that a stored array holds.

    Attributes
    ----------
    stored : the array
    place : for each axis of the array where the image lies there; None for the axes of the image
    has_colour : whether the last axis is colour
    """

    stored: StoredArray
    place: tuple[int | None, ...]
    has_colour: bool

    def key(self, held: Sequence[slice]) -> tuple[int | slice, ...]:
        """What a part of the image, all its channels, is of the array."""
        own = iter([*held, slice(None)])
        return tuple(next(own) if at is None else at for at in self.place)

    def read(self, held: Sequence[slice]) -> np.ndarray:
        """A part as (channels, *shape)."""
        block = self.stored[self.key(held)]
        return np.moveaxis(block, -1, 0) if self.has_colour else block[None]

    def blocks(self, held: Sequence[slice]) -> list[Kept]:
        """Those that must be there for a part to be read: none, as it is all there."""
        return []


@dataclass(frozen=True)
class BlockWork:
    """One step, as it travels to workers: called with the index of a block it reads, works and writes."""

    work: Any
    layout: Layout
    takes: tuple[StoredImage | KeptBlocks, ...]
    makes: KeptBlocks
    named: dict[str, Any]

    def __call__(self, index: Index) -> None:
        """Do one block."""
        part = self.layout.part(index)
        held = [array.read(part.held) for array in self.takes]
        self.makes.write(index, self.work(*held, part=part, **self.named))

    def needs(self, index: Index) -> list[Kept]:
        """Blocks of other steps that must be there."""
        held = self.layout.part(index).held
        return [block for array in self.takes for block in array.blocks(held)]

    @property
    def fills(self) -> list[Path]:
        """Folders that it writes blocks to."""
        return [self.makes.folder]

    @property
    def reads(self) -> list[Path]:
        """Folders of other steps that it reads blocks of."""
        return [array.folder for array in self.takes if isinstance(array, KeptBlocks)]


@dataclass(frozen=True)
class StoredDenoising:
    """How an image in a file is denoised.

    Attributes
    ----------
    image : what is read
    how : how to denoise
    facts : what steps must know of the whole image, by name; "noise" among them
    sizes : of the blocks along each axis, without channels
    folder : where what steps make is kept
    """

    image: StoredImage
    how: HowToDenoise
    facts: Mapping[str, Any]
    sizes: Chunks
    folder: Path

    @property
    def noise(self) -> Noise:
        """Of the whole image."""
        noise: Noise = self.facts["noise"]
        return noise

    def steps(self) -> list[BlockWork]:
        """All steps; none where there is nothing to be done."""
        return list(map(self._work, self._steps()))

    def finished(self, inside: Sequence[slice]) -> np.ndarray:
        """A part of the result, colours last, once the blocks that it needs are there."""
        block = end(self._last().read(inside), self.noise, self.image.stored.dtype)
        return np.moveaxis(block, 0, -1) if self.image.has_colour else block[0]

    def needs(self, inside: Sequence[slice]) -> list[Kept]:
        """Blocks that must be there for a part of the result."""
        return self._last().blocks(inside)

    def _last(self) -> StoredImage | KeptBlocks:
        steps = self._steps()
        return self._kept(steps[-1].makes) if steps else self.image

    def _steps(self) -> list[Step]:
        return steps_of(self.how, self.noise) if self.noise.level else []

    def _work(self, step: Step) -> BlockWork:
        return BlockWork(
            step.work,
            layout_of(self.sizes, step.halo),
            tuple(self.image if name == "image" else self._kept(name) for name in step.takes),
            self._kept(step.makes),
            {"how": self.how, **self.facts, **step.arguments},
        )

    def _kept(self, name: str) -> KeptBlocks:
        return KeptBlocks(self.folder / name.replace(" ", "-"), self.sizes)
