import numpy as np
import pytest
from PIL import Image

import sedil
from sedil.errors import ImageFileError
from sedil.imaging import patch_stream


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    (tmp_path / "photos" / "more").mkdir(parents=True)
    for name in ("a", "b", "more/c"):
        pixels = rng.integers(0, 255, (20, 30), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / "photos" / f"{name}.png")
    return tmp_path / "photos"


def test_patches_are_normalised_and_as_many_as_asked_for(folder):
    stream = sedil.stream_patches(folder, (4, 5), 1000, random_state=0)
    patches = np.concatenate(list(stream))
    assert (stream.n_patches, len(stream.files)) == (1000, 3)
    assert patches.shape == (1000, 4, 5)
    assert patches.dtype == np.float32
    np.testing.assert_allclose(patches.mean(axis=(1, 2)), 0, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(patches, axis=(1, 2)), 1, atol=1e-5)


def test_it_gives_the_same_each_time_and_by_the_seed(folder):
    stream = sedil.stream_patches(folder, (4, 4), 50, random_state=1)
    first, again = (np.concatenate(list(stream)) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    other = np.concatenate(list(sedil.stream_patches(folder, (4, 4), 50, random_state=2)))
    assert not np.array_equal(first, other)


def test_few_images_are_held_at_a_time(folder, monkeypatch):
    """Groups of two images, then of one by its pixels; every image gives its share."""
    groups = []
    sample = patch_stream.sample_patches

    def watched(images, *more):
        groups.append((len(images), more[1]))
        return sample(images, *more)

    monkeypatch.setattr(patch_stream, "sample_patches", watched)
    monkeypatch.setattr(patch_stream, "_MOST_IMAGES", 2)
    stream = sedil.stream_patches(folder, (4, 4), 300, random_state=0)
    list(stream)
    assert groups == [(2, 200), (1, 100)]
    groups.clear()
    monkeypatch.setattr(patch_stream, "_MOST_PIXELS", 10)
    list(stream)
    assert groups == [(1, 100)] * 3


def test_flat_patches_are_left_out_and_a_flat_image_does_no_harm(folder):
    Image.fromarray(np.full((20, 30), 7, np.uint8)).save(folder / "flat.png")
    patches = np.concatenate(list(sedil.stream_patches(folder, (4, 4), 400, random_state=0)))
    assert 200 < len(patches) < 400


def test_vectors_serve_unstructured_dictionaries(folder):
    stream = sedil.stream_patches(folder, (4, 4), 60, random_state=0, flatten=True)
    result = sedil.learn_minibatch(stream, 20, batch_size=30, batch_iterations=2, random_state=0)
    assert result.dictionary.patch_shape == (16,)
    assert result.n_iterations == 2


def test_stream_is_learned_from_in_several_epochs_with_the_end_known(folder):
    stream = sedil.stream_patches(folder, (4, 4), 60, random_state=0)
    told = []
    settings = {"batch_size": 30, "n_epochs": 2, "batch_iterations": 2}
    sedil.learn_minibatch(stream, 5, progress=lambda p: told.append(p.total), **settings)
    assert told == [4] * 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("photos", (64, 64), 10), r"of shape \(20, 30\) is smaller than a patch of .*64\): leave it out"),
        (("photos", 8, 10), "two axes, of volumes three, got patch_shape=\\(8,\\)"),
        (("photos", (4, 4), 0), "n_patches must be a whole number of at least 1"),
        (([], (4, 4), 10), "There are no images to take patches from"),
        (("flat", (4, 4), 10), "Every patch is flat"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_with_a_sentence(arguments, message, folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    (folder.parent / "flat").mkdir()
    Image.fromarray(np.full((20, 30), 7, np.uint8)).save(folder.parent / "flat/flat.png")
    with pytest.raises(ValueError, match=message):
        list(sedil.stream_patches(*arguments))


def test_folder_without_images_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="holds no images"):
        sedil.stream_patches(tmp_path, (4, 4), 10)


def test_file_that_cannot_be_read_is_raised_or_told(folder):
    bad = folder / "bad.png"
    bad.write_bytes(b"not a picture")
    with pytest.raises(ImageFileError, match=r"bad\.png cannot be read as an image"):
        list(sedil.stream_patches(folder, (4, 4), 400, random_state=0))
    told = []
    stream = sedil.stream_patches(
        folder, (4, 4), 400, random_state=0, on_error=lambda file, error: told.append((file, str(error)))
    )
    assert len(np.concatenate(list(stream))) == 300  # without the share of the bad one
    assert [file for file, _ in told] == [bad]
    assert "bad.png cannot be read as an image" in told[0][1]


def test_path_that_is_not_there_is_refused_at_once(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no file or folder .*nowhere\."):
        sedil.stream_patches(tmp_path / "nowhere", (4, 4), 10)
