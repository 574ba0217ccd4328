import numpy as np
import pytest
import tifffile
from PIL import Image

from sedil.errors import ImageFileError
from sedil.image_files.grey_images import read_grey, read_grey_volume, scikit_image_photographs

LEVELS = np.array([[0, 50, 100], [150, 200, 255]], np.uint8)


def written(path, array, mode=None):
    image = Image.fromarray(array)
    (image.convert(mode) if mode else image).save(path)
    return path


@pytest.mark.parametrize("suffix", ["png", "bmp", "tif", "pgm", "webp"])
def test_grey_image_is_read_in_its_own_units(tmp_path, suffix):
    path = tmp_path / f"grey.{suffix}"
    Image.fromarray(LEVELS).save(path, **({"lossless": True} if suffix == "webp" else {}))
    image = read_grey(path)
    assert image.dtype == np.float32
    np.testing.assert_allclose(image, LEVELS, atol=1e-3)


def test_colour_becomes_luma(tmp_path):
    colour = np.stack([LEVELS, LEVELS[::-1], LEVELS[:, ::-1]], axis=-1)
    expected = 0.299 * colour[..., 0] + 0.587 * colour[..., 1] + 0.114 * colour[..., 2]
    np.testing.assert_allclose(read_grey(written(tmp_path / "rgb.png", colour)), expected, atol=1e-4)


def test_grey_in_colour_keeps_its_level(tmp_path):
    path = written(tmp_path / "rgb.png", np.stack([LEVELS] * 3, axis=-1))
    np.testing.assert_allclose(read_grey(path), LEVELS, atol=1e-4)


@pytest.mark.parametrize("alpha", [0, 255])
def test_transparency_is_ignored(tmp_path, alpha):
    opacity = np.full_like(LEVELS, alpha)
    rgba = written(tmp_path / "rgba.png", np.stack([LEVELS] * 3 + [opacity], axis=-1))
    np.testing.assert_allclose(read_grey(rgba), LEVELS, atol=1e-4)
    grey_alpha = tmp_path / "la.png"
    Image.merge("LA", [Image.fromarray(LEVELS), Image.fromarray(opacity)]).save(grey_alpha)
    np.testing.assert_array_equal(read_grey(grey_alpha), LEVELS)


def test_sixteen_bits_are_kept(tmp_path):
    levels = np.array([[0, 1000], [30_000, 65_535]], np.uint16)
    np.testing.assert_array_equal(read_grey(written(tmp_path / "deep.png", levels)), levels)


@pytest.mark.parametrize("size", [(2, 1), (1, 2), (4, 3), (3, 4)])
def test_small_grey_images_are_not_taken_for_colour(tmp_path, size):
    levels = np.arange(np.prod(size), dtype=np.uint8).reshape(size)
    np.testing.assert_array_equal(read_grey(written(tmp_path / "small.png", levels)), levels)


def test_palette_image_shows_its_colours(tmp_path):
    palette = Image.fromarray(LEVELS).convert("P")
    palette.save(tmp_path / "palette.png")
    np.testing.assert_allclose(read_grey(tmp_path / "palette.png"), LEVELS, atol=1e-3)


def test_broken_file_is_named(tmp_path):
    path = written(tmp_path / "broken.png", np.zeros((64, 64), np.uint8))
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(ImageFileError, match=r"broken\.png cannot be read as an image: it is .*damaged"):
        read_grey(path)


@pytest.mark.parametrize("content", [b"", b"not an image"])
def test_file_that_is_no_image_is_named(tmp_path, content):
    (tmp_path / "text.png").write_bytes(content)
    with pytest.raises(ImageFileError, match=r"text\.png cannot be read as an image"):
        read_grey(tmp_path / "text.png")


def test_missing_image_is_named(tmp_path):
    with pytest.raises(ImageFileError, match=r"gone\.png cannot be read as an image"):
        read_grey(tmp_path / "gone.png")


def test_deep_colours_become_deep_luma(tmp_path):
    levels = LEVELS.astype(np.uint16) * 256 + 1
    tifffile.imwrite(tmp_path / "deep.tif", np.stack([levels] * 3, axis=-1), photometric="rgb")
    np.testing.assert_allclose(read_grey(tmp_path / "deep.tif"), levels, rtol=1e-6)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_pixels_that_are_no_numbers_are_refused(tmp_path, value):
    path = written(tmp_path / "float.tif", np.array([[1.0, value]], np.float32))
    with pytest.raises(ImageFileError, match=r"float\.tif contains NaN or infinite pixels\."):
        read_grey(path)


def test_float_pixels_are_kept(tmp_path):
    levels = np.array([[-1.5, 0.25]], np.float32)
    np.testing.assert_array_equal(read_grey(written(tmp_path / "float.tif", levels)), levels)


def test_pages_are_counted_and_refused(tmp_path):
    page = Image.fromarray(LEVELS)
    page.save(tmp_path / "stack.tif", save_all=True, append_images=[page, page])
    with pytest.raises(ImageFileError, match=r"stack\.tif has 3 pages: split it into files of one page each"):
        read_grey(tmp_path / "stack.tif")


def test_photographs_of_scikit_image_are_grey_on_the_usual_scale():
    for photograph in scikit_image_photographs(["camera", "coffee"]):
        assert photograph.dtype == np.float32
        assert photograph.ndim == 2
        assert 100 < photograph.max() <= 255


@pytest.mark.parametrize("suffix", ["npy", "npz"])
def test_arrays_of_two_axes_are_pictures(tmp_path, suffix):
    path = tmp_path / f"levels.{suffix}"
    np.save(path, LEVELS) if suffix == "npy" else np.savez(path, LEVELS)
    np.testing.assert_array_equal(read_grey(path), LEVELS)
    np.save(tmp_path / "rgb.npy", np.stack([LEVELS] * 3, axis=-1))
    np.testing.assert_allclose(read_grey(tmp_path / "rgb.npy"), LEVELS, atol=1e-4)


def test_pictures_and_volumes_are_not_taken_for_each_other(tmp_path):
    np.save(tmp_path / "levels.npy", LEVELS)
    np.save(tmp_path / "block.npy", np.zeros((4, 5, 6)))
    with pytest.raises(ImageFileError, match=r"levels\.npy holds a picture, not a volume.*such as 8x8\."):
        read_grey_volume(tmp_path / "levels.npy")
    with pytest.raises(ImageFileError, match=r"block\.npy holds a volume, not a picture.*such as 8x8x8\."):
        read_grey(tmp_path / "block.npy")


def test_pixels_beyond_float32_are_refused(tmp_path):
    tifffile.imwrite(tmp_path / "p.tif", np.full((8, 8), 1e300))
    with pytest.raises(ImageFileError, match=r"p\.tif contains pixels beyond 3\.4e38, the range of float32"):
        read_grey(tmp_path / "p.tif")
