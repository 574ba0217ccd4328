"""Picture files: read whole, in full depth and upright; and written as what each format can hold."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sedil.errors import ImageFileError
from sedil.files import as_file_content, picture_format
from sedil.global_state import SharedChange, Undo, without_words_of_libraries
from sedil.image_files import high_bit_depth
from sedil.image_files.reading_errors import (
    one_sentence,
    require_memory,
    require_room_for_picture,
    what_it_says,
)

if TYPE_CHECKING:
    from PIL.Image import Image as PillowImage
    from PIL.ImageFile import ImageFile


# Nothing else is opened, whatever the name of a file: some formats start other programs, as EPS does.
_FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "WEBP", "PPM", "GIF", "JPEG2000", "AVIF")
_GREY_MODES = {"1", "L", "LA", "La"}
_DEEP_MODES = {"I;16", "I;16B", "I;16L", "I;16N", "I", "F"}  # greys of more than 8 bits stay as they are
_TRANSPARENT_MODES = {"LA", "La", "PA", "RGBA", "RGBa"}
_READ_WITH_EIGHT_BITS = {"JPEG2000", "AVIF"}  # colours, by Pillow, whatever the file holds
_FIRST_PICTURE_IS_THE_PICTURE = {"MPO"}  # a JPEG of a camera that adds previews and depth maps


class Picture(NamedTuple):
    """What a picture file holds, upright.

    Parameters
    ----------
    pixels : ndarray
        In their own type, shape (rows, columns) or (rows, columns, 3).
    alpha : ndarray or None
        Transparency, shape (rows, columns), in the type of the pixels.
    extras : dict
        ``icc_profile``, ``dpi`` and ``exif`` (without orientation) where the file has them.
    notes : tuple of str
        A sentence on each thing that was lost in reading.
    """

    pixels: np.ndarray
    alpha: np.ndarray | None
    extras: dict[str, Any]
    notes: tuple[str, ...]

    @property
    def channel_axis(self) -> int | None:
        """Axis of the colours."""
        return -1 if self.pixels.ndim == 3 else None


def read_picture(path: str | Path, bytes_per_value: float = 8) -> Picture:
    """The picture in a file, in its own units and its full depth, turned upright.

    Parameters
    ----------
    path : path of the file
    bytes_per_value : float, default 8
        What the caller needs in memory per number; a picture too large for this machine is refused before
        its pixels are read.
    """
    path = Path(path)
    require_memory(path, picture_shape(path), bytes_per_value)
    with _one_sentence(path), _opened(path) as picture:
        if picture is None or high_bit_depth.is_beyond_pillow(picture):
            return _from_tiff(path)
        _require_one_frame(path, picture)
        mode = high_bit_depth.two_byte_mode(picture)
        return _plain(path, picture) if mode is None else _from_two_bytes(path, mode)


def picture_shape(path: str | Path) -> tuple[int, ...]:
    """Rows, columns and, for colours, channels of a picture, from the head of its file."""
    path = Path(path)
    with _one_sentence(path), _opened(path) as picture:
        if picture is None:
            return high_bit_depth.tiff_shape(path)
        require_room_for_picture(path, picture)
        sides = (picture.height, picture.width)
        return sides if picture.mode in _GREY_MODES | _DEEP_MODES else (*sides, 3)


@contextmanager
def _opened(path: Path, layout: str | None = None) -> Iterator[ImageFile | None]:
    """The file opened by Pillow, as if it had the given layout; None for a TIFF that Pillow does not know.

    Without Pillow's limit on the number of pixels, as `require_memory` knows better what is too large.
    """
    from PIL import Image, UnidentifiedImageError

    # By stream: given the name, Pillow maps the file into memory and garbles a grey TIFF that is turned.
    with _without_limit.held(), path.open("rb") as stream:
        try:
            picture = Image.open(stream, formats=_known_formats())
        except UnidentifiedImageError:
            if not high_bit_depth.is_tiff(path):
                raise
            yield None
            return
        with picture:
            if layout is not None:
                _lay_out(picture, layout)
            yield picture


def _known_formats() -> list[str]:
    from PIL import Image

    Image.init()
    return [name for name in _FORMATS if name in Image.OPEN]  # an older Pillow does not know all


def _lift_limit() -> Undo:
    from PIL import Image

    limit, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, None
    return lambda: setattr(Image, "MAX_IMAGE_PIXELS", limit)


_without_limit = SharedChange(_lift_limit)
"""Pillow's limit on the number of pixels."""


def _lay_out(picture: ImageFile, layout: str) -> None:
    """Let Pillow take the bytes of a pixel for others than they are."""
    picture.tile = [
        tile._replace(args=(layout, *tile.args[1:]) if isinstance(tile.args, tuple) else layout)
        for tile in picture.tile
    ]


def _plain(path: Path, picture: ImageFile) -> Picture:
    """What Pillow reads in full depth: 8 bits a channel, and greys of more."""
    notes, upright = _what_pillow_loses(path, picture), _upright(picture)
    pixels = np.asarray(_with_plain_mode(upright))
    if upright.mode.startswith("I;16") or (upright.mode == "I" and picture.format == "PPM"):
        pixels = pixels.astype(np.uint16)
    if pixels.dtype == np.uint8:
        return Picture(*_split_alpha(pixels), _extras(upright), notes)
    return Picture(pixels, _transparent_colour(pixels, upright), _extras(upright), notes)


def _from_two_bytes(path: Path, mode: str) -> Picture:
    """Colours of 16 bits a channel, read twice with 8."""
    parts = []
    for layout in high_bit_depth.byte_layouts(mode):
        with _opened(path, layout) as picture:
            assert picture is not None
            parts.append(_upright(picture))
    pixels, alpha = _split_alpha(high_bit_depth.join_bytes([np.asarray(part) for part in parts]))
    if alpha is None:
        alpha = _transparent_colour(pixels, parts[0])
    return Picture(pixels, alpha, _extras(parts[0]), ())


def _from_tiff(path: Path) -> Picture:
    """What Pillow cannot read in full depth."""
    content = high_bit_depth.read_tiff(path)
    extras = {"icc_profile": content.icc_profile} if content.icc_profile else {}
    return Picture(*_split_alpha(content.pixels), extras, ())


def _upright(picture: PillowImage) -> PillowImage:
    """The picture turned as its file says it should be shown."""
    from PIL import ImageOps

    return ImageOps.exif_transpose(picture)


def _with_plain_mode(picture: PillowImage) -> PillowImage:
    """Grey or RGB, with transparency where there is any; palettes and other colours are resolved."""
    if picture.mode in _DEEP_MODES:
        return picture
    plain = "L" if picture.mode in _GREY_MODES else "RGB"
    transparent = picture.mode in _TRANSPARENT_MODES or "transparency" in picture.info
    return picture.convert(plain + "A" if transparent else plain)


def _split_alpha(pixels: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Colours and transparency, which is the last of two or four channels."""
    if pixels.ndim == 2 or pixels.shape[-1] == 3:
        return pixels, None
    colours = pixels[..., 0] if pixels.shape[-1] == 2 else pixels[..., :-1]
    return np.ascontiguousarray(colours), pixels[..., -1]


def _transparent_colour(pixels: np.ndarray, picture: PillowImage) -> np.ndarray | None:
    """Transparency of a deep PNG that names one colour as transparent."""
    colour = picture.info.get("transparency")
    if colour is None or pixels.dtype != np.uint16:
        return None
    differs = pixels != np.asarray(colour)
    return (differs.any(axis=-1) if pixels.ndim == 3 else differs) * np.uint16(65_535)


def _extras(upright: PillowImage) -> dict[str, Any]:
    """Colour profile, resolution and camera facts, which no longer hold an orientation."""
    found = {name: upright.info[name] for name in ("icc_profile", "dpi", "exif") if upright.info.get(name)}
    if upright.mode in ("CMYK", "LAB"):  # a profile of colours that are not those of the result
        found.pop("icc_profile", None)
    if min(found.get("dpi", (0,))) <= 1:  # 1 stands for unknown
        found.pop("dpi", None)
    return found


def _what_pillow_loses(path: Path, picture: ImageFile) -> tuple[str, ...]:
    notes = []
    colour = picture.mode in ("RGB", "RGBA")
    if colour and (picture.format in _READ_WITH_EIGHT_BITS or _is_deep_ppm(picture)):
        notes.append(
            f"{path} is read with 8 bits per channel, even if it holds more: "
            f"convert it to .png or .tif to keep all."
        )
    if picture.mode == "CMYK":
        notes.append(f"{path} has CMYK colours: they are read, and written, as RGB.")
    if picture.mode == "1":
        notes.append(f"{path} is black and white: the result has 256 greys.")
    if (count := getattr(picture, "n_frames", 1)) > 1:
        notes.append(f"{path} holds {count} pictures: only the first, the photograph, is read.")
    return tuple(notes)


def _is_deep_ppm(picture: ImageFile) -> bool:
    """Whether the largest value of a PPM, the last argument of its decoder, takes more than 8 bits."""
    arguments = picture.tile[0].args if picture.format == "PPM" else None
    return isinstance(arguments, tuple) and arguments[-1] > 255


def _require_one_frame(path: Path, picture: ImageFile) -> None:
    count = getattr(picture, "n_frames", 1)
    if count > 1 and picture.format not in _FIRST_PICTURE_IS_THE_PICTURE:
        what = "page" if picture.format == "TIFF" else "frame"
        raise ImageFileError(f"{path} has {count} {what}s: split it into files of one {what} each.")


def _one_sentence(path: Path) -> AbstractContextManager[None]:
    return one_sentence(path, "an image", _why_damaged)


def _why_damaged(error: Exception) -> str:
    from PIL import UnidentifiedImageError

    if isinstance(error, UnidentifiedImageError):
        return "it is no picture, damaged, or of another format than PNG, JPEG, TIFF, BMP, WebP, PGM and PPM"
    return f"it is damaged, incomplete or of a rare kind{what_it_says(error, OSError, SyntaxError)}"


_WITH_TRANSPARENCY = {"PNG", "TIFF", "WEBP", "GIF", "AVIF", "JPEG2000", "TGA"}
_LONGEST_SIDE = {"JPEG": 65_500, "WEBP": 16_383, "GIF": 65_535}
# Numbers of TIFF for sides, depth, compression, kind, strips, tiles and planes of a picture.
_LAYOUT = {256, 257, 258, 259, 262, 266, 273, 277, 278, 279, 284, 317, 320, 322, 323, 324, 325, 330, 338, 339}
_LAYOUT |= {347, 513, 514, 529, 530, 531, 532}
# Pillow's own choices are for the web, where small is more than faithful.
_QUALITY: dict[str, dict[str, Any]] = {"JPEG": {"quality": 95, "subsampling": 0}, "WEBP": {"quality": 95}}


def conform(path: str | Path, pixels: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """The pixels as the format of `path` can hold them, and a sentence on each thing that is lost.

    Parameters
    ----------
    path : path of the file to be written; only its suffix matters.
    pixels : shape (rows, columns) or (rows, columns, channels); the last of 2 and of 4 is transparency.
    """
    chosen = picture_format(path)
    _require_short_sides(path, chosen, pixels.shape[:2])
    lost = []
    if _has_transparency(pixels) and chosen not in _WITH_TRANSPARENCY:
        pixels = pixels[..., :3] if pixels.shape[-1] == 4 else pixels[..., 0]
        lost.append(f"{path} is written without transparency, which {chosen} cannot hold: .png keeps it.")
    if not _holds_numbers(chosen, pixels):
        if pixels.dtype != np.uint16:
            raise ValueError(f"Cannot write {path}: {chosen} cannot hold {pixels.dtype} pixels: use .tif.")
        pixels = ((pixels.astype(np.uint32) + 128) // 257).astype(np.uint8)
        lost.append(
            f"{path} is written with 8 bits per channel instead of 16, as {chosen} holds no more: "
            f".png and .tif keep all."
        )
    if chosen == "GIF" and pixels.ndim == 3:
        lost.append(f"{path} is written with at most 256 colours, as GIF holds no more: .png keeps all.")
    return pixels, lost


def encode(path: str | Path, pixels: np.ndarray, **extras: Any) -> bytes:
    """The pixels as the content of a file in the format of `path`.

    Parameters
    ----------
    path : path of the file; only its suffix matters.
    pixels : what `conform` returns for the same path.
    **extras : ``icc_profile``, ``dpi`` and ``exif``, kept where the format can.
    """
    chosen = picture_format(path)
    if chosen == "TIFF" and pixels.dtype != np.uint8:
        return high_bit_depth.tiff_content(pixels, **extras)
    if chosen == "PNG" and pixels.dtype == np.uint16 and pixels.ndim == 3:
        return high_bit_depth.png_content(pixels, **extras)
    options = _QUALITY.get(chosen, {}) | extras
    if not extras.get("exif"):
        return as_file_content(path, pixels, **options)
    try:
        exif = _without_layout(extras["exif"]) if chosen == "TIFF" else extras["exif"]
        return as_file_content(path, pixels, **(options | {"exif": exif}))
    except Exception:  # damaged facts: the picture is worth more
        del options["exif"]
        return as_file_content(path, pixels, **options)


def _without_layout(exif: bytes) -> bytes:
    """Camera facts without those on how the pixels of the camera's own file lay, which Pillow would obey."""
    from PIL import Image

    facts = Image.Exif()
    with without_words_of_libraries.held():
        facts.load(exif)
        found = _LAYOUT.intersection(facts)
    for tag in found:
        del facts[tag]
    return facts.tobytes() if found else exif


def _has_transparency(pixels: np.ndarray) -> bool:
    return pixels.ndim == 3 and pixels.shape[-1] in (2, 4)


def _holds_numbers(chosen: str, pixels: np.ndarray) -> bool:
    """Whether a format keeps numbers of this type."""
    if pixels.dtype == np.uint16:
        return chosen in ("PNG", "TIFF") or (chosen in ("PPM", "JPEG2000") and pixels.ndim == 2)
    return pixels.dtype == np.uint8 or chosen == "TIFF"


def _require_short_sides(path: str | Path, chosen: str, sides: tuple[int, ...]) -> None:
    longest = _LONGEST_SIDE.get(chosen)
    if longest is not None and max(sides) > longest:
        raise ValueError(
            f"Cannot write {path}: {chosen} holds at most {longest:,} pixels a side, "
            f"the picture has {sides[0]:,} x {sides[1]:,}: use .png or .tif."
        )
