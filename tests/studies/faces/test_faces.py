"""`sedil reproduce faces` on tiny made-up faces."""

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from sedil import cli
from sedil_studies.faces import masks as face_masks
from sedil_studies.faces.data import FILE, read_faces
from sedil_studies.faces.face_rows import FACES, LEARNING
from sedil_studies.faces.methods import METHODS

SIDE = 16


def made_up_faces(rng, n):
    """Smooth pictures with a few degrees of freedom: a bright oval, two dark spots, light from a side."""
    rows, columns = np.mgrid[-1 : 1 : SIDE * 1j, -1 : 1 : SIDE * 1j]
    faces = []
    for x, y, width, light in rng.uniform(-1, 1, (n, 4)):
        face = 150 * np.exp(-(((columns - 0.2 * x) / (0.8 + 0.1 * width)) ** 2) - (rows - 0.2 * y) ** 2)
        for eye in (-0.4, 0.4):
            face -= 60 * np.exp(-40 * ((columns - 0.2 * x - eye) ** 2 + (rows - 0.2 * y + 0.3) ** 2))
        faces.append(face + 30 * light * columns + 60)
    return np.clip(faces, 0, 255).astype(np.uint8)


def names(prefix, n):
    return np.array([f"{prefix}_{k // 2}_{k % 2 + 1:04d}" for k in range(n)])


@pytest.fixture
def data(tmp_path, rng):
    folder = tmp_path / "data"
    folder.mkdir()
    arrays = {"train": made_up_faces(rng, 150), "test": made_up_faces(rng, 12)}
    arrays |= {"train_names": names("Ann_Lee", 150), "test_names": names("Bob", 12)}
    np.savez(folder / FILE, **arrays)
    return folder


def reproduce(*arguments):
    return CliRunner().invoke(cli.app, ["reproduce", "faces", *map(str, arguments)])


def test_all_is_run_drawn_and_reported(data, tmp_path):
    output = tmp_path / "out"
    result = reproduce("--data", data, "--quick", "-o", output, "--threads", 1)
    assert result.exit_code == 0, result.output
    rows = FACES.read(output / "faces.csv")
    assert {(row.method, row.hole) for row in rows} == {(m, h) for m in METHODS for h in face_masks.KINDS}
    assert all(np.isfinite([row.psnr, row.ssim, row.psnr_margin, row.ssim_margin]).all() for row in rows)
    by_method = {row.method: row.psnr for row in rows if row.hole == "centre 16"}
    assert by_method["separable + covariance"] > by_method["mean face"]
    assert by_method["Gaussian"] > by_method["mean face"]
    assert [row.learner for row in LEARNING.read(output / "faces-learning.csv")] == [
        "minibatch",
        "joint",
    ]
    report = (output / "faces.md").read_text()
    assert all(f"| {method} |" in report for method in METHODS)
    with Image.open(output / "faces-inpainted.png") as picture:
        assert picture.width == 5 * (3 * SIDE + 12) + 12
        assert (picture.height - 4 * (3 * SIDE + 12) - 12) % 20 == 0  # lines of words
    again = reproduce("--data", data, "--quick", "-o", output, "--threads", 1)
    assert f"ran          nothing: all was in {output}/faces.csv already\n" in again.output


def test_no_person_is_in_two_parts(data):
    faces = read_faces(data / FILE)
    parts = [set(part.persons) for part in faces]
    assert sum(map(len, parts)) == len(set().union(*parts))
    assert [len(part.faces) for part in faces] == [136, 14, 12]
    assert faces.fit.persons[0] == "Ann_Lee_0"


@pytest.mark.parametrize("kind", face_masks.KINDS)
def test_masks_miss_what_they_say(kind):
    masks = face_masks.make_masks(kind, 40, 64)
    assert masks.dtype == bool
    np.testing.assert_array_equal(masks, face_masks.make_masks(kind, 40, 64))
    size, count = kind.split()[-1], masks.sum(axis=(1, 2))
    if kind == "half":
        assert (count == 64 * 32).all()
        assert len(np.unique(masks, axis=0)) == 4
    elif kind.endswith("pixels"):
        assert abs(masks.mean() - int(kind.split()[0]) / 100) < 0.01
    else:
        assert (count == int(size) ** 2).all()
        n_places = len(np.unique(masks, axis=0))
        assert n_places == 1 if kind.startswith("centre") else n_places > 30


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            [],
            "Give --data, or the environment variable SEDIL_DATA, a folder that holds lfwcrop",
        ),
        (["--data", "nowhere"], "There is no lfwcrop_rebuilt_64x64.npz in nowhere or nowhere/faces"),
    ],
)
def test_missing_data(arguments, message):
    result = reproduce(*arguments)
    assert result.exit_code == 1
    assert message in result.stderr


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"train": np.zeros((150, 16, 15))}, "must hold square faces"),
        ({"test_names": names("Ann_Lee", 12)}, "has 6 persons in both parts, such as Ann_Lee_0."),
        ({"test_names": None}, "cannot be read as a file of faces"),
    ],
)
def test_bad_files(data, change, message):
    with np.load(data / FILE) as archive:
        arrays = dict(archive) | change
    np.savez(data / FILE, **{name: array for name, array in arrays.items() if array is not None})
    with pytest.raises(ValueError, match=message):
        read_faces(data / FILE)
