"""What the camera wrote into a picture's file about the shot."""

from __future__ import annotations

from typing import Any

from sedil.image_files.picture_files import Picture
from sedil.image_files.volume_files import Volume

_FACTS = 0x8769  # the part of EXIF that tells of the shot
_SENSITIVITY, _WIDTH, _HEIGHT = 0x8827, 0xA002, 0xA003
_LITTLE_LIGHT = 1600  # ISO, from which on photographs of cameras were looked at (docs/noise.md)


def is_shot_in_little_light(content: Picture | Volume) -> bool:
    """Whether a picture is a shot at high sensitivity, and as large as the camera made it.

    Such a picture has noise, which the camera has smoothed; in one that was made smaller little is left.
    """
    facts = _facts(content.extras.get("exif")) if isinstance(content, Picture) else {}
    size = (facts.get(_WIDTH), facts.get(_HEIGHT))
    rows, columns = content.pixels.shape[:2]
    return _number(facts.get(_SENSITIVITY)) >= _LITTLE_LIGHT and size in ((columns, rows), (rows, columns))


def _facts(exif: bytes | None) -> dict[int, Any]:
    """By number; none where there are none, or they are damaged."""
    if exif is None:
        return {}
    from PIL import Image

    found = Image.Exif()
    try:
        found.load(exif)
        return found.get_ifd(_FACTS)
    except Exception:  # of a damaged file, of any kind
        return {}


def _number(value: Any) -> int:
    """The first of several; 0 of what is no number."""
    first = value[0] if isinstance(value, tuple) and value else value
    return first if isinstance(first, int) else 0
