"""What counts as a dictionary, and shipped ones that no caller can change for another."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import sedil
from random_things import training_patches
from sedil.checks import short
from sedil.imaging.whole_inpainting import fill_whole
from sedil.pretrained import SHIPPED, as_dictionary

NAME = "separable-8x8"
IMAGE = (100 + 20 * training_patches(1, (24, 20))[0]).astype(np.float32)
MASK = np.random.default_rng(0).random(IMAGE.shape) < 0.3
PATCHES = IMAGE[None, :8, :8]

WORK = {
    "sparse_code": lambda dictionary: sedil.sparse_code(dictionary, PATCHES, 5.0),
    "denoise": lambda dictionary: sedil.denoise(IMAGE, 20.0, dictionary),
    "inpaint": lambda dictionary: sedil.inpaint(IMAGE, MASK, dictionary),
    "inpaint a whole": lambda dictionary: sedil.inpaint(IMAGE[:8, :8], MASK[:8, :8], dictionary),
    "fill_whole": lambda dictionary: fill_whole(dictionary, PATCHES, MASK[:8, :8]),
}


@pytest.mark.parametrize("name", WORK)
def test_an_object_a_path_and_a_name_mean_the_same(name, tmp_path):
    dictionary = sedil.shipped_dictionary(NAME)
    path = tmp_path / "mine.npz"
    dictionary.save(path)
    expected = WORK[name](dictionary)
    for same in (NAME, path, str(path)):
        assert_array_equal(WORK[name](same), expected)


@pytest.mark.parametrize("name", WORK)
def test_an_unknown_name_lists_the_known_ones(name):
    with pytest.raises(FileNotFoundError, match="There is no file best, nor a shipped dictionary") as caught:
        WORK[name]("best")
    assert all(known in str(caught.value) for known in SHIPPED)


@pytest.mark.parametrize("name", WORK)
@pytest.mark.parametrize("value", [[np.eye(8)], 3, np.eye(8)])
def test_anything_else_is_refused_in_a_sentence(name, value):
    words = "dictionary must be a SeparableDictionary, the path of a file or the name of a shipped one"
    with pytest.raises(TypeError, match=words) as caught:
        WORK[name](value)
    assert str(caught.value).endswith(f"got {short(value)}.")


def test_no_dictionary_is_none_to_code_with():
    with pytest.raises(TypeError, match=r"dictionary must be a SeparableDictionary, .* got None"):
        WORK["sparse_code"](None)


def test_a_file_comes_before_a_shipped_name_but_a_folder_does_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "separable-12x12").mkdir()
    assert as_dictionary("separable-12x12").patch_shape == (12, 12)
    sedil.odct((4, 4), 6).save(tmp_path / NAME)
    assert as_dictionary(NAME).patch_shape == (4, 4)


def test_a_file_that_is_no_dictionary_is_named(tmp_path):
    (tmp_path / "text.npz").write_text("text")
    with pytest.raises(sedil.DictionaryFileError, match=r"text\.npz is not a dictionary file"):
        sedil.denoise(IMAGE, 20.0, tmp_path / "text.npz")


# Shipped dictionaries belong to nobody


def spoil(dictionary):
    dictionary.threshold = 9.0
    dictionary.signal_shape = (64,)
    dictionary.info["threshold"] = 9.0
    dictionary.info["images"].clear()
    for factor in dictionary.factors:
        factor[:] = 0


@pytest.mark.parametrize("name", SHIPPED)
def test_changing_one_changes_no_other(name):
    before = sedil.shipped_dictionary(name)
    spoil(sedil.shipped_dictionary(name))
    after = sedil.shipped_dictionary(name)
    assert after.info == before.info
    assert after.info["images"]
    assert (after.threshold, after.signal_shape) == (before.threshold, before.signal_shape)
    for factor, same in zip(after.factors, before.factors, strict=True):
        assert_array_equal(factor, same)


def test_changing_one_changes_no_later_result():
    expected = [sedil.denoise(IMAGE, 20.0), sedil.denoise(IMAGE, 20.0, NAME), sedil.inpaint(IMAGE, MASK)]
    for name in SHIPPED:
        spoil(sedil.shipped_dictionary(name))
        spoil(as_dictionary(name))
    found = [sedil.denoise(IMAGE, 20.0), sedil.denoise(IMAGE, 20.0, NAME), sedil.inpaint(IMAGE, MASK)]
    for result, same in zip(found, expected, strict=True):
        assert_array_equal(result, same)


def test_the_record_decides_nothing():
    plain = sedil.shipped_dictionary(NAME)
    noted = plain.replace(info={"threshold": 9.0, "signal_shape": [64]})
    assert_array_equal(sedil.denoise(IMAGE, 20.0, noted), sedil.denoise(IMAGE, 20.0, plain))
    line = sedil.SeparableDictionary([np.eye(64)], info={"signal_shape": [8, 8]})
    assert line.signal_shape == (64,)
    with pytest.raises(ValueError, match=r"is for patches of 1 axes \(\(64,\)\), the image has 2"):
        sedil.denoise(IMAGE, 20.0, line)


def test_threshold_and_signal_shape_decide():
    plain = sedil.shipped_dictionary(NAME)
    harder = plain.replace(threshold=9.0)
    assert_array_equal(sedil.denoise(IMAGE, 20.0, harder), sedil.denoise(IMAGE, 20.0, plain, threshold=9.0))
    assert not np.array_equal(sedil.denoise(IMAGE, 20.0, harder), sedil.denoise(IMAGE, 20.0, plain))
    square = sedil.SeparableDictionary([np.eye(64)], signal_shape=(8, 8))
    assert sedil.denoise(IMAGE, 20.0, square).shape == IMAGE.shape


def test_settings_are_saved_moved_and_replaced(tmp_path, arrays):
    dictionary = sedil.SeparableDictionary([np.eye(64)], signal_shape=(8, 8), threshold=3, info={"a": 1})
    dictionary.save(tmp_path / "d.npz")
    for same in (
        sedil.load_dictionary(tmp_path / "d.npz"),
        dictionary.like(arrays.make([0.0])),
        dictionary.replace(),
    ):
        assert (same.signal_shape, same.threshold, same.info) == ((8, 8), 3.0, {"a": 1})
    other = dictionary.replace(threshold=2.0, info={"b": 2})
    assert (other.signal_shape, other.threshold, other.info) == ((8, 8), 2.0, {"b": 2})


def test_a_threshold_set_as_a_whole_number_can_be_loaded(tmp_path):
    dictionary = sedil.SeparableDictionary([np.eye(4)])
    dictionary.threshold = 3
    dictionary.save(tmp_path / "d.npz")
    assert sedil.load_dictionary(tmp_path / "d.npz").threshold == 3


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"threshold": 0}, ValueError, "threshold must be a finite positive number, got 0"),
        ({"threshold": "3"}, ValueError, "threshold must be a finite positive number, got '3'"),
        (
            {"signal_shape": (3, 2)},
            ValueError,
            r"signal_shape \(3, 2\) does not hold a patch of shape \(4,\)",
        ),
        ({"signal_shape": (1, 1, 2, 2, 1)}, ValueError, "signal_shape must have 1 to 4 numbers, got 5"),
        (
            {"signal_shape": "2x2"},
            TypeError,
            r"signal_shape must be whole numbers such as \(8, 8\), got '2x2'",
        ),
        (
            {"signal_shape": (2.0, 2)},
            ValueError,
            "signal_shape must be a whole number of at least 1, got 2.0",
        ),
    ],
)
def test_bad_settings_are_refused(settings, error, words):
    with pytest.raises(error, match=words):
        sedil.SeparableDictionary([np.eye(4)], **settings)


def test_a_patch_of_several_axes_stands_for_itself():
    with pytest.raises(ValueError, match=r"signal_shape \(4, 2\) does not hold a patch of shape \(2, 4\)"):
        sedil.SeparableDictionary([np.eye(2), np.eye(4)], signal_shape=(4, 2))


def test_shipped_dictionary_is_loaded_by_its_name_too():
    loaded, shipped = sedil.load_dictionary("separable-8x8"), sedil.shipped_dictionary("separable-8x8")
    assert all(np.array_equal(one, other) for one, other in zip(loaded.factors, shipped.factors, strict=True))
    with pytest.raises(FileNotFoundError, match="no file gone, nor a shipped dictionary"):
        sedil.load_dictionary("gone")
