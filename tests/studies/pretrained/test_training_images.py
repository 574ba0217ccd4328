"""No test image is trained on: neither by its name nor by what it shows."""

import numpy as np
import pytest
from skimage.transform import resize

import sedil
from photographs import FOLDER, needs_photographs
from sedil.image_files.grey_images import read_grey, scikit_image_photographs
from sedil.pretrained import NAMES
from sedil_studies.peers import ksvd
from sedil_studies.table1.five_images import read_images
from sedil_studies.table1.paper import IMAGES

SIDE = 32  # of the thumbnails


def thumbnail(image):
    small = resize(image, (SIDE, SIDE), anti_aliasing=True)
    return (small - small.mean()) / small.std()


def similarity(image, other):
    """Largest correlation of thumbnails over turns and mirror images; size and a small crop hide nothing."""
    first, second = thumbnail(image), thumbnail(other)
    turned = [np.rot90(side, k) for side in (second, second.T) for k in range(4)]
    return max(abs(np.mean(first * candidate)) for candidate in turned)


def trained_on(name):
    """Names of the photographs that a shipped dictionary says it has seen."""
    return [image.removeprefix("skimage.data.") for image in sedil.shipped_dictionary(name).info["images"]]


@pytest.mark.parametrize("name", NAMES)
def test_no_training_image_has_the_name_of_a_test_image(name):
    assert trained_on(name)
    assert not set(trained_on(name)) & set(IMAGES)


def test_ksvd_sees_what_the_unstructured_dictionary_sees():
    assert ksvd.TRAINED_LIKE in NAMES


@needs_photographs
@pytest.mark.parametrize("name", NAMES)
def test_no_training_image_looks_like_a_test_image(name):
    for clean in read_images(FOLDER).values():
        for trained in scikit_image_photographs(trained_on(name)):
            assert similarity(trained, clean) < 0.8


@needs_photographs
def test_the_same_picture_would_be_found():
    clean = read_images(FOLDER)
    standard = FOLDER / "images/standard"
    assert similarity(read_grey(standard / "lena.png"), clean["lena"]) > 0.95
    assert similarity(read_grey(standard / "peppers256.png"), clean["peppers"]) > 0.95
    assert similarity(clean["boat"][:, ::-1][8:-8, 8:-8], clean["boat"]) > 0.9
