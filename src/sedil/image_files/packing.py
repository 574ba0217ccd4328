"""Pictures that say they are larger than their file can hold, which would take memory before they fail."""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sedil.image_files.reading_errors import DamagedFileError

if TYPE_CHECKING:
    from PIL.ImageFile import ImageFile

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
