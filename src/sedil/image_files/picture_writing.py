"""Picture formats: what they can hold, and pictures of any depth as their content."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sedil.files import as_file_content, picture_format
from sedil.global_state import without_words_of_libraries
from sedil.image_files import high_bit_depth

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


def encode(path: str | Path, pixels: np.ndarray, **extras: Any) -> memoryview:
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
