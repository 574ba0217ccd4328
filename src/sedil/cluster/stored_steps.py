"""`denoise` of an image in a file, from files to files: each step reads what earlier ones have written.

No block waits in memory for its neighbours, and a worker holds no more than the one block that it works on,
with what lies around it. The steps are those of `sedil.cluster.denoising_steps`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sedil.cluster.denoising_steps import HowToDenoise, Step, end, steps_of
from sedil.cluster.facts import Noise
from sedil.cluster.kept_blocks import Index, KeptBlocks
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


@dataclass(frozen=True)
class BlockWork:
    """One step, as it travels to workers: called with the index of a block it reads, works and writes."""

    work: Any
    layout: Layout
    around: tuple[StoredImage | KeptBlocks, ...]
    alone: tuple[KeptBlocks, ...]
    makes: tuple[KeptBlocks, ...]
    named: dict[str, Any]

    def __call__(self, index: Index) -> None:
        """Do one block."""
        part = self.layout.part(index)
        held = [array.read(part.held) for array in self.around]
        own = [array.block(index) for array in self.alone]
        made = self.work(*held, *own, part=part, **self.named)
        for kept, each in zip(self.makes, made if len(self.makes) > 1 else (made,), strict=True):
            kept.write(index, each)


class StoredStep(NamedTuple):
    """A step of an image: the folders that it fills, and those that nobody reads after it."""

    work: BlockWork
    folders: list[Path]
    used_up: list[Path]


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

    def steps(self) -> list[StoredStep]:
        """All steps; none where there is nothing to be done."""
        steps = self._steps()
        found = []
        for number, step in enumerate(steps):
            later = {name for each in steps[number + 1 :] for name in (*each.around, *each.alone)}
            used_up = [name for name in (*step.around, *step.alone) if name not in {"image", *later}]
            found.append(
                StoredStep(
                    self._work(step), list(map(self._place, step.makes)), list(map(self._place, used_up))
                )
            )
        return found

    def finished(self, inside: Sequence[slice]) -> np.ndarray:
        """A part of the result, colours last, once all steps are done."""
        steps = self._steps()
        last: StoredImage | KeptBlocks = self._kept(steps[-1].makes[0]) if steps else self.image
        block = end(last.read(inside), self.noise, self.image.stored.dtype)
        return np.moveaxis(block, 0, -1) if self.image.has_colour else block[0]

    def _steps(self) -> list[Step]:
        return steps_of(self.how, self.noise) if self.noise.level else []

    def _work(self, step: Step) -> BlockWork:
        return BlockWork(
            step.work,
            layout_of(self.sizes, step.halo),
            tuple(self.image if name == "image" else self._kept(name) for name in step.around),
            tuple(map(self._kept, step.alone)),
            tuple(map(self._kept, step.makes)),
            {"how": self.how, **self.facts, **step.arguments},
        )

    def _kept(self, name: str) -> KeptBlocks:
        return KeptBlocks(self._place(name), self.sizes)

    def _place(self, name: str) -> Path:
        return self.folder / name.replace(" ", "-")
