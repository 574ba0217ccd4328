"""Masked arrays of NumPy: their masked values are missing to `inpaint`, and refused elsewhere."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import sedil
from random_things import training_patches
from sedil.imaging.whole_inpainting import fill_whole

DICTIONARY = sedil.odct((4, 4), 6)
IMAGE = 100 + 20 * training_patches(1, (24, 20))[0]
MASKED, MORE = (np.random.default_rng(seed).random(IMAGE.shape) < 0.2 for seed in (0, 1))
ARRAY = np.ma.MaskedArray(np.where(MASKED, np.nan, IMAGE), MASKED)


@pytest.mark.parametrize(
    ("work", "words"),
    [
        (lambda array: sedil.denoise(array, 10), "image is a masked array: fill .* by sedil.inpaint first"),
        (
            lambda array: sedil.estimate_noise(array),
            "image is a masked array: fill .* by sedil.inpaint first",
        ),
        (
            lambda array: sedil.sparse_code(DICTIONARY, array[None, :4, :4], 1.0),
            "patches is a masked array: fill or drop the masked values first",
        ),
        (lambda array: DICTIONARY.analyze(array[:4, :4]), "patches is a masked array: fill or drop"),
        (
            lambda array: fill_whole(DICTIONARY, array[None, :4, :4], MASKED[:4, :4]),
            "signals is a masked array: fill or drop",
        ),
        (
            lambda array: sedil.inpaint(IMAGE, np.ma.MaskedArray(MASKED, MORE), DICTIONARY),
            r"mask is a masked array: give a plain one, for example mask\.filled\(True\)",
        ),
        (
            lambda array: sedil.sample_patches([IMAGE, array], (4, 4), 10),
            "An image is a masked array: fill .* by sedil.inpaint first",
        ),
        (
            lambda array: sedil.SeparableDictionaryLearning().fit(array),
            "X is a masked array: fill or drop",
        ),
        (
            lambda array: sedil.SeparableDictionaryLearning().partial_fit(array[None]),
            "X is a masked array: fill or drop",
        ),
        (
            lambda array: (
                sedil.SeparableDictionaryLearning(n_atoms=2, max_iterations=1)
                .fit(IMAGE)
                .inverse_transform(array[:, :2])
            ),
            "X is a masked array: fill or drop",
        ),
    ],
    ids=[
        "denoise",
        "estimate_noise",
        "sparse_code",
        "analyze",
        "fill_whole",
        "mask",
        "sample_patches",
        "fit",
        "partial_fit",
        "inverse_transform",
    ],
)
@pytest.mark.parametrize("array", [ARRAY, np.ma.MaskedArray(IMAGE)], ids=["some masked", "none masked"])
def test_they_are_refused_where_nothing_can_be_missing(work, words, array):
    with pytest.raises(TypeError, match=words):
        work(array)


def test_masked_values_are_missing():
    filled = sedil.inpaint(ARRAY, dictionary=DICTIONARY)
    assert type(filled) is np.ndarray
    assert_array_equal(filled, sedil.inpaint(IMAGE, MASKED, DICTIONARY))


def test_a_mask_besides_adds_to_them():
    filled = sedil.inpaint(ARRAY, MORE, DICTIONARY)
    assert_array_equal(filled, sedil.inpaint(IMAGE, MASKED | MORE, DICTIONARY))


def test_the_caller_keeps_mask_and_values():
    array, more = ARRAY.copy(), MORE.copy()
    sedil.inpaint(array, more, DICTIONARY)
    assert_array_equal(array.mask, MASKED)
    assert_array_equal(array.data, ARRAY.data)
    assert_array_equal(more, MORE)


def test_one_mask_for_all_colours_adds_to_those_of_each():
    colours = np.stack([IMAGE, IMAGE[::-1], 2 * IMAGE], axis=-1)
    masked = np.stack([MASKED, MASKED[::-1], MASKED], axis=-1)
    array = np.ma.MaskedArray(colours, masked)
    filled = sedil.inpaint(array, MORE, DICTIONARY, channel_axis=-1)
    expected = sedil.inpaint(colours, masked | MORE[..., None], DICTIONARY, channel_axis=-1)
    assert_array_equal(filled, expected)


def test_nothing_masked_is_nothing_missing():
    filled = sedil.inpaint(np.ma.MaskedArray(IMAGE), dictionary=DICTIONARY)
    assert type(filled) is np.ndarray
    assert_array_equal(filled, IMAGE)
    assert not np.shares_memory(filled, IMAGE)


def test_everything_masked_leaves_nothing_to_fill_from():
    with pytest.raises(ValueError, match="Every pixel is missing"):
        sedil.inpaint(np.ma.MaskedArray(IMAGE, True), dictionary=DICTIONARY)


def test_plain_arrays_need_a_mask():
    with pytest.raises(TypeError, match=r"inpaint needs mask=\.\.\., True where a pixel is missing"):
        sedil.inpaint(IMAGE)
