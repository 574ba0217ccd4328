"""Pictures of more than eight bits a channel, where Pillow alone would drop bits or give up."""

from __future__ import annotations

import struct
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sedil.errors import ImageFileError
from sedil.global_state import without_words_of_libraries
from sedil.image_files.reading_errors import (
    DamagedFileError,
    require_counts,
    require_memory,
    require_room_for_tiff,
)

if TYPE_CHECKING:
    from PIL.ImageFile import ImageFile
    from tifffile import TiffFile

# Pillow keeps the first byte of a channel when told the order of its two bytes, and the second when told
# the opposite order.
_OTHER_ORDER = {"16B": "16L", "16L": "16B", "16N": "16B" if sys.byteorder == "little" else "16L"}
_TWO_BYTE_MODES = {f"{colours};{order}" for colours in ("RGB", "RGBA") for order in _OTHER_ORDER} | {"LA;16B"}

# Tags of TIFF.
_BITS_PER_SAMPLE, _PHOTOMETRIC, _ORIENTATION, _PLANAR, _EXTRA_SAMPLES, _ICC_PROFILE = (
    258, 262, 274, 284, 338, 34675,
)  # fmt: skip
_WHITE_IS_ZERO, _RGB = 0, 2
_SEPARATE_PLANES = 2
_UNASSOCIATED_ALPHA = 2
_TIFF_STARTS = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")

# How to turn a picture upright, by the orientation in its file.
_UPRIGHT: dict[int, Callable[[np.ndarray], np.ndarray]] = {
    2: lambda pixels: pixels[:, ::-1],
    3: lambda pixels: pixels[::-1, ::-1],
    4: lambda pixels: pixels[::-1],
    5: lambda pixels: pixels.swapaxes(0, 1),
    6: lambda pixels: np.rot90(pixels, -1),
    7: lambda pixels: pixels.swapaxes(0, 1)[::-1, ::-1],
    8: lambda pixels: np.rot90(pixels),
}

_PNG_START = b"\x89PNG\r\n\x1a\n"
_PNG_COLOUR_TYPES = {2: 4, 3: 2, 4: 6}  # by the number of channels
_DIFFERENCE_TO_ROW_ABOVE = 2  # the filter of PNG that costs least to compute
_ROWS_AT_A_TIME = 64
_METRES_PER_INCH = 0.0254


class TiffContent(NamedTuple):
    """Pixels of a TIFF, transparency as a last channel if there is one, and its colour profile."""

    pixels: np.ndarray
    icc_profile: bytes | None


def two_byte_mode(picture: ImageFile) -> str | None:
    """Pillow's name of the layout, where a picture just opened has colours of 16 bits in one plane."""
    modes = {tile.args if isinstance(tile.args, str) else (tile.args or [""])[0] for tile in picture.tile}
    return next(iter(modes)) if len(modes) == 1 and modes <= _TWO_BYTE_MODES else None


def byte_layouts(mode: str) -> tuple[str, ...]:
    """Layouts to read a file in, 8 bits a channel, so that `join_bytes` can make 16 bits of the results."""
    if mode == "LA;16B":  # grey and transparency: both bytes of both, as if they were four channels
        return ("RGBA",)
    colours, order = mode.split(";")
    return mode, f"{colours};{_OTHER_ORDER[order]}"


def join_bytes(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Channels of 16 bits from what was read in each of the `byte_layouts`."""
    high, low = parts if len(parts) == 2 else (parts[0][..., ::2], parts[0][..., 1::2])
    return high.astype(np.uint16) << 8 | low


def is_tiff(path: Path) -> bool:
    """Whether the file starts like a TIFF."""
    with path.open("rb") as stream:
        return stream.read(4) in _TIFF_STARTS


def is_beyond_pillow(picture: ImageFile) -> bool:
    """Whether an opened TIFF has numbers that Pillow would change or read wrongly."""
    if picture.format != "TIFF":
        return False
    tags: Any = picture.tag_v2  # type: ignore[attr-defined]
    if max(tags.get(_BITS_PER_SAMPLE, (1,))) <= 8:
        return False
    plain = picture.mode.startswith("I;16") or picture.mode == "F" or two_byte_mode(picture) is not None
    separate = len(tags[_BITS_PER_SAMPLE]) > 1 and tags.get(_PLANAR) == _SEPARATE_PLANES
    return not plain or separate or tags.get(_PHOTOMETRIC) == _WHITE_IS_ZERO


def tiff_shape(path: Path) -> tuple[int, ...]:
    """Rows, columns and, if there are more than one, channels of a TIFF, without reading its pixels."""
    with opened_tiff(path) as file:
        page = file.pages.first
        counts = page.imagelength, page.imagewidth, page.samplesperpixel
        require_counts(counts)
        return counts if page.samplesperpixel > 1 else counts[:2]


def read_tiff(path: Path) -> TiffContent:
    """A TIFF with one page of grey or RGB in whatever type of numbers, upright."""
    with opened_tiff(path) as file:
        if len(file.pages) > 1:
            raise ImageFileError(f"{path} has {len(file.pages)} pages: split it into files of one page each.")
        page: Any = file.pages.first
        _require_known_channels(path, page)
        # Pillow may have read another size, where a file has two.
        require_room_for_tiff(path, page, page.shape)
        require_memory(path, page.shape, page.dtype.itemsize)
        pixels = page.asarray()
        tags = {code: page.tags[code].value for code in (_ORIENTATION, _ICC_PROFILE) if code in page.tags}
        if page.photometric == _WHITE_IS_ZERO:
            pixels = _negative(pixels)
        if page.samplesperpixel > 1 and page.planarconfig == _SEPARATE_PLANES:
            pixels = np.moveaxis(pixels, 0, -1)
        if pixels.shape[:2] != (page.imagelength, page.imagewidth):
            raise DamagedFileError("its pixels do not lie as it says")
    turn = _UPRIGHT.get(tags.get(_ORIENTATION, 1))
    upright = pixels if turn is None else turn(pixels)
    return TiffContent(np.ascontiguousarray(upright), tags.get(_ICC_PROFILE))


@contextmanager
def opened_tiff(path: Path) -> Iterator[TiffFile]:
    """The file opened by tifffile, without its log: what stops the reading is raised."""
    from tifffile import TiffFile

    with without_words_of_libraries.held(), TiffFile(path) as file:
        _require_last_page(file)
        yield file


def _require_last_page(file: TiffFile) -> None:
    """Refuse pages of which the last leads back to an earlier one: they would be read for ever."""
    stream, form = file.filehandle, file.tiff
    seen: set[int] = set()
    place = file.pages.first.offset
    while place:
        if place in seen:
            raise DamagedFileError("its pages lead round in a circle")
        seen.add(place)
        try:
            stream.seek(place)
            (n_tags,) = struct.unpack(form.tagnoformat, stream.read(form.tagnosize))
            stream.seek(place + form.tagnosize + n_tags * form.tagsize)
            (place,) = struct.unpack(form.offsetformat, stream.read(form.offsetsize))
        except (struct.error, OSError):  # the file ends: tifffile takes the pages before
            return


def _require_known_channels(path: Path, page: Any) -> None:
    """Grey or RGB, with or without transparency, and real numbers."""
    n_colours = {0: 1, 1: 1, _RGB: 3}.get(page.photometric)
    extra = list(page.extrasamples)
    if n_colours is None or page.samplesperpixel != n_colours + len(extra):
        raise ImageFileError(
            f"{path} has colours of the kind {page.photometric.name} in {page.dtype}: save it as grey or RGB."
        )
    if extra not in ([], [_UNASSOCIATED_ALPHA]):
        kinds = ", ".join(kind.name for kind in extra)
        raise ImageFileError(
            f"{path} has channels besides its colours ({kinds}) in {page.dtype}: save it without them."
        )
    if page.dtype is None or page.dtype.kind not in "uif":
        raise ImageFileError(f"{path} has pixels of the type {page.dtype}: save it with real numbers.")


def _negative(pixels: np.ndarray) -> np.ndarray:
    """Black and white exchanged."""
    return np.iinfo(pixels.dtype).max - pixels if pixels.dtype.kind == "u" else -pixels


def tiff_content(
    pixels: np.ndarray,
    *,
    icc_profile: bytes | None = None,
    dpi: tuple[float, float] | None = None,
    **not_kept: Any,
) -> bytes:
    """A TIFF of grey or RGB, transparency last, in the type of `pixels`."""
    from tifffile import imwrite

    stream = BytesIO()
    n_channels = 1 if pixels.ndim == 2 else pixels.shape[-1]
    imwrite(
        stream,
        pixels,
        photometric="rgb" if n_channels > 2 else "minisblack",
        planarconfig="contig" if n_channels > 1 else None,
        extrasamples=["unassalpha"] if n_channels in (2, 4) else None,
        iccprofile=icc_profile,
        resolution=dpi,
        resolutionunit="INCH" if dpi else None,
        metadata=None,
        software=False,
    )
    return stream.getvalue()


def png_content(
    pixels: np.ndarray,
    *,
    icc_profile: bytes | None = None,
    dpi: tuple[float, float] | None = None,
    exif: bytes | None = None,
) -> bytes:
    """A PNG of 16 bits a channel, with two (grey), three or four channels, transparency last."""
    from PIL.PngImagePlugin import putchunk

    stream = BytesIO()
    stream.write(_PNG_START)
    rows, columns, n_channels = pixels.shape
    head = struct.pack(">IIBBBBB", columns, rows, 16, _PNG_COLOUR_TYPES[n_channels], 0, 0, 0)
    putchunk(stream, b"IHDR", head)
    if icc_profile:
        putchunk(stream, b"iCCP", b"ICC Profile\0\0", zlib.compress(icc_profile))
    if dpi:
        putchunk(stream, b"pHYs", struct.pack(">IIB", *(round(d / _METRES_PER_INCH) for d in dpi), 1))
    if exif:
        putchunk(stream, b"eXIf", exif.removeprefix(b"Exif\0\0"))
    for part in filter(None, _compressed_rows(pixels)):
        putchunk(stream, b"IDAT", part)
    putchunk(stream, b"IEND", b"")
    return stream.getvalue()


def _compressed_rows(pixels: np.ndarray) -> Iterator[bytes]:
    """The pixels as the compressed rows of a PNG, a part at a time."""
    compressor = zlib.compressobj()
    above = np.zeros((1, pixels[0].nbytes), np.uint8)
    for first in range(0, len(pixels), _ROWS_AT_A_TIME):
        block = pixels[first : first + _ROWS_AT_A_TIME].astype(">u2").reshape(-1, pixels[0].size)
        lines = np.vstack([above, block.view(np.uint8)])
        differences = lines[1:] - lines[:-1]  # modulo 256, as PNG wants it
        kinds = np.full((len(block), 1), _DIFFERENCE_TO_ROW_ABOVE, np.uint8)
        above = lines[-1:]
        yield compressor.compress(np.hstack([kinds, differences]).tobytes())
    yield compressor.flush()
