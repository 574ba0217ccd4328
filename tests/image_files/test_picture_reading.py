import os
import warnings
from io import BytesIO

import numpy as np
import pytest
import tifffile
from PIL import ExifTags, Image, ImageCms
from PIL.PngImagePlugin import putchunk

from sedil.errors import ImageFileError
from sedil.image_files import picture_files, reading_errors
from sedil.image_files.grey_images import read_grey
from sedil.image_files.picture_files import encode, picture_shape, read_picture
from sedil.image_files.volume_files import read_volume

LEVELS = np.array([[0, 50, 100], [150, 200, 255]], np.uint8)
RGB = np.stack([LEVELS, LEVELS[::-1], LEVELS[:, ::-1]], axis=-1)
# Values whose two bytes differ, so that a lost or exchanged byte shows.
DEEP = np.arange(2 * 3 * 4, dtype=np.uint16).reshape(2, 3, 4) * 2731 + 77


def deep_tiff(path, pixels, **how):
    tifffile.imwrite(path, pixels, **{"photometric": "rgb", "metadata": None} | how)
    return path


# Depth


@pytest.mark.parametrize("how", [{}, {"compression": "zlib"}, {"byteorder": ">"}, {"tile": (16, 16)}])
def test_colour_tiff_keeps_sixteen_bits(tmp_path, how):
    picture = read_picture(deep_tiff(tmp_path / "deep.tif", DEEP[..., :3], **how))
    assert picture.pixels.dtype == np.uint16
    assert (picture.alpha, picture.notes) == (None, ())
    np.testing.assert_array_equal(picture.pixels, DEEP[..., :3])


@pytest.mark.parametrize("how", [{}, {"compression": "zlib"}])
def test_colour_tiff_in_planes_keeps_sixteen_bits(tmp_path, how):
    planes = np.ascontiguousarray(np.moveaxis(DEEP[..., :3], -1, 0))
    path = deep_tiff(tmp_path / "planes.tif", planes, planarconfig="separate", **how)
    np.testing.assert_array_equal(read_picture(path).pixels, DEEP[..., :3])


@pytest.mark.parametrize("how", [{}, {"compression": "zlib"}])
def test_transparent_tiff_keeps_sixteen_bits(tmp_path, how):
    path = deep_tiff(tmp_path / "deep.tif", DEEP, extrasamples=["unassalpha"], **how)
    picture = read_picture(path)
    np.testing.assert_array_equal(picture.pixels, DEEP[..., :3])
    np.testing.assert_array_equal(picture.alpha, DEEP[..., 3])


@pytest.mark.parametrize("n_channels", [2, 3, 4])
def test_png_keeps_sixteen_bits(tmp_path, n_channels):
    (tmp_path / "deep.png").write_bytes(encode("deep.png", DEEP[..., :n_channels]))
    picture = read_picture(tmp_path / "deep.png")
    colours = DEEP[..., 0] if n_channels == 2 else DEEP[..., :3]
    assert picture.pixels.dtype == np.uint16
    np.testing.assert_array_equal(picture.pixels, colours)
    if n_channels == 3:
        assert picture.alpha is None
    else:
        np.testing.assert_array_equal(picture.alpha, DEEP[..., n_channels - 1])


@pytest.mark.parametrize("dtype", [np.int16, np.uint16, np.uint32, np.float32, np.float64])
@pytest.mark.parametrize("colour", [False, True])
def test_tiff_keeps_its_numbers(tmp_path, dtype, colour):
    pixels = (DEEP[..., :3] if colour else DEEP[..., 0]).astype(dtype)
    path = tmp_path / "numbers.tif"
    tifffile.imwrite(path, pixels, photometric="rgb" if colour else "minisblack")
    picture = read_picture(path)
    assert picture.pixels.dtype == dtype
    np.testing.assert_array_equal(picture.pixels, pixels)
    assert picture_shape(path) == pixels.shape


def test_white_is_white_in_a_tiff_where_it_is_zero(tmp_path):
    path = tmp_path / "inverse.tif"
    tifffile.imwrite(path, DEEP[..., 0], photometric="miniswhite")
    np.testing.assert_array_equal(read_picture(path).pixels, 65535 - DEEP[..., 0])


def test_big_endian_and_portable_greys_are_plain_numbers(tmp_path):
    grey = DEEP[..., 0]
    tifffile.imwrite(tmp_path / "big.tif", grey, byteorder=">")
    (tmp_path / "grey.pgm").write_bytes(b"P5 3 2 65535\n" + grey.astype(">u2").tobytes())
    for name in ("big.tif", "grey.pgm"):
        pixels = read_picture(tmp_path / name).pixels
        assert pixels.dtype == np.dtype("=u2")
        np.testing.assert_array_equal(pixels, grey)


def test_lost_depth_is_said(tmp_path):
    path = tmp_path / "deep.ppm"
    path.write_bytes(b"P6 3 2 65535\n" + DEEP[..., :3].astype(">u2").tobytes())
    (note,) = read_picture(path).notes
    assert note.endswith("deep.ppm is read with 8 bits per channel, even if it holds more: "
                         "convert it to .png or .tif to keep all.")  # fmt: skip
    path.write_bytes(b"P6 3 2 255\n" + RGB.tobytes())
    assert read_picture(path).notes == ()


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"photometric": "separated"}, "has colours of the kind SEPARATED in uint16: save it as grey or RGB"),
        (
            {"extrasamples": ["assocalpha"]},
            r"has channels besides its colours \(ASSOCALPHA\) in uint16: save it without them",
        ),
    ],
)
def test_deep_colours_of_another_kind_are_named(tmp_path, how, message):
    with pytest.raises(ImageFileError, match=rf"deep\.tif {message}\."):
        read_picture(deep_tiff(tmp_path / "deep.tif", DEEP, **how))


def test_complex_pixels_are_named(tmp_path):
    tifffile.imwrite(tmp_path / "c.tif", LEVELS.astype(complex))
    with pytest.raises(ImageFileError, match=r"c\.tif has pixels of the type complex128: save it with real"):
        read_picture(tmp_path / "c.tif")


# Colours and transparency


def test_palette_with_transparency_is_resolved_without_a_warning(tmp_path):
    palette = Image.fromarray(RGB).quantize(8)
    palette.save(tmp_path / "p.png", transparency=bytes([0] + [255] * 7))
    picture = read_picture(tmp_path / "p.png")
    np.testing.assert_array_equal(picture.pixels, np.asarray(palette.convert("RGB")))
    np.testing.assert_array_equal(picture.alpha, np.where(np.asarray(palette) == 0, 0, 255))


def test_one_transparent_colour_becomes_transparency(tmp_path):
    Image.fromarray(LEVELS).save(tmp_path / "l.png", transparency=50)
    np.testing.assert_array_equal(read_picture(tmp_path / "l.png").alpha, np.where(LEVELS == 50, 0, 255))
    grey = DEEP[..., 0]
    Image.fromarray(grey).save(tmp_path / "deep.png", transparency=int(grey[1, 1]))
    picture = read_picture(tmp_path / "deep.png")
    np.testing.assert_array_equal(picture.pixels, grey)
    np.testing.assert_array_equal(picture.alpha, np.where(grey == grey[1, 1], 0, 65535))


def test_one_transparent_colour_of_sixteen_bits_becomes_transparency(tmp_path):
    stream = BytesIO()
    putchunk(stream, b"tRNS", DEEP[1, 1, :3].astype(">u2").tobytes())
    content = bytes(encode("deep.png", DEEP[..., :3]))
    head = 33  # bytes of the signature and of the chunk that comes first
    (tmp_path / "deep.png").write_bytes(content[:head] + stream.getvalue() + content[head:])
    picture = read_picture(tmp_path / "deep.png")
    np.testing.assert_array_equal(picture.pixels, DEEP[..., :3])
    np.testing.assert_array_equal(picture.alpha, [[65535] * 3, [65535, 0, 65535]])


def test_grey_with_transparency_stays_grey(tmp_path):
    Image.fromarray(np.dstack([LEVELS, LEVELS.T.reshape(2, 3)])).save(tmp_path / "la.png")
    picture = read_picture(tmp_path / "la.png")
    np.testing.assert_array_equal(picture.pixels, LEVELS)
    np.testing.assert_array_equal(picture.alpha, LEVELS.T.reshape(2, 3))


def test_black_and_white_becomes_grey_and_says_so(tmp_path):
    Image.fromarray(LEVELS > 100).save(tmp_path / "bits.png")
    picture = read_picture(tmp_path / "bits.png")
    np.testing.assert_array_equal(picture.pixels, np.where(LEVELS > 100, 255, 0))
    assert picture.notes[0].endswith("bits.png is black and white: the result has 256 greys.")


def test_cmyk_becomes_rgb_and_says_so(tmp_path):
    flat = np.full((8, 8, 3), (200, 100, 50), np.uint8)
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    Image.fromarray(flat).convert("CMYK").save(tmp_path / "c.jpg", quality=95, icc_profile=profile)
    picture = read_picture(tmp_path / "c.jpg")
    np.testing.assert_allclose(picture.pixels, flat, atol=3)
    assert picture.notes[0].endswith("c.jpg has CMYK colours: they are read, and written, as RGB.")
    assert "icc_profile" not in picture.extras  # it speaks of inks


# What comes with the pixels


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("name", ["p.jpg", "p.png", "p.tif"])
def test_picture_is_turned_upright(tmp_path, orientation, name):
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = orientation
    exif[ExifTags.Base.Make] = "maker"
    stored = np.kron(LEVELS, np.ones((16, 16), np.uint8))
    Image.fromarray(stored).save(tmp_path / name, exif=exif, **({"quality": 100} if "jpg" in name else {}))
    picture = read_picture(tmp_path / name)
    np.testing.assert_allclose(picture.pixels, UPRIGHT[orientation](stored), atol=4)
    if name != "p.tif":
        facts = Image.Exif()
        facts.load(picture.extras["exif"])
        assert facts[ExifTags.Base.Make] == "maker"
        assert facts.get(ExifTags.Base.Orientation, 1) == 1


UPRIGHT = {
    1: lambda stored: stored,
    2: np.fliplr,
    3: lambda stored: np.rot90(stored, 2),
    4: np.flipud,
    5: np.transpose,
    6: lambda stored: np.rot90(stored, -1),
    7: lambda stored: np.rot90(stored, 2).T,
    8: np.rot90,
}


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("how", [{}, {"planarconfig": "separate"}])
def test_deep_tiff_is_turned_upright_however_it_is_read(tmp_path, orientation, how):
    stored = DEEP[..., :3]
    path = tmp_path / "deep.tif"
    content = np.ascontiguousarray(np.moveaxis(stored, -1, 0)) if how else stored
    deep_tiff(path, content, extratags=[(274, "H", 1, orientation, True)], **how)
    pixels = read_picture(path).pixels
    for channel in range(3):
        np.testing.assert_array_equal(pixels[..., channel], UPRIGHT[orientation](stored[..., channel]))


def test_profile_and_resolution_are_read(tmp_path):
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    Image.fromarray(RGB).save(tmp_path / "p.png", icc_profile=profile, dpi=(300, 300))
    deep_tiff(tmp_path / "p.tif", DEEP[..., :3].astype(np.float32), iccprofile=profile)
    assert read_picture(tmp_path / "p.png").extras["icc_profile"] == profile
    assert read_picture(tmp_path / "p.png").extras["dpi"] == pytest.approx((300, 300), abs=0.1)
    assert read_picture(tmp_path / "p.tif").extras["icc_profile"] == profile
    Image.fromarray(RGB).save(tmp_path / "bare.tif")
    assert read_picture(tmp_path / "bare.tif").extras == {}  # not one dot per inch


def test_damaged_camera_facts_do_not_matter(tmp_path):
    Image.fromarray(RGB).save(tmp_path / "p.jpg", exif=b"Exif\0\0II*\0\x08\0\0\0\xff\xff")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert read_picture(tmp_path / "p.jpg").pixels.shape == RGB.shape
    assert caught == []


# What cannot be read


@pytest.mark.parametrize("suffix", ["gif", "png", "webp"])
def test_frames_are_counted_and_refused(tmp_path, suffix):
    path = tmp_path / f"film.{suffix}"
    Image.fromarray(RGB).save(path, save_all=True, append_images=[Image.fromarray(RGB[::-1])])
    with pytest.raises(ImageFileError, match=rf"film\.{suffix} has 2 frames: split it into files of one fra"):
        read_picture(path)


@pytest.mark.parametrize("dtype", [np.uint16, np.float64])
def test_pages_are_counted_and_refused(tmp_path, dtype):
    path = tmp_path / "stack.tif"
    tifffile.imwrite(path, np.zeros((5, 8, 9), dtype), photometric="minisblack")
    with pytest.raises(ImageFileError, match=r"stack\.tif has 5 pages: split it into files of one page each"):
        read_picture(path)


def test_photograph_with_a_preview_is_read(tmp_path):
    photo, preview = Image.fromarray(np.full((16, 16), 99, np.uint8)), Image.fromarray(LEVELS)
    photo.save(tmp_path / "p.jpg", format="MPO", save_all=True, append_images=[preview])
    picture = read_picture(tmp_path / "p.jpg")
    np.testing.assert_allclose(picture.pixels, 99, atol=2)
    assert "p.jpg holds 2 pictures: only the first, the photograph, is read." in picture.notes[0]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "the file is empty"),
        (b"not a picture", "it is no picture, damaged, or of another format"),
        (b"II*\0", "it is damaged, incomplete or of a rare kind"),
        (b"II*\0\0\0\0\0", "it is damaged, incomplete or of a rare kind"),  # tifffile logs this
    ],
)
def test_reason_is_told(tmp_path, caplog, content, reason):
    (tmp_path / "p.png").write_bytes(content)
    with pytest.raises(ImageFileError, match=rf"p\.png cannot be read as an image: {reason}"):
        read_picture(tmp_path / "p.png")
    assert not caplog.records


@pytest.mark.parametrize("kind", ["EPS", "PCX", "ICNS", "TGA", "SGI", "DDS", "PDF"])
def test_other_formats_are_not_opened_whatever_the_name(tmp_path, kind):
    Image.new("RGB", (16, 16)).save(tmp_path / "p.png", format=kind)
    message = r"p\.png cannot be read as an image: it is no picture, damaged, or of another format than PNG"
    with pytest.raises(ImageFileError, match=message):
        read_picture(tmp_path / "p.png")


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF", "BMP", "WEBP", "PPM", "GIF", "JPEG2000"])
def test_known_formats_are_opened_whatever_the_name(tmp_path, kind):
    Image.new("L", (16, 16), 90).save(tmp_path / "p.png", format=kind)
    np.testing.assert_allclose(read_picture(tmp_path / "p.png").pixels, 90, atol=3)


@pytest.mark.parametrize("suffix", ["png", "jpg", "tif", "bmp"])
def test_file_cut_short_is_refused(tmp_path, rng, suffix):
    path = tmp_path / f"cut.{suffix}"
    Image.fromarray(rng.integers(0, 255, (80, 90, 3), dtype=np.uint8)).save(path)
    path.write_bytes(path.read_bytes()[:-2000])
    with pytest.raises(ImageFileError, match=rf"cut\.{suffix} cannot be read as an image: it is damaged"):
        read_picture(path)


def test_missing_file_folder_and_forbidden_file_are_told_apart(tmp_path, monkeypatch):
    with pytest.raises(ImageFileError, match=r"gone\.png cannot be read as an image: No such file"):
        read_picture(tmp_path / "gone.png")
    with pytest.raises(ImageFileError, match=r"cannot be read as an image: it is a folder\."):
        read_picture(tmp_path)

    def refuse(stream, formats):
        raise PermissionError(13, "Permission denied")

    Image.fromarray(LEVELS).save(tmp_path / "secret.png")
    monkeypatch.setattr(Image, "open", refuse)
    with pytest.raises(ImageFileError, match=r"secret\.png cannot be read as an image: Permission denied\."):
        read_picture(tmp_path / "secret.png")


def test_memory_error_while_decoding_is_told(tmp_path, monkeypatch):
    Image.fromarray(RGB).save(tmp_path / "p.png")

    def refuse(picture):
        raise MemoryError

    monkeypatch.setattr(picture_files, "_upright", refuse)
    with pytest.raises(ImageFileError, match=r"p\.png cannot be read as an image: it does not fit into memo"):
        read_picture(tmp_path / "p.png")


# Size


@pytest.mark.parametrize("limit", [4, 2])  # Pillow warns beyond the limit, and refuses beyond twice of it
def test_pictures_beyond_the_limit_of_pillow_are_read(tmp_path, monkeypatch, limit):
    Image.fromarray(LEVELS).save(tmp_path / "large.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", limit)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(read_picture(tmp_path / "large.png").pixels, LEVELS)
    assert limit == Image.MAX_IMAGE_PIXELS


def test_limit_is_back_after_a_failure(tmp_path, monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 5)
    (tmp_path / "bad.png").write_bytes(b"bad")
    with pytest.raises(ImageFileError):
        read_picture(tmp_path / "bad.png")
    assert Image.MAX_IMAGE_PIXELS == 5


def test_pictures_beyond_the_memory_are_refused_before_they_are_read(tmp_path, monkeypatch):
    Image.fromarray(np.zeros((3000, 4000), np.uint8)).save(tmp_path / "large.png")
    monkeypatch.setattr(reading_errors, "usable_memory", lambda: 50_000_000)
    monkeypatch.setattr(picture_files, "_plain", None)
    message = (
        r"large\.png has 3,000 x 4,000 pixels, which take about 0\.1 GB of memory, and this process may use "
        r"0\.1 GB: cut it into parts\."
    )
    with pytest.raises(ImageFileError, match=message):
        read_picture(tmp_path / "large.png")


def test_memory_is_not_limited_where_its_size_is_unknown(tmp_path, monkeypatch):
    Image.fromarray(LEVELS).save(tmp_path / "p.png")
    monkeypatch.setattr(reading_errors, "usable_memory", lambda: None)
    assert read_picture(tmp_path / "p.png").pixels.shape == (2, 3)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes in folders")
@pytest.mark.parametrize("read", [read_picture, read_volume, picture_shape, read_grey])
def test_pipe_is_refused_and_not_waited_for(tmp_path, read):
    os.mkfifo(tmp_path / "p.npy")
    with pytest.raises(
        ImageFileError, match=r"p\.npy is a device, a pipe or a socket: give the name of a file"
    ):
        read(tmp_path / "p.npy")


@pytest.mark.parametrize("content", [b"P5 4 3 25=\n" + bytes(12), b"P2 4 3 255\n1 2 3 x"])
def test_words_for_programmers_are_kept_to_ourselves(tmp_path, content):
    (tmp_path / "p.pgm").write_bytes(content)
    message = r"p\.pgm cannot be read as an image: it is damaged, incomplete or of a rare kind\.$"
    with pytest.raises(ImageFileError, match=message):
        read_picture(tmp_path / "p.pgm")


def test_log_of_pillow_is_silent(tmp_path, caplog):
    Image.new("RGB", (8, 8)).save(tmp_path / "p.tif")
    content = bytearray((tmp_path / "p.tif").read_bytes())
    start = int.from_bytes(content[4:8], "little") + 2
    tag = next(place for place in range(start, len(content), 12) if content[place : place + 2] == b"\x15\x01")
    content[tag + 8 : tag + 10] = b"\xff\x7f"  # samples per pixel
    (tmp_path / "p.tif").write_bytes(content)
    with pytest.raises(ImageFileError, match=r"p\.tif has colours of the kind RGB"):
        read_picture(tmp_path / "p.tif")
    assert not caplog.records


def test_size_that_is_no_number_is_told(tmp_path):
    """Two columns where one number belongs, in a file that only tifffile opens."""
    tifffile.imwrite(tmp_path / "p.tif", np.zeros((8, 8), np.int64))
    content = bytearray((tmp_path / "p.tif").read_bytes())
    place = content.index(b"\x00\x01\x04\x00\x01\x00\x00\x00")  # the width
    content[place + 4] = 2
    (tmp_path / "p.tif").write_bytes(content)
    with pytest.raises(ImageFileError, match=r"p\.tif cannot be read as an image"):
        read_picture(tmp_path / "p.tif")
