"""What stops a file of a picture or volume from being read, in one sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sedil.errors import ImageFileError
from sedil.global_state import without_words_of_libraries
from sedil.memory import usable_memory

if TYPE_CHECKING:
    from PIL.ImageFile import ImageFile


_LONGEST_WORDS = 200  # of what a library says: more is the content of the file


@contextmanager
def one_sentence(path: Path, kind: str, why_damaged: Callable[[Exception], str]) -> Iterator[None]:
    """Whatever the readers of a file raise, as an `ImageFileError`.

    Parameters
    ----------
    path : path of the file
    kind : what it should be, for example "an image"
    why_damaged : what to say of an error that the content of the file is to blame for
    """
    _require_plain_file(path)
    try:
        with quiet_libraries():
            yield
    except ImageFileError:
        raise
    except Exception as error:  # decoders of damaged files raise all kinds
        reason = _reason_besides_content(path, error) or why_damaged(error)
        raise ImageFileError(f"{path} cannot be read as {kind}: {reason}.") from error


@contextmanager
def quiet_libraries() -> Iterator[None]:
    """Without what libraries say of numbers in a file that cannot be: what stops the reading is raised."""
    with without_words_of_libraries.held(), np.errstate(all="ignore"):
        yield


def _require_plain_file(path: Path) -> None:
    """Refuse what would be waited for; what is not there, and folders, are left to the readers."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise ImageFileError(f"{path} is a device, a pipe or a socket: give the name of a file.")


class DamagedFileError(ValueError):
    """What is wrong with the content of a file, in our own words."""


def what_it_says(error: Exception, *kinds: type[Exception]) -> str:
    """The words of an error in brackets, if it is of a kind whose words are for users; else nothing.

    Others, such as the ValueError of a number that cannot be parsed, are for those who wrote the reader.
    """
    words = " ".join(str(error).split()).rstrip(".") if isinstance(error, (DamagedFileError, *kinds)) else ""
    return f" ({words})" if words and len(words) <= _LONGEST_WORDS else ""


def require_counts(counts: tuple[Any, ...]) -> None:
    """Refuse a shape that a file tells in something else than numbers."""
    if not all(isinstance(count, int) for count in counts):
        raise DamagedFileError("its size is not told in numbers")


def _reason_besides_content(path: Path, error: Exception) -> str | None:
    if path.is_dir():
        return "it is a folder"
    if isinstance(error, MemoryError):
        return "it does not fit into memory"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return "the file is empty" if path.stat().st_size == 0 else None


def require_memory(path: str | Path, shape: tuple[int, ...], bytes_per_value: float) -> None:
    """Refuse a file of so many numbers if they take more memory than this process may use."""
    sides = shape[:-1] if len(shape) > 2 and shape[-1] == 3 else shape
    require_bytes(path, f"{' x '.join(f'{side:,}' for side in sides)} pixels", bytes_per_value * prod(shape))


def require_bytes(path: str | Path, what: str, needed: float) -> None:
    """Refuse a file if `what` it has takes more bytes of memory than this process may use."""
    there = usable_memory()
    if there is not None and needed > there:
        raise ImageFileError(
            f"{path} has {what}, which take about {needed / 1e9:,.1f} GB of memory, and this process may use "
            f"{there / 1e9:,.1f} GB: cut it into parts."
        )


# The most bytes that one byte of a file stands for, where that is limited: 258 bytes in two bits of Deflate,
# 128 in two bytes of PackBits, and the longest word of LZW, below 3,840 bytes, in 12 bits.
_RAW, _DEFLATE, _PACK_BITS, _LZW = 1, 1032, 64, 2560
_OF_PILLOW = {
    "raw": _RAW,
    "zip": _DEFLATE,
    "packbits": _PACK_BITS,
    "tiff_adobe_deflate": _DEFLATE,
    "tiff_deflate": _DEFLATE,
    "tiff_lzw": _LZW,
}
_OF_TIFF = {1: _RAW, 5: _LZW, 8: _DEFLATE, 32946: _DEFLATE, 32773: _PACK_BITS}  # by its number there
# Bytes that a pixel takes at least; the others may have as little as a bit.
# How many pixels a byte stands for is not limited in these formats, but in photographs it is far below this.
# So it is in all but the flattest drawings; small ones are let through.
_WITHOUT_LIMIT = {"JPEG", "MPO", "GIF", "WEBP", "JPEG2000", "AVIF"}
_MOST_PIXELS_PER_BYTE, _PIXELS_OF_SMALL_ONES = 1000, 4_000_000
_BYTES_PER_PIXEL = {"LA": 2, "RGB": 3, "RGBA": 4, "CMYK": 4, "I;16": 2, "I;16B": 2, "I": 2, "F": 2}


def require_room_for_picture(path: Path, picture: ImageFile) -> None:
    """Refuse a picture opened by Pillow whose file is too short for its pixels."""
    codec = picture.tile[0].codec_name if picture.tile else ""
    packing = picture.info.get("compression", codec) if picture.format == "TIFF" else codec
    n_bytes = prod(picture.size) * _BYTES_PER_PIXEL.get(picture.mode, 1 / 8)
    _require_room(path, (picture.height, picture.width), n_bytes, _OF_PILLOW.get(packing))
    if picture.format in _WITHOUT_LIMIT:
        _require_likely_size(path, picture.size)


def require_room_for_tiff(path: Path, page: Any, shape: tuple[int, ...]) -> None:
    """Refuse a TIFF opened by tifffile that is too short for numbers of `shape` like those of its page."""
    n_bytes = prod(shape) * page.bitspersample / 8
    _require_room(path, shape, n_bytes, _OF_TIFF.get(page.compression))


def require_room_for_array(path: Path, shape: tuple[int, ...], bytes_per_value: int, packed: bool) -> None:
    """Refuse a file, packed by Deflate or not, that is too short for so many numbers."""
    _require_room(path, shape, prod(shape) * bytes_per_value, _DEFLATE if packed else _RAW)


def _require_likely_size(path: Path, sides: tuple[int, int]) -> None:
    size = path.stat().st_size
    if prod(sides) > max(_PIXELS_OF_SMALL_ONES, size * _MOST_PIXELS_PER_BYTE):
        raise DamagedFileError(
            f"it says that it has {sides[1]:,} x {sides[0]:,} pixels in {size:,} bytes, as no photograph "
            f"does: save it as .png if it is right"
        )


def _require_room(path: Path, shape: tuple[int, ...], n_bytes: float, most_per_byte: int | None) -> None:
    size = path.stat().st_size
    if most_per_byte is not None and n_bytes > size * most_per_byte:
        sides = " x ".join(f"{side:,}" for side in shape)
        raise DamagedFileError(f"it says that it has {sides} pixels, more than its {size:,} bytes can hold")
