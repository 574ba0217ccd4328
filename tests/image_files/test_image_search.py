import pytest

from sedil.image_files.image_search import find_images, find_training_files, has_suffix_of_image


def test_folders_are_searched_with_their_subfolders_in_order(tmp_path):
    (tmp_path / "a" / "deep").mkdir(parents=True)
    for name in ("a/deep/3.TIF", "a/1.png", "a/2.JPG", "a/notes.txt", "4.bmp"):
        (tmp_path / name).touch()
    (tmp_path / "a" / "folder.png").mkdir()
    found = find_images([tmp_path / "a", tmp_path / "4.bmp"])
    assert [path.name for path in found] == ["1.png", "2.JPG", "3.TIF", "4.bmp"]


def test_hidden_files_and_folders_are_left_out(tmp_path):
    folder = tmp_path / ".cache" / "photos"  # a hidden folder that is asked for is searched
    (folder / ".trash").mkdir(parents=True)
    for name in ("a.png", "._a.png", ".trash/b.png"):
        (folder / name).touch()
    assert [path.name for path in find_images([folder])] == ["a.png"]


def test_named_file_is_taken_whatever_its_suffix(tmp_path):
    (tmp_path / "scan.dat").touch()
    assert find_images([tmp_path / "scan.dat"]) == [tmp_path / "scan.dat"]


def test_folder_without_images_is_named(tmp_path):
    (tmp_path / "notes.txt").touch()
    with pytest.raises(FileNotFoundError, match=r"The folder .* holds no images \(\.png, \.jpg"):
        find_images([tmp_path])


def test_folders_inside_may_be_left_out_but_not_the_one_that_is_searched(tmp_path):
    for name in ("a.png", "clean/a.png", "clean/sub/b.png", "clean2/c.png"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = find_images([tmp_path], leave_out=[tmp_path / "clean", tmp_path, tmp_path / "gone"])
    assert [str(path.relative_to(tmp_path)) for path in found] == ["a.png", "clean2/c.png"]


def test_number_of_axes_decides_what_is_trained_on(tmp_path):
    for name in ("a.png", "b.npy", "c.nii.gz", "d.tif"):
        (tmp_path / name).touch()
    assert [path.name for path in find_training_files([tmp_path], 2)] == ["a.png", "b.npy", "d.tif"]
    assert [path.name for path in find_training_files([tmp_path], 3)] == ["b.npy", "c.nii.gz", "d.tif"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("x.png", True),
        ("X.JPG", True),
        ("h.nii.gz", True),
        ("a.npy", True),
        ("clean", False),
        ("v1.2", False),
    ],
)
def test_names_of_files_are_told_from_names_of_folders(tmp_path, name, expected):
    assert has_suffix_of_image(tmp_path / name) is expected
