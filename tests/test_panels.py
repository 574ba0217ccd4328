"""Pictures side by side, with and without words."""

import numpy as np

from sedil.panels import side_by_side

LINE = 20  # pixels, for words


def test_pictures_side_by_side():
    grey, wide = np.full((2, 2), 99.6), np.full((2, 3), 300.0)
    picture = side_by_side([[("", grey)], [("", wide)]], gap=1, zoom=2)
    assert picture.shape == (10, 7)
    assert (picture[:4, :4] == 100).all()
    assert (picture[4:] == 255).all()
    assert side_by_side([[("", grey), ("", grey)]], gap=1, framed=True).shape == (4, 7)
    assert side_by_side([[("", np.zeros((2, 2, 3)))]], gap=1).shape == (3, 3, 3)


def test_words_stand_above_their_picture():
    for shape in ((30, 90), (30, 90, 3)):
        dark = np.zeros(shape)
        picture = side_by_side([[("original", dark), ("", dark)]], gap=4)
        assert picture.shape == (LINE + 34, 2 * 94, *shape[2:])
        assert picture[:LINE, :94].min() < 100
        assert picture[:LINE, 94:].min() == 255
        assert not picture[LINE : LINE + 30, :90].any()


def test_words_that_are_too_long_go_on_below_each_other():
    dark = np.zeros((30, 90))
    picture = side_by_side([[("three factors, learned: 29.5 dB", dark), ("sedil", dark)]], gap=4)
    height = len(picture) - 34
    assert height >= 2 * LINE
    lines = picture[:height].reshape(-1, LINE, picture.shape[1])
    assert (lines[:, :, :90].min(axis=(1, 2)) < 100).all()  # each has words
    assert (lines[:, :, 93] == 255).all()  # none is cut off at its right
    assert (lines[:-1, :, 94:] == 255).all()  # one line stands right above its picture
    assert lines[-1, :, 94:].min() < 100
