import base64
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from random_things import random_dictionary
from sedil import files, mosaic, odct
from sedil.dictionary import SeparableDictionary

BLACK, GREY, WHITE = 0, 128, 255


def tile_of(picture, row, column, height, width, zoom=1):
    """The entries of one tile of a mosaic with borders one pixel wide."""
    top, left = 1 + row * (height * zoom + 1), 1 + column * (width * zoom + 1)
    return picture[top : top + height * zoom : zoom, left : left + width * zoom : zoom]


def one_atom(values):
    """A dictionary of the one atom with these entries, up to length."""
    column = np.array(values, dtype=float)[:, None]
    return SeparableDictionary([column], normalize=True)


def test_most_negative_is_black_zero_is_grey_most_positive_is_white():
    picture = mosaic.draw(one_atom([-5.0, 0.0, 1.0, 0.5]), signal_shape=(2, 2), zoom=1)
    assert tile_of(picture, 0, 0, 2, 2).tolist() == [[BLACK, GREY], [WHITE, 191]]


def test_signs_are_scaled_apart_and_each_atom_by_itself():
    factor = np.array([[-4.0, 1.0], [-2.0, 3.0], [1.0, -1.0], [0.0, 0.0]])
    dictionary = SeparableDictionary([factor], normalize=True)
    picture = mosaic.draw(dictionary, signal_shape=(2, 2), zoom=1, order=[np.arange(2)])
    assert tile_of(picture, 0, 0, 2, 2).tolist() == [[BLACK, 64], [WHITE, GREY]]
    assert tile_of(picture, 0, 1, 2, 2).tolist() == [[170, WHITE], [BLACK, GREY]]


@pytest.mark.parametrize(("values", "level"), [([1, 1, 1, 1], WHITE), ([-1, -1, -1, -1], BLACK)])
def test_constant_atom_is_all_white_or_all_black(values, level):
    picture = mosaic.draw(one_atom(values), signal_shape=(2, 2), zoom=1)
    assert (tile_of(picture, 0, 0, 2, 2) == level).all()


def test_two_factors_make_a_table_with_the_first_factor_down_the_rows():
    a = np.array([[1.0, 0.0, 0.6], [0.0, 1.0, 0.8]])
    b = np.array([[1.0, 0.0], [0.0, 1.0]])
    picture = mosaic.draw(SeparableDictionary([a, b]), zoom=1, order=[np.arange(3), np.arange(2)])
    assert picture.shape == (3 * 3 + 1, 2 * 3 + 1)
    assert tile_of(picture, 1, 0, 2, 2).tolist() == [[GREY, GREY], [WHITE, GREY]]
    assert tile_of(picture, 0, 1, 2, 2).tolist() == [[GREY, WHITE], [GREY, GREY]]
    assert tile_of(picture, 2, 1, 2, 2)[1, 1] == WHITE


def test_border_is_white_and_zoom_repeats_entries():
    picture = mosaic.draw(one_atom([-1.0, 0.0, 0.0, 1.0]), signal_shape=(2, 2), zoom=3)
    assert picture.dtype == np.uint8
    assert picture.shape == (8, 8)
    assert (picture[0] == WHITE).all()
    assert (picture[:, 0] == WHITE).all()
    assert (picture[1:4, 1:4] == BLACK).all()
    assert (picture[1:4, 4:7] == GREY).all()


def test_one_axis_is_a_bar_code():
    picture = mosaic.draw(one_atom([-1.0, 0.0, 1.0]), zoom=1)
    assert tile_of(picture, 0, 0, 3, 2).tolist() == [[BLACK] * 2, [GREY] * 2, [WHITE] * 2]


def test_slices_of_three_axes_lie_side_by_side():
    picture = mosaic.draw(one_atom([-1, 0, 0, 0, 1, 0, 0, 0]), signal_shape=(2, 2, 2), zoom=1)
    expected = [[BLACK, GREY, WHITE, WHITE, GREY], [GREY, GREY, WHITE, GREY, GREY]]  # a gap in the middle
    assert tile_of(picture, 0, 0, 2, 5).tolist() == expected


def test_three_axes_are_drawn_as_factors_and_some_atoms():
    dictionary = odct((8, 8, 8), 12)
    picture = mosaic.draw(dictionary, zoom=3)
    height, width = picture.shape
    assert 0.5 < width / height < 2  # no strip
    assert picture.size < 300_000
    blocks = mosaic.draw(
        SeparableDictionary([dictionary.as_matrix()], normalize=True, signal_shape=(8, 8, 8)), zoom=3
    )
    assert blocks.shape[1] == width  # of one factor there are atoms alone
    assert blocks.shape[0] < height
    # The first factor stands at the top left, one column an atom: the constant one is white.
    zoom = (width - 2 * 4) // 36
    column = picture[: 8 * zoom : zoom, : 12 * zoom : zoom]
    assert (column[:, 0] == WHITE).all()
    assert ((column == BLACK).sum(axis=0)[1:] >= 1).all()


def test_factors_are_left_out_where_they_do_not_fit(monkeypatch):
    dictionary = odct((4, 4, 4), 6)
    whole = mosaic.draw(dictionary, zoom=1)
    monkeypatch.setattr(mosaic, "MAX_PIXELS", whole.size - 1)
    assert mosaic.draw(dictionary, zoom=1).shape[0] < whole.shape[0]


def test_smooth_atoms_come_first():
    shuffled = np.random.default_rng(0).permutation(8)
    cosines = odct((8, 8), 8)
    mixed = SeparableDictionary([factor[:, shuffled] for factor in cosines.factors])
    stored = [np.arange(8)] * 2
    np.testing.assert_array_equal(mosaic.draw(mixed), mosaic.draw(cosines, order=stored))
    assert (mosaic.draw(mixed, order=stored) != mosaic.draw(mixed)).any()


def test_frequency_of_a_vector_is_that_of_the_block_it_stands_for():
    checkerboard, halves = [1, -1, -1, 1], [1, 1, -1, -1]  # as a vector the first differs less often
    stripes = [1, -1, 1, -1]
    factor = np.array([checkerboard, stripes, halves], float).T
    dictionary = SeparableDictionary([factor], normalize=True)
    assert mosaic.by_frequency(dictionary, (2, 2))[0].tolist() == [1, 2, 0]
    assert mosaic.by_frequency(dictionary, (4,))[0].tolist() == [2, 0, 1]


def test_most_used_atoms_come_first():
    codes = np.zeros((5, 3, 2))
    codes[:, 2, 1], codes[0, 0, 0] = -1, 2
    assert [order.tolist() for order in mosaic.by_use(codes)] == [[2, 0, 1], [1, 0]]


@pytest.mark.parametrize("n_axes", [1, 2, 3, 4])
def test_any_number_of_axes_is_drawn_in_every_library(n_axes, arrays, rng):
    dictionary = random_dictionary(n_axes, rng).like(arrays.make([0.0]))
    picture = mosaic.draw(dictionary)
    assert picture.dtype == np.uint8
    assert picture.min() == BLACK
    assert picture.max() == WHITE


def test_signal_shape_of_the_dictionary_is_the_default():
    column = np.array([-1.0, 0.0, 0.0, 1.0])[:, None]
    dictionary = SeparableDictionary([column], normalize=True, signal_shape=(2, 2))
    expected = mosaic.draw(one_atom([-1, 0, 0, 1]), signal_shape=(2, 2))
    np.testing.assert_array_equal(mosaic.draw(dictionary), expected)
    assert mosaic.draw(dictionary, signal_shape=(4,)).shape != expected.shape


def test_signal_shape_that_does_not_fit_is_refused():
    message = r"signal_shape \(3, 2\) does not hold a patch of shape \(4,\)"
    with pytest.raises(ValueError, match=message):
        mosaic.draw(one_atom([1, 2, 3, 4]), signal_shape=(3, 2))


def test_saved_picture_is_the_drawn_one(tmp_path, rng):
    dictionary = random_dictionary(2, rng)
    mosaic.save(dictionary, tmp_path / "atoms.png", zoom=2)
    with Image.open(tmp_path / "atoms.png") as image:
        np.testing.assert_array_equal(np.asarray(image), mosaic.draw(dictionary, zoom=2))


def test_notebooks_get_the_facts_and_a_png_of_the_atoms(rng):
    dictionary = random_dictionary(2, rng)
    html = dictionary._repr_html_()
    assert "patches 3x4, atoms 5x6 = 30" in html
    encoded = html.split("data:image/png;base64,")[1].split('"')[0]
    with Image.open(BytesIO(base64.b64decode(encoded))) as image:
        assert image.format == "PNG"
        np.testing.assert_array_equal(np.asarray(image), mosaic.draw(dictionary))


@pytest.mark.parametrize("limit", [9, 10, 60, 200, 700, 1200, 3000])
@pytest.mark.parametrize("n_axes", [1, 2, 3, 4])
def test_picture_keeps_to_the_limit(n_axes, limit, rng, monkeypatch):
    monkeypatch.setattr(mosaic, "MAX_PIXELS", limit)
    dictionary = random_dictionary(n_axes, rng)
    assert mosaic.draw(dictionary).size <= limit
    assert "<img" in dictionary._repr_html_()


def test_zoom_is_lowered_before_atoms_are_left_out(rng, monkeypatch):
    dictionary = random_dictionary(2, rng)  # patches 3x4, atoms 5x6
    whole = mosaic.draw(dictionary, zoom=2)
    monkeypatch.setattr(mosaic, "MAX_PIXELS", whole.size)
    np.testing.assert_array_equal(mosaic.draw(dictionary, zoom=9), whole)


def test_rows_that_do_not_fit_are_left_out(rng, monkeypatch):
    dictionary = random_dictionary(2, rng)
    whole = mosaic.draw(dictionary, zoom=1)
    height = 2 * (3 + 1) + 1
    monkeypatch.setattr(mosaic, "MAX_PIXELS", (height + 3) * whole.shape[1])
    np.testing.assert_array_equal(mosaic.draw(dictionary), whole[:height])


def test_row_that_does_not_fit_is_cut(rng, monkeypatch):
    dictionary = random_dictionary(2, rng)
    whole = mosaic.draw(dictionary, zoom=1)
    height, width = 3 + 2, 2 * (4 + 1) + 1
    monkeypatch.setattr(mosaic, "MAX_PIXELS", height * (width + 4))
    np.testing.assert_array_equal(mosaic.draw(dictionary)[1:-1, :-1], whole[1 : height - 1, : width - 1])


@pytest.mark.parametrize("factors", [[np.eye(16)] * 4, [np.ones((1, 100_000))] * 2])  # 34 GB; 80 GB
def test_huge_dictionary_is_drawn_without_all_its_atoms(factors):
    huge = SeparableDictionary(factors)
    assert mosaic.draw(huge).size <= mosaic.MAX_PIXELS


def test_interrupted_picture_leaves_the_old_one_whole(tmp_path, rng, monkeypatch):
    path = tmp_path / "atoms.png"
    mosaic.save(random_dictionary(2, rng), path)
    before = path.read_bytes()

    def half_a_write(self, stream, **how):
        stream.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Image.Image, "save", half_a_write)
    with pytest.raises(OSError, match=r"Cannot write .*atoms\.png: No space left on device\."):
        mosaic.save(random_dictionary(2, rng), path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["atoms.png"]


@pytest.mark.parametrize(
    ("name", "what"), [("a.foo", r"\.foo is not a picture format"), ("a", "it has no suffix")]
)
def test_unknown_picture_format_is_refused(tmp_path, rng, name, what):
    with pytest.raises(ValueError, match=rf"Cannot write a picture to .*{name}: {what}.*: use \.png\."):
        mosaic.save(random_dictionary(2, rng), tmp_path / name)


@pytest.mark.parametrize("suffix", ["PNG", "tif", "jpg", "bmp", "webp"])
def test_format_follows_the_suffix(tmp_path, rng, suffix):
    mosaic.save(random_dictionary(2, rng), tmp_path / f"a.{suffix}")
    with Image.open(tmp_path / f"a.{suffix}") as image:
        assert image.format == files.picture_format(f"b.{suffix}")
