"""Files that say they are larger than they can be are refused before their pixels take memory."""

import struct
import zlib

import numpy as np
import pytest
import tifffile
from PIL import Image

from sedil.errors import ImageFileError
from sedil.image_files import high_bit_depth
from sedil.image_files.picture_files import read_picture
from sedil.image_files.volume_files import read_volume

TOO_LARGE = r"it says that it has 20,000 x 20,000 pixels, more than its [0-9,]+ bytes can hold"


def tiff(*widths, rows, bits, compression, kind):
    """A TIFF of one strip with 7,000 bytes and as many widths as are given."""
    short, long = 3, 4
    tags = [
        *((256, long, width) for width in widths),
        (257, long, rows),
        (258, short, bits),
        (259, short, compression),
        (262, short, 1),
        (273, long, 0),
        (277, short, 1),
        (278, long, rows),
        (279, long, 7000),
        (339, short, kind),
    ]
    start = 8 + 2 + 12 * len(tags) + 4
    content = b"II*\0" + struct.pack("<IH", 8, len(tags))
    for code, length, value in tags:
        content += struct.pack("<HHII", code, length, 1, start if code == 273 else value)
    return content + bytes(4) + zlib.compress(bytes(7000)).ljust(7000, b"x")


@pytest.fixture
def undecoded(monkeypatch):
    """No decoder is reached."""

    def decoded(*arguments, **options):
        raise AssertionError("its pixels were read")

    monkeypatch.setattr("PIL.ImageFile.ImageFile.load", decoded)
    monkeypatch.setattr("tifffile.TiffPage.asarray", decoded)
    monkeypatch.setattr("tifffile.TiffPageSeries.asarray", decoded)


@pytest.mark.usefixtures("undecoded")
@pytest.mark.parametrize("compression", [1, 5, 8, 32773])
@pytest.mark.parametrize(("bits", "kind"), [(8, 1), (16, 1), (32, 3), (64, 3)])
@pytest.mark.parametrize("widths", [(20_000,), (20_000, 10)])
def test_tiff_that_is_too_short_is_refused(tmp_path, compression, bits, kind, widths):
    path = tmp_path / "bomb.tif"
    path.write_bytes(tiff(*widths, rows=20_000, bits=bits, compression=compression, kind=kind))
    with pytest.raises(ImageFileError, match=rf"bomb\.tif cannot be read as an image: .*{TOO_LARGE}"):
        read_picture(path)


@pytest.mark.usefixtures("undecoded")
def test_size_that_tifffile_finds_is_looked_at_too(tmp_path):
    path = tmp_path / "bomb.tif"
    path.write_bytes(tiff(20_000, rows=20_000, bits=64, compression=8, kind=3))
    with pytest.raises(ValueError, match=TOO_LARGE):
        high_bit_depth.read_tiff(path)


@pytest.mark.usefixtures("undecoded")
@pytest.mark.parametrize("mode", ["L", "RGB"])
def test_png_that_is_too_short_is_refused(tmp_path, mode):
    path = tmp_path / "bomb.png"
    Image.new(mode, (10, 10)).save(path)
    content = bytearray(path.read_bytes())
    content[16:24] = struct.pack(">II", 20_000, 20_000)
    content[29:33] = struct.pack(">I", zlib.crc32(content[12:29]))
    path.write_bytes(content)
    with pytest.raises(ImageFileError, match=rf"bomb\.png cannot be read as an image: .*{TOO_LARGE}"):
        read_picture(path)


@pytest.mark.usefixtures("undecoded")
def test_stack_that_is_too_short_is_refused(tmp_path):
    path = tmp_path / "bomb.tif"
    tifffile.imwrite(path, np.zeros((5, 40, 50), np.uint16), compression="zlib", metadata=None)
    with tifffile.TiffFile(path, mode="r+") as file:
        for page in file.pages:
            page.tags["ImageWidth"].overwrite(50_000)
            page.tags["ImageLength"].overwrite(20_000)
            page.tags["RowsPerStrip"].overwrite(20_000)
    with pytest.raises(ImageFileError, match=r"says that it has 5 x 20,000 x 50,000 pixels, more than its"):
        read_volume(path, bytes_per_value=0.01)


@pytest.mark.parametrize("compression", [None, "tiff_lzw", "tiff_adobe_deflate", "packbits"])
@pytest.mark.parametrize("mode", ["1", "L", "RGB", "I;16", "F"])
def test_picture_of_one_colour_packed_as_tight_as_can_be_is_read(tmp_path, compression, mode):
    flat, path = Image.new(mode, (3000, 2000)), tmp_path / "flat.tif"
    flat.save(path, compression=compression)
    assert not read_picture(path).pixels.any()
    if mode != "F":
        flat.save(tmp_path / "flat.png", optimize=True)
        assert not read_picture(tmp_path / "flat.png").pixels.any()


def with_sides(content, kind, side):
    """The same file with other sides in its head, where each format has them."""
    place, how = {"JPEG": (None, ">H"), "GIF": (6, "<H"), "WEBP": (None, "<H")}[kind]
    if kind == "JPEG":
        place = content.index(b"\xff\xc0") + 5
    if kind == "WEBP":
        place = content.index(b"\x9d\x01\x2a") + 3
    return content[:place] + 2 * struct.pack(how, side) + content[place + 4 :]


@pytest.mark.usefixtures("undecoded")
@pytest.mark.parametrize("kind", ["JPEG", "GIF", "WEBP"])
def test_picture_of_far_more_pixels_than_bytes_is_refused(tmp_path, kind):
    path = tmp_path / "bomb"
    Image.new("RGB", (16, 16), 90).save(path, kind)
    path.write_bytes(with_sides(path.read_bytes(), kind, 16_000))
    message = (
        r"16,000 x 16,000 pixels in [0-9,]+ bytes, as no photograph does: save it as \.png if it is right"
    )
    with pytest.raises(ImageFileError, match=message):
        read_picture(path)


@pytest.mark.parametrize("kind", ["JPEG", "GIF", "WEBP", "JPEG2000"])
def test_flat_picture_of_usual_size_is_read(tmp_path, kind):
    Image.new("L", (1900, 2100), 90).save(tmp_path / "flat", kind)
    assert read_picture(tmp_path / "flat").pixels.shape[:2] == (2100, 1900)
