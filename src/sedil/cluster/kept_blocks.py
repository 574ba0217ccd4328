"""What a step has made, kept for the next one: a file for each block, in a folder.

A file has its name only once it is whole, and is read in parts: a block and what lies around it need no more
of the files of its neighbours than that. Unlike a chunk of a Zarr store, one that is missing is an error.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import BinaryIO

import numpy as np

from sedil.cluster.parts import Chunks, intervals
from sedil.cluster.stored_arrays import one_sentence
from sedil.errors import ImageFileError
from sedil.partial_files import partial_file

Index = tuple[int, ...]  # which block it is, along each axis of space
Kept = tuple[Path, Index]  # a block, and the folder that it is in


@dataclass(frozen=True)
class KeptBlocks:
    """An array (channels, *shape) in blocks.

    Attributes
    ----------
    folder : where they are; whoever leads a run makes and removes it
    sizes : lengths of the blocks along each axis of space
    """

    folder: Path
    sizes: Chunks

    def write(self, index: Index, made: np.ndarray) -> None:
        """Keep what was made of a block."""
        file = self._file(index)
        with one_sentence(file, "written"), partial_file(file) as stream:
            _write_array(stream, made)
            stream.flush()
            os.fsync(stream.fileno())
            os.replace(stream.name, file)

    def read(self, held: Sequence[slice]) -> np.ndarray:
        """A part of the array, with all channels, whatever blocks it lies in."""
        whole: np.ndarray | None = None
        for index, there, here in self._pieces(held):
            block = self._opened(index)
            if whole is None:
                whole = np.empty((len(block), *(own.stop - own.start for own in held)), block.dtype)
            whole[(slice(None), *here)] = block[(slice(None), *there)]
        assert whole is not None  # parts are not empty
        return whole

    def blocks(self, held: Sequence[slice]) -> list[Kept]:
        """Those that must be there for a part to be read."""
        return [(self.folder, index) for index, _, _ in self._pieces(held)]

    def _pieces(self, held: Sequence[slice]) -> Iterator[tuple[Index, list[slice], list[slice]]]:
        """Blocks that a part lies in: which, what is wanted of them, and where that goes in the part."""
        along = []
        for own, sizes in zip(held, self.sizes, strict=True):
            cuts = []
            for number, block in enumerate(intervals(sizes)):
                first, last = max(own.start, block.start), min(own.stop, block.stop)
                if first < last:
                    there, here = (slice(first - begin, last - begin) for begin in (block.start, own.start))
                    cuts.append((number, there, here))
            along.append(cuts)
        for pieces in product(*along):
            yield tuple(p[0] for p in pieces), [p[1] for p in pieces], [p[2] for p in pieces]

    def _opened(self, index: Index) -> np.ndarray:
        file = self._file(index)
        with _readable(file):
            return np.load(file, mmap_mode="r", allow_pickle=False)

    def _file(self, index: Index) -> Path:
        return self.folder / f"{'.'.join(map(str, index))}.npy"


@contextmanager
def _readable(file: Path) -> Iterator[None]:
    """A block that is said to be done is not made again: whoever runs it must know what to do."""
    try:
        with one_sentence(file, "read"):
            yield
    except (FileNotFoundError, ImageFileError) as error:
        raise ImageFileError(
            f"{file} is gone or damaged, or this worker does not see it, and the run needs it: let all "
            f"workers see that folder under the same path, or remove the folder that ends in .unfinished to "
            f"begin anew."
        ) from error


def _write_array(stream: BinaryIO, array: np.ndarray) -> None:
    """Past `np.save`, which does not say why it could write no more."""
    own = np.ascontiguousarray(array)
    np.lib.format.write_array_header_1_0(stream, np.lib.format.header_data_from_array_1_0(own))
    stream.write(own.data)
