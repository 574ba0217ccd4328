import struct
import zlib
from io import BytesIO

import numpy as np
import pytest
import tifffile
from PIL import Image, ImageCms

from sedil.image_files import picture_files
from sedil.image_files.picture_files import conform, encode

GREY8 = np.array([[0, 50, 100], [150, 200, 255]], np.uint8)
DEEP = np.arange(2 * 3 * 4, dtype=np.uint16).reshape(2, 3, 4) * 2731 + 77


def channels(pixels, count):
    return pixels[..., 0] if count == 1 else pixels[..., :count]


# What fits


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("name", ["a.png", "a.TIF"])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_png_and_tiff_hold_all_pictures(name, count, dtype):
    pixels = channels(DEEP, count).astype(dtype)
    fitting, lost = conform(name, pixels)
    np.testing.assert_array_equal(fitting, pixels)
    assert fitting.dtype == dtype
    assert lost == []


@pytest.mark.parametrize("dtype", [np.int16, np.uint32, np.float32, np.float64])
def test_tiff_holds_all_numbers_and_others_refuse_them(dtype):
    pixels = DEEP[..., 0].astype(dtype)
    assert conform("a.tif", pixels) == (pytest.approx(pixels), [])
    message = rf"Cannot write a\.png: PNG cannot hold {np.dtype(dtype)} pixels: use \.tif\."
    with pytest.raises(ValueError, match=message):
        conform("a.png", pixels)


@pytest.mark.parametrize("name", ["a.jpg", "a.webp", "a.bmp", "a.ppm", "a.gif"])
def test_lost_depth_is_said_and_rounded(name):
    levels = np.array([[[0, 128, 129], [257, 385, 386], [32_896, 65_406, 65_535]]], np.uint16)
    fitting, lost = conform(name, levels)
    np.testing.assert_array_equal(fitting, [[[0, 0, 1], [1, 1, 2], [128, 254, 255]]])
    assert fitting.dtype == np.uint8
    assert f"{name} is written with 8 bits per channel instead of 16" in lost[0]
    assert "holds no more: .png and .tif keep all." in lost[0]


def test_portable_greymap_keeps_depth():
    assert conform("a.pgm", DEEP[..., 0])[1] == []
    with Image.open(BytesIO(encode("a.pgm", DEEP[..., 0]))) as picture:
        np.testing.assert_array_equal(np.asarray(picture), DEEP[..., 0])


@pytest.mark.parametrize("name", ["a.jpg", "a.bmp", "a.ppm"])
@pytest.mark.parametrize("count", [2, 4])
def test_lost_transparency_is_said(name, count):
    pixels = channels(DEEP, count).astype(np.uint8)
    fitting, lost = conform(name, pixels)
    np.testing.assert_array_equal(fitting, channels(DEEP, count - 1).astype(np.uint8))
    assert lost == [
        f"{name} is written without transparency, which {name[2:].upper().replace('JPG', 'JPEG')} cannot "
        f"hold: .png keeps it."
    ]


def test_colours_lost_in_gif_are_said():
    (lost,) = conform("a.gif", np.zeros((2, 2, 3), np.uint8))[1]
    assert lost == "a.gif is written with at most 256 colours, as GIF holds no more: .png keeps all."
    assert conform("a.gif", GREY8)[1] == []


@pytest.mark.parametrize(("name", "longest"), [("a.webp", 16_383), ("a.jpg", 65_500)])
def test_sides_beyond_the_format_are_refused(name, longest):
    assert conform(name, np.zeros((1, longest), np.uint8))[1] == []
    message = rf"Cannot write {name}: \w+ holds at most {longest:,} pixels a side, the picture has 1 x "
    with pytest.raises(ValueError, match=message):
        conform(name, np.zeros((1, longest + 1), np.uint8))


# What is written


def decoded_png(content):
    """Pixels of a PNG without interlacing whose rows are stored as they are or as differences to those above.

    Written from the standard, apart from Pillow.
    """
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = [], 8
    while at < len(content):
        (length,) = struct.unpack(">I", content[at : at + 4])
        kind, data = content[at + 4 : at + 8], content[at + 8 : at + 8 + length]
        assert struct.unpack(">I", content[at + 8 + length : at + 12 + length])[0] == zlib.crc32(kind + data)
        chunks.append((kind, data))
        at += 12 + length
    assert (chunks[0][0], chunks[-1]) == (b"IHDR", (b"IEND", b""))
    columns, rows, depth, colour_type, *rest = struct.unpack(">IIBBBBB", chunks[0][1])
    assert (depth, rest) == (16, [0, 0, 0])
    n_channels = {2: 3, 4: 2, 6: 4}[colour_type]
    stored = np.frombuffer(
        zlib.decompress(b"".join(data for kind, data in chunks if kind == b"IDAT")), np.uint8
    )
    lines = stored.reshape(rows, 1 + 2 * columns * n_channels)
    assert set(lines[:, 0]) == {2}
    bytes_ = np.cumsum(lines[:, 1:], axis=0, dtype=np.uint8)
    return bytes_.view(">u2").reshape(rows, columns, n_channels)


@pytest.mark.parametrize("count", [2, 3, 4])
@pytest.mark.parametrize("rows", [1, 63, 64, 65, 200])
def test_deep_png_follows_the_standard(rng, count, rows):
    pixels = rng.integers(0, 65_536, (rows, 7, count), dtype=np.uint16)
    content = bytes(encode("a.png", pixels))
    np.testing.assert_array_equal(decoded_png(content), pixels)
    with Image.open(BytesIO(content)) as picture:  # reads the upper bytes
        shallow = np.asarray(picture)
    np.testing.assert_array_equal(shallow[..., -1], pixels[..., -1] >> 8)
    np.testing.assert_array_equal(shallow[..., 0], pixels[..., 0] >> 8)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", [np.uint16, np.float32])
def test_deep_tiff_is_read_back(count, dtype):
    pixels = channels(DEEP, count).astype(dtype)
    content = BytesIO(encode("a.tif", pixels))
    np.testing.assert_array_equal(tifffile.imread(content), pixels)
    content.seek(0)
    with tifffile.TiffFile(content) as file:
        page = file.pages.first
        assert page.photometric.name == ("RGB" if count > 2 else "MINISBLACK")
        assert [kind.name for kind in page.extrasamples] == ["UNASSALPHA"] * (count in (2, 4))
        assert {tag.name for tag in page.tags}.isdisjoint({"Software", "ImageDescription", "DateTime"})


def test_photographs_are_hardly_compressed(rng):
    pixels = rng.integers(0, 255, (32, 32, 3), dtype=np.uint8)
    with Image.open(BytesIO(encode("a.jpg", pixels))) as picture:
        assert np.abs(np.asarray(picture).astype(float) - pixels).mean() < 4


@pytest.mark.parametrize(
    ("name", "dtype"), [("a.png", "u1"), ("a.png", "u2"), ("a.jpg", "u1"), ("a.tif", "u1"), ("a.tif", "u2")]
)
def test_profile_resolution_and_camera_facts_are_kept(name, dtype):
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    exif = Image.Exif()
    exif[271] = "maker"
    pixels = DEEP[..., :3].astype(dtype)
    content = encode(name, pixels, icc_profile=profile, dpi=(300, 200), exif=exif.tobytes())
    with Image.open(BytesIO(content)) as picture:
        assert picture.info["icc_profile"] == profile
        assert tuple(map(float, picture.info["dpi"])) == pytest.approx((300, 200), abs=0.1)
        if (name, dtype) != ("a.tif", "u2"):
            assert picture.getexif()[271] == "maker"


def test_format_that_cannot_hold_the_picture_is_named():
    with pytest.raises(OSError, match=r"Cannot write a\.xbm: cannot write mode L as XBM\."):
        encode("a.xbm", GREY8)


def test_damaged_camera_facts_do_not_matter():
    content = encode("a.tif", GREY8, exif=b"Exif\0\0II*\0\x08\0\0\0\xff\xff")
    with Image.open(BytesIO(content)) as picture:
        np.testing.assert_array_equal(np.asarray(picture), GREY8)


@pytest.mark.parametrize("tag", [256, 257, 258, 259, 277, 278, 322])
def test_size_and_depth_in_camera_facts_are_not_those_of_the_tiff(tag):
    """Cameras write them, and a picture that was turned upright has others."""
    facts = Image.Exif()
    facts[tag], facts[271] = 6, "camera"
    content = encode("a.tif", GREY8, exif=facts.tobytes())
    with Image.open(BytesIO(content)) as picture:
        np.testing.assert_array_equal(np.asarray(picture), GREY8)
        assert picture.getexif()[271] == "camera"


def test_camera_facts_that_cannot_be_written_are_left_out(monkeypatch):
    def refuse(exif):
        raise struct.error("required argument is not an integer")

    monkeypatch.setattr(picture_files, "_without_layout", refuse)
    with Image.open(BytesIO(encode("a.tif", GREY8, exif=b"Exif\0\0"))) as picture:
        np.testing.assert_array_equal(np.asarray(picture), GREY8)
