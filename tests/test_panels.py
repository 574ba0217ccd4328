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
