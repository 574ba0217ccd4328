"""Arrays in files that are read and written in parts: Zarr, HDF5, mapped .npy and TIFF.

A stored array is known by its path and opened anew wherever a part of it is wanted, so that it travels to
workers as a few words.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, Literal

import numpy as np

from sedil.cluster.dask_arrays import NOT_INSTALLED, dask_array
from sedil.errors import ImageFileError, MissingPackageError
from sedil.global_state import without_words_of_libraries

Kind = Literal["Zarr", "HDF5", "NumPy", "TIFF"]
_SUFFIXES: dict[str, Kind] = {
    ".zarr": "Zarr",
    ".h5": "HDF5",
    ".hdf5": "HDF5",
    ".hdf": "HDF5",
    ".npy": "NumPy",
    ".tif": "TIFF",
    ".tiff": "TIFF",
}
_NAME_OF_DATASET = "data"  # in a new HDF5 file
_VALUES_AT_A_TIME = 2**21  # of a block that a worker is given: some 150 megabytes while it is worked on
_LEAST_SIDE = 32


@dataclass(frozen=True)
class StoredArray:
    """An array in a file.

    Attributes
    ----------
    path : of the file, or of the folder of a Zarr store
    kind : what kind of file
    name : what the array is called there; empty if it is all there is
    shape, dtype : of the array
    chunks : shape of what is read or written at a time; None where that is any part
    """

    path: Path
    kind: Kind
    name: str
    shape: tuple[int, ...]
    dtype: np.dtype
    chunks: tuple[int, ...] | None = None

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    def __getitem__(self, key: Any) -> np.ndarray:
        """A copy of a part."""
        with one_sentence(self.path, "read"), _opened(self, "r") as array:
            return np.array(array[key])

    def write(self, key: Any, block: np.ndarray) -> None:
        """Write a part, whole chunks of it."""
        with one_sentence(self.path, "written"), _opened(self, "r+") as array:
            array[key] = block
            if isinstance(array, np.memmap):
                array.flush()

    def __str__(self) -> str:
        return f"{self.path}/{self.name}" if self.name else str(self.path)

    def as_dask(self, chunks: tuple[int, ...] | None = None) -> Any:
        """A Dask array that reads it in blocks."""
        own = blocks_of(self.shape, self.chunks) if chunks is None else chunks
        return dask_array().from_array(self, chunks=own, name=f"read-{_token(self, own)}", asarray=False)


def _token(*what: Any) -> str:
    from dask.base import tokenize

    return tokenize(*map(str, what))


def blocks_of(shape: Sequence[int], chunks: Sequence[int] | None) -> tuple[int, ...]:
    """Sides of blocks that workers are given: whole chunks, as many as fit, about as long as wide."""
    base = [min(_LEAST_SIDE, side) for side in shape] if chunks is None else list(chunks)
    sides = [min(length, side) for length, side in zip(base, shape, strict=True)]
    while prod(sides) < _VALUES_AT_A_TIME:
        short = [axis for axis in range(len(sides)) if sides[axis] < shape[axis]]
        if not short:
            break
        axis = min(short, key=lambda each: sides[each])
        sides[axis] = min(2 * sides[axis], -(-shape[axis] // base[axis]) * base[axis])
    return tuple(sides)


def is_stored(path: str | Path) -> bool:
    """Whether a path leads into a Zarr store or an HDF5 file, which are read in parts and not otherwise."""
    return _kind(Path(path)) in ("Zarr", "HDF5")


def open_stored(path: str | Path) -> StoredArray:
    """The array at a path: a file, a Zarr array, or ``file.h5/name``."""
    path = Path(path).absolute()  # workers may be at work in other folders
    kind = _kind(path)
    if kind is None:
        raise ImageFileError(
            f"{path} is not a file that is read in parts: these are Zarr stores, HDF5, .npy and TIFF files."
        )
    if kind != "HDF5" and not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    found = _OPENERS[kind](path)
    if found.dtype.kind not in "biuf":
        raise ImageFileError(f"{found} holds numbers of the type {found.dtype}: real numbers are needed.")
    if not found.shape or 0 in found.shape:
        raise ImageFileError(f"{found} is empty: its shape is {found.shape}.")
    return found


def create_stored(place: Path, name: Path, like: StoredArray, chunks: tuple[int, ...]) -> StoredArray:
    """A new array of the shape and type of another, at `place`, of the kind that `name` says.

    What the other says of itself is kept where the kind is the same.
    """
    kind = _kind(name)
    if kind is None:
        raise ValueError(f"Cannot write {name}: an array in parts is written as .zarr, .h5, .npy or .tif.")
    with one_sentence(name, "written"):
        return _CREATORS[kind](place, like, chunks)


def _kind(path: Path) -> Kind | None:
    if _hdf5_file(path) is not None:
        return "HDF5"
    marks = (path / name for name in (".zarray", ".zgroup", "zarr.json"))
    # `isfile` is False too where a name is too long.
    if path.suffix.lower() != ".npy" and any(map(os.path.isfile, marks)):
        return "Zarr"
    return _SUFFIXES.get(path.suffix.lower())


def _hdf5_file(path: Path) -> Path | None:
    """The HDF5 file that a path is, or leads into."""
    names = [own for own in (path, *path.parents) if _SUFFIXES.get(own.suffix.lower()) == "HDF5"]
    return next((own for own in names if not os.path.isdir(own)), None)


@contextmanager
def one_sentence(path: Path, done: str) -> Iterator[None]:
    """Whatever libraries raise, as an error of ours; what the system says of disks is left as it is."""
    try:
        with without_words_of_libraries.held():
            yield
    except (ImageFileError, FileNotFoundError, ImportError, MemoryError):
        raise
    except OSError as error:
        if error.errno is not None and error.strerror:
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise ImageFileError(f"{path} cannot be {done}: {_words(error)}.") from None
    except Exception as error:
        raise ImageFileError(
            f"{path} cannot be {done}: it is damaged or cut off ({_words(error)})."
        ) from None


def _words(error: Exception) -> str:
    return (" ".join(str(error).split())[:160] or type(error).__name__).rstrip(".")


# Zarr


def zarr_module() -> Any:
    """The module, or one clear sentence."""
    try:
        import zarr
    except ImportError:
        raise MissingPackageError(NOT_INSTALLED.replace("Dask", "zarr")) from None
    return zarr


def _open_zarr(path: Path) -> StoredArray:
    zarr = zarr_module()
    with one_sentence(path, "read"):
        found = zarr.open(path, mode="r")
    if isinstance(found, zarr.Group):
        names = sorted(name for name, _ in found.arrays())
        raise ImageFileError(
            f"{path} is a group of {len(names)} arrays: give the path of one of them"
            + (f", for example {path / names[0]}." if names else ".")
        )
    return zarr_array(path, "", found)


def zarr_array(path: Path, name: str, array: Any) -> StoredArray:
    """An array of a store as we know it; shards are what is written at a time."""
    return StoredArray(path, "Zarr", name, array.shape, np.dtype(array.dtype), array.shards or array.chunks)


def _create_zarr(place: Path, like: StoredArray, chunks: tuple[int, ...]) -> StoredArray:
    zarr = zarr_module()
    if like.kind == "Zarr":
        source = zarr.open_array(like.path / like.name, mode="r")
        made = zarr.from_array(place, data=source, write_data=False, attributes=dict(source.attrs))
    else:
        own = tuple(min(side, 64 if len(chunks) > 2 else 512) for side in chunks)
        made = zarr.create_array(place, shape=like.shape, dtype=like.dtype, chunks=own)
    return zarr_array(place, "", made)


# HDF5


def _h5py() -> Any:
    try:
        import h5py
    except ImportError:
        raise MissingPackageError(NOT_INSTALLED.replace("Dask", "h5py")) from None
    return h5py


def _open_hdf5(path: Path) -> StoredArray:
    file = _hdf5_file(path)
    assert file is not None  # or the kind would be another
    if not file.is_file():
        raise FileNotFoundError(f"There is no file {file}.")
    h5py = _h5py()
    with one_sentence(file, "read"), h5py.File(file, "r") as opened:
        names: list[str] = []
        opened.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
        name = str(path.relative_to(file)) if path != file else (names[0] if len(names) == 1 else "")
        if name not in names:
            some = f", for example {file / names[0]}" if names else ""
            raise ImageFileError(f"{file} holds {len(names)} datasets: give the path of one of them{some}.")
        dataset = opened[name]
        return StoredArray(file, "HDF5", name, dataset.shape, dataset.dtype, dataset.chunks)


def _create_hdf5(place: Path, like: StoredArray, chunks: tuple[int, ...]) -> StoredArray:
    name = like.name if like.kind == "HDF5" else _NAME_OF_DATASET
    with _h5py().File(place, "w") as opened:
        own = like.chunks if like.kind == "HDF5" else None
        dataset = opened.create_dataset(name, like.shape, like.dtype, chunks=own)
        if like.kind == "HDF5":
            with _h5py().File(like.path, "r") as source:
                for key, value in source[like.name].attrs.items():
                    dataset.attrs[key] = value
        return StoredArray(place, "HDF5", name, dataset.shape, dataset.dtype, dataset.chunks)


# NumPy


def _open_npy(path: Path) -> StoredArray:
    with one_sentence(path, "read"):
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    return StoredArray(path, "NumPy", "", array.shape, array.dtype)


def _create_npy(place: Path, like: StoredArray, chunks: tuple[int, ...]) -> StoredArray:
    np.lib.format.open_memmap(place, "w+", like.dtype, like.shape).flush()
    return StoredArray(place, "NumPy", "", like.shape, like.dtype)


# TIFF


def _open_tiff(path: Path) -> StoredArray:
    import tifffile

    with one_sentence(path, "read"):
        try:
            array = tifffile.memmap(path, mode="r")
        except ValueError as error:
            if "memory-mappable" not in str(error):
                raise
            raise ImageFileError(
                f"{path} is compressed or lies in pieces, and cannot be read in parts: save it without "
                f"compression, or as .zarr."
            ) from None
    return StoredArray(path, "TIFF", "", array.shape, array.dtype)


def _create_tiff(place: Path, like: StoredArray, chunks: tuple[int, ...]) -> StoredArray:
    import tifffile

    header: dict[str, Any] = {}
    if like.kind == "TIFF":
        with tifffile.TiffFile(like.path) as file:
            page: Any = file.pages.first
            header = {"photometric": page.photometric, "description": page.description.encode()}
            if "XResolution" in page.tags:
                header |= {"resolution": page.resolution, "resolutionunit": page.resolutionunit}
    else:
        header = {"photometric": "rgb" if like.shape[-1] == 3 and like.ndim > 2 else "minisblack"}
    is_large = prod(like.shape) * like.dtype.itemsize > 2**31
    tifffile.memmap(
        place, shape=like.shape, dtype=like.dtype, bigtiff=is_large, metadata=None, software=False, **header
    ).flush()
    return StoredArray(place, "TIFF", "", like.shape, like.dtype)


_OPENERS = {"Zarr": _open_zarr, "HDF5": _open_hdf5, "NumPy": _open_npy, "TIFF": _open_tiff}
_CREATORS = {"Zarr": _create_zarr, "HDF5": _create_hdf5, "NumPy": _create_npy, "TIFF": _create_tiff}


@contextmanager
def _opened(stored: StoredArray, mode: Literal["r", "r+"]) -> Iterator[Any]:
    if stored.kind == "Zarr":
        yield zarr_module().open_array(stored.path / stored.name, mode=mode)
    elif stored.kind == "HDF5":
        with _h5py().File(stored.path, mode) as opened:
            yield opened[stored.name]
    elif stored.kind == "NumPy":
        yield np.load(stored.path, mmap_mode=mode, allow_pickle=False)
    else:
        import tifffile

        yield tifffile.memmap(stored.path, mode=mode)
