import numpy as np
from PIL import Image

import sedil
from sedil import mosaic
from sedil_studies import figure1


def test_both_dictionaries_are_drawn_with_whole_pixels(tmp_path):
    figure1.save(tmp_path / "figure.png")
    with Image.open(tmp_path / "figure.png") as picture:
        pixels = np.asarray(picture.convert("L"))
    for k, name in enumerate(("unstructured-8x8", "separable-8x8")):
        expected = mosaic.draw(sedil.shipped_dictionary(name), zoom=1).repeat(4, 0).repeat(4, 1)
        rows = slice(-60 - 580, -60)
        columns = slice(60 + k * 640, 60 + k * 640 + 580)
        np.testing.assert_allclose(pixels[rows, columns], expected, atol=1)


def test_panels_are_named():
    titles = [ax.get_title() for ax in figure1.draw().axes]
    assert titles == ["(a) Unstructured dictionary", "(b) Separable dictionary"]
