"""Files with volumes and stacks of frames: NIfTI (by nibabel), TIFF (by tifffile), .npy and .npz.

What a file says besides the numbers (position and size of voxels, units, descriptions) is kept when the
result is written in the same format.
"""

from __future__ import annotations

import gzip
import zipfile
from contextlib import AbstractContextManager
from math import prod
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from sedil.errors import ImageFileError
from sedil.files import replacing
from sedil.image_files.high_bit_depth import is_tiff, opened_tiff
from sedil.image_files.reading_errors import (
    one_sentence,
    quiet_libraries,
    require_bytes,
    require_counts,
    require_memory,
    require_room_for_array,
    require_room_for_tiff,
    what_it_says,
)
from sedil.npz import ArrayHead, array_heads, read_array

_RGB = 3  # entries of a colour, always along the last axis
_GREY_OR_RGB = (0, 1, 2)  # TIFF's numbers of white is zero, black is zero, and RGB
_COMPRESSION = 4  # of .nii.gz: twice as fast as the usual 6, a few per cent larger


class Volume(NamedTuple):
    """What a volume file holds.

    Parameters
    ----------
    pixels : ndarray
        In their own type and units, shape (slices, rows, columns), or with three colours last. Arrays of
        two axes, a picture, are let through.
    kind : {"NIfTI", "TIFF", "NumPy"}
        What wrote the file.
    header : dict
        All that is needed to write a file like it besides the numbers.
    """

    pixels: np.ndarray
    kind: str
    header: dict[str, Any]

    @property
    def channel_axis(self) -> int | None:
        """Axis of the colours."""
        return -1 if _has_colours(self.pixels.shape) else None


def is_array_file(path: str | Path) -> bool:
    """Whether a file is an array by its suffix (NIfTI or NumPy), which only `read_volume` reads."""
    return _kind(Path(path)) in ("NIfTI", "NumPy")


def is_volume(path: str | Path) -> bool:
    """Whether a file is a volume: by its suffix, or a TIFF with several pages of one shape."""
    path = Path(path)
    if is_array_file(path):
        return True
    try:
        return path.is_file() and is_tiff(path) and _tiff_stack_shape(path) is not None
    except Exception:  # a damaged TIFF: the reader of pictures says so
        return False


def volume_shape(path: str | Path) -> tuple[int, ...]:
    """Shape of a volume from the head of its file."""
    path = Path(path)
    with _one_sentence(path):
        return _SHAPES[_kind(path)](path)


def read_volume(path: str | Path, bytes_per_value: float = 8) -> Volume:
    """The volume in a file.

    Parameters
    ----------
    path : path of the file
    bytes_per_value : float, default 8
        What the caller needs in memory per number; a volume too large for this machine is refused before
        its numbers are read.
    """
    path = Path(path)
    shape = volume_shape(path)
    _require_known_shape(path, shape)
    require_memory(path, shape, bytes_per_value)
    with _one_sentence(path):
        volume = _READERS[_kind(path)](path)
    if volume.pixels.dtype.kind not in "biuf":
        raise ImageFileError(
            f"{path} holds numbers of the type {volume.pixels.dtype}: save it with real numbers, grey or RGB."
        )
    return volume


def require_same_format(path: str | Path, volume: Volume) -> list[str]:
    """Refuse a file in which a volume cannot be written; returns a sentence on what is lost in others."""
    chosen = _kind(Path(path))
    if chosen == volume.kind:
        return []
    if chosen == "NumPy":
        return [f"{path} is written without what the {volume.kind} file says of its voxels: numbers alone."]
    raise ValueError(
        f"Cannot write {path}: a volume from a {volume.kind} file is written as "
        f"{' or '.join(_SUFFIXES[volume.kind])}, or without its header as .npy."
    )


def write_volume(path: str | Path, pixels: np.ndarray, like: Volume) -> None:
    """Write numbers of the shape and type of a volume that was read, with its header, in one step."""
    path = Path(path)
    header = like.header if _kind(path) == like.kind else {}
    with replacing(path) as stream, quiet_libraries():
        try:
            _WRITERS[_kind(path)](path, stream, pixels, header)
        except OSError:
            raise
        except Exception as error:  # libraries refuse what a damaged header says with all kinds
            raise OSError("what its source says of the voxels cannot be kept: use .npy") from error


_SUFFIXES = {"NIfTI": (".nii", ".nii.gz"), "TIFF": (".tif", ".tiff"), "NumPy": (".npy", ".npz")}


def _kind(path: Path) -> str | None:
    name = path.name.lower()
    return next((kind for kind, suffixes in _SUFFIXES.items() if name.endswith(suffixes)), None)


def _has_colours(shape: tuple[int, ...]) -> bool:
    return len(shape) > 2 and shape[-1] == _RGB


def _require_known_shape(path: Path, shape: tuple[int, ...]) -> None:
    n_axes = len(shape) - _has_colours(shape)
    if n_axes not in (2, 3) or prod(shape) == 0:
        raise ImageFileError(
            f"{path} has the shape {' x '.join(map(str, shape)) or '()'}: a volume has three axes, besides "
            f"them at most three colours, which come last; split a series into files of one volume each."
        )


# NIfTI


def _nifti(path: Path) -> Any:
    try:
        import nibabel
    except ImportError:
        raise ImageFileError(
            f'{path} is read by nibabel, which is not installed: pip install "sedil[volumes]".'
        ) from None
    return nibabel.load(path)


def _nifti_shape(path: Path) -> tuple[int, ...]:
    image = _nifti(path)
    shape = tuple(map(int, image.shape))
    require_room_for_array(path, shape, image.get_data_dtype().itemsize, path.suffix.lower() == ".gz")
    return _without_ones(shape)


def _read_nifti(path: Path) -> Volume:
    image = _nifti(path)
    values = np.asanyarray(image.dataobj)  # stored integers, or floats where the file scales them
    header = {"shape": image.shape, "affine": image.affine, "nifti": image.header, "class": type(image)}
    if values.dtype.kind == "f" and image.get_data_dtype().kind in "iu":
        header["scale"] = image.dataobj.slope, image.dataobj.inter
    return Volume(values.reshape(_without_ones(values.shape)), "NIfTI", header)


def _write_nifti(path: Path, stream: BinaryIO, values: np.ndarray, header: dict[str, Any]) -> None:
    if "scale" in header:
        values = _unscaled(values, header["nifti"].get_data_dtype(), *header["scale"])
    image = header["class"](values.reshape(header["shape"]), header["affine"], header["nifti"])
    if "scale" in header:
        image.header.set_slope_inter(*header["scale"])  # the file's own; nibabel would find another
    if path.suffix.lower() != ".gz":
        image.to_stream(stream)
        return
    with gzip.GzipFile(fileobj=stream, mode="wb", compresslevel=_COMPRESSION, filename="", mtime=0) as packed:
        image.to_stream(packed)


def _unscaled(values: np.ndarray, dtype: np.dtype, slope: float, inter: float) -> np.ndarray:
    """The integers that stand for `values` in a file: those that were read are the same again."""
    limits = np.iinfo(dtype)
    largest = float(limits.max)
    if largest > limits.max:  # 64 bits: the nearest float64 is one too many
        largest = np.nextafter(largest, 0)
    return np.rint((values.astype(np.float64) - inter) / slope).clip(limits.min, largest).astype(dtype)


def _without_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Without the fourth and later axes where they have length one, as some scanners write them."""
    return shape[:3] if prod(shape[3:]) == 1 else shape


# TIFF


def _tiff_stack_shape(path: Path) -> tuple[int, ...] | None:
    """Shape of a stack of pages; None if there is but one, or if they differ."""
    with opened_tiff(path) as file:
        stack = file.series[0]
        require_counts(stack.shape)
        several = len(file.series) == 1 and prod(stack.shape) > prod(file.pages.first.shape)
        return tuple(stack.shape) if several else None


def _tiff_shape(path: Path) -> tuple[int, ...]:
    shape = _tiff_stack_shape(path)
    if shape is None:
        raise ImageFileError(f"{path} is not a stack of pages of one shape: split it into files of one each.")
    return shape


def _read_tiff(path: Path) -> Volume:
    with opened_tiff(path) as file:
        page: Any = file.pages.first
        tags = page.tags
        if page.photometric not in _GREY_OR_RGB:
            raise ImageFileError(
                f"{path} has colours of the kind {page.photometric.name}: save it as grey or RGB."
            )
        header = {
            "photometric": page.photometric,
            "planarconfig": page.planarconfig if page.samplesperpixel > 1 else None,
            "description": page.description.encode(),  # text would have to be ASCII
            "resolution": page.resolution if "XResolution" in tags else None,
            "resolutionunit": page.resolutionunit if "XResolution" in tags else None,
            "iccprofile": page.iccprofile,
        }
        require_room_for_tiff(path, page, file.series[0].shape)
        return Volume(file.series[0].asarray(), "TIFF", header)


def _write_tiff(path: Path, stream: BinaryIO, pixels: np.ndarray, header: dict[str, Any]) -> None:
    from tifffile import imwrite

    # The description holds what ImageJ and OME say of slices and their distance: it is kept to the letter.
    imwrite(stream, pixels, metadata=None, software=False, **header)


# NumPy


def _array_shape(path: Path) -> tuple[int, ...]:
    if path.suffix.lower() == ".npy":
        return np.load(path, mmap_mode="r", allow_pickle=False).shape
    with zipfile.ZipFile(path) as archive:
        heads = array_heads(archive)
        name = _array_name(path, heads)
        others = sum(head.n_bytes for other, head in heads.items() if other != name)
        require_bytes(path, "arrays besides the volume", others)
        return heads[name].shape


def _read_array(path: Path) -> Volume:
    if path.suffix.lower() == ".npy":
        return Volume(np.load(path, allow_pickle=False), "NumPy", {})
    with zipfile.ZipFile(path) as archive:
        heads = array_heads(archive)
        name = _array_name(path, heads)
        arrays = {other: read_array(archive, head) for other, head in heads.items()}
    return Volume(arrays.pop(name), "NumPy", {"name": name, "others": arrays})


def _array_name(path: Path, heads: dict[str, ArrayHead]) -> str:
    """The one array that can be a volume."""
    names = [name for name, head in heads.items() if len(head.shape) > 1]
    if len(names) != 1:
        raise ImageFileError(f"{path} holds {len(names)} arrays of two axes or more: one is needed.")
    return names[0]


def _write_array(path: Path, stream: BinaryIO, values: np.ndarray, header: dict[str, Any]) -> None:
    if path.suffix.lower() == ".npy":
        np.save(stream, values, allow_pickle=False)
    else:
        arrays = {header.get("name", "volume"): values, **header.get("others", {})}
        np.savez_compressed(stream, allow_pickle=False, **arrays)


_SHAPES: dict[Any, Any] = {"NIfTI": _nifti_shape, "TIFF": _tiff_shape, "NumPy": _array_shape}
_READERS: dict[Any, Any] = {"NIfTI": _read_nifti, "TIFF": _read_tiff, "NumPy": _read_array}
_WRITERS: dict[Any, Any] = {"NIfTI": _write_nifti, "TIFF": _write_tiff, "NumPy": _write_array}


def _one_sentence(path: Path) -> AbstractContextManager[None]:
    return one_sentence(path, "a volume", _why_damaged)


def _why_damaged(error: Exception) -> str:
    return f"it is damaged, incomplete or of another kind{what_it_says(error)}"
