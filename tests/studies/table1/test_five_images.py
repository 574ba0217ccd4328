import numpy as np
import pytest
from PIL import Image

from sedil_studies.table1.five_images import FILES, noisy_image, read_images
from sedil_studies.table1.paper import IMAGES


def write_images(folder, names=IMAGES):
    folder.mkdir(parents=True, exist_ok=True)
    for k, name in enumerate(names):
        Image.fromarray(np.full((4, 5), 10 * k, np.uint8)).save(folder / FILES[name])


@pytest.mark.parametrize("inside", [".", "images/standard"])
def test_images_are_found_in_the_folder_or_below_it(tmp_path, inside):
    write_images(tmp_path / inside)
    images = read_images(tmp_path)
    assert tuple(images) == IMAGES
    assert images["boat"].dtype == np.float64
    np.testing.assert_array_equal(images["boat"], np.full((4, 5), 20))


def test_missing_images_are_named(tmp_path):
    write_images(tmp_path, ("lena", "boat"))
    with pytest.raises(FileNotFoundError) as error:
        read_images(tmp_path)
    assert str(error.value) == (
        f"There is no barbara.png, peppers512.png or house.png in {tmp_path} or {tmp_path}/images/standard: "
        "give --data a folder that holds lena_ksvdbox.png, barbara.png, boat.png, peppers512.png "
        "and house.png."
    )


def test_an_empty_folder_is_answered_with_the_files_expected(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no test image in .* that holds house\.png\."):
        read_images(tmp_path, ("house",))


def test_only_what_is_asked_for_must_be_there(tmp_path):
    write_images(tmp_path, ("house",))
    assert tuple(read_images(tmp_path, ("house",))) == ("house",)


def test_noise_depends_on_seed_image_and_sigma_alone():
    clean = np.full((64, 64), 250.0)
    noisy = noisy_image(clean, "boat", 20, 1)
    np.testing.assert_array_equal(noisy, noisy_image(clean, "boat", 20, 1))
    expected = clean + 20 * np.random.default_rng([1, 2, 20]).standard_normal(clean.shape)
    np.testing.assert_array_equal(noisy, expected)
    assert noisy.max() > 255  # not clipped
    for other in (("boat", 20, 2), ("lena", 20, 1), ("boat", 30, 1)):
        standard = (noisy_image(clean, *other) - clean) / other[1]
        assert abs(np.corrcoef(standard.ravel(), (noisy - clean).ravel())[0, 1]) < 0.1


def test_no_method_can_write_to_the_noisy_pixels():
    with pytest.raises(ValueError, match="read-only"):
        noisy_image(np.zeros((4, 4)), "lena", 5, 0)[0, 0] = 1
