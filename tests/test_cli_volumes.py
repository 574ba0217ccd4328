"""`sedil denoise` and `sedil learn` with volumes and stacks of frames."""

from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image
from typer.testing import CliRunner

import sedil
from sedil.cli import app

WAVES = 128 + 60 * np.sin(sum(0.4 * axis for axis in np.mgrid[:12, :24, :26]))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def noisy(rng):
    return (WAVES + 20 * rng.standard_normal(WAVES.shape)).clip(0, 255).astype(np.uint8)


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def remaining(clean, noisy):
    """How much of the squared error is left."""
    return np.mean((clean.astype(float) - WAVES) ** 2) / np.mean((noisy.astype(float) - WAVES) ** 2)


def test_nifti_is_denoised_in_place_and_type(noisy):
    nibabel = pytest.importorskip("nibabel", reason="NIfTI is read by the extra nibabel")
    nibabel.save(nibabel.Nifti1Image(noisy, np.diag([2.0, 1.0, 1.0, 1.0])), "head.nii.gz")
    result = run("denoise", "head.nii.gz", "clean.nii.gz", "--sigma", 20, "--compare", "both.png")
    assert result.exit_code == 0, result.output
    assert "denoised     12x24x26 in" in result.stdout
    clean = nibabel.load("clean.nii.gz")
    np.testing.assert_array_equal(clean.affine, np.diag([2.0, 1, 1, 1]))
    assert clean.get_data_dtype() == np.uint8
    assert remaining(np.asanyarray(clean.dataobj), noisy) < 0.2
    with Image.open("both.png") as picture:
        assert picture.size == (52, 24)


def test_stack_with_estimated_noise_and_a_dictionary(noisy):
    tifffile.imwrite("film.tif", noisy, photometric="minisblack")
    sedil.odct((4, 4, 4), 6).save("blocks.npz")
    result = run("denoise", "film.tif", "clean.tif", "--dictionary", "blocks.npz", "--stride", 2)
    assert result.exit_code == 0, result.output
    assert "estimated noise: sigma 1" in result.stdout or "estimated noise: sigma 2" in result.stdout
    assert remaining(tifffile.imread("clean.tif"), noisy) < 0.4


def test_stack_of_colours_is_one_volume_a_channel(noisy):
    colours = np.stack([noisy] * 3, axis=-1)
    tifffile.imwrite("film.tif", colours, photometric="rgb")
    result = run("denoise", "film.tif", "clean.tif", "--sigma", 20)
    assert result.exit_code == 0, result.output
    clean = tifffile.imread("clean.tif")
    assert clean.shape == colours.shape
    expected = sedil.denoise(colours, 20, channel_axis=-1)
    np.testing.assert_array_equal(clean, expected)


def test_folder_may_mix_pictures_and_volumes(noisy):
    Path("scans").mkdir()
    np.save("scans/a.npy", noisy)
    tifffile.imwrite("scans/b.tif", noisy, photometric="minisblack")
    Image.fromarray(noisy[0]).save("scans/c.png")
    Path("scans/d.npy").write_bytes(b"nothing")
    result = run("denoise", "scans", "clean", "--sigma", 20, "--stride", 4)
    assert result.exit_code == 1
    assert sorted(path.name for path in Path("clean").iterdir()) == ["a.npy", "b.tif", "c.png"]
    np.testing.assert_array_equal(np.load("clean/a.npy"), tifffile.imread("clean/b.tif"))
    assert "d.npy cannot be read as a volume" in result.stderr


@pytest.mark.parametrize("engine", ["fused", "portable"])
@pytest.mark.parametrize("work", ["denoise", "inpaint"])
def test_order_of_axes_in_memory_does_not_matter(noisy, engine, work):
    """NIfTI files hold volumes in the order of Fortran."""
    for image in (noisy, noisy[..., 0]):
        results = [
            sedil.denoise(pixels, 20, stride=4, engine=engine)
            if work == "denoise"
            else sedil.inpaint(pixels, pixels > 200, engine=engine)
            for pixels in (np.ascontiguousarray(image), np.asfortranarray(image))
        ]
        np.testing.assert_array_equal(*results)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["a.npy", "b.nii"], "Cannot write b.nii: a volume from a NumPy file is written as .npy or .npz"),
        (["a.npy", "b.npy", "-d", "separable-8x8"], "patches of 2 axes ((8, 8)), the image has 3"),
        (["none.nii", "b.nii"], "none.nii"),
    ],
)
def test_what_cannot_be_done_is_said(noisy, arguments, words):
    np.save("a.npy", noisy)
    result = run("denoise", *arguments, "--sigma", 20)
    assert result.exit_code == 1
    assert words in result.stderr
    assert result.stderr.count("\n") == 1
    assert not Path(arguments[1]).exists()


@pytest.mark.parametrize("more", [["--iterations", 3], ["--minibatch", "--batch-size", 100]])
def test_three_factors_are_learned_from_volumes(noisy, more):
    Path("scans").mkdir()
    np.save("scans/a.npy", noisy)
    tifffile.imwrite("scans/b.tif", noisy[:8], photometric="minisblack")
    result = run("learn", "scans", "-o", "d.npz", "--patch", "4x4x4", "--atoms", 6, "--patches", 300, *more)
    assert result.exit_code == 0, result.output
    dictionary = sedil.load_dictionary("d.npz")
    assert dictionary.patch_shape == (4, 4, 4)
    assert dictionary.n_atoms == (6, 6, 6)
    assert dictionary.info["images"] == ["a.npy", "b.tif"]


def test_learning_says_what_is_no_volume_or_too_small(noisy):
    np.save("flat.npy", noisy[0])
    np.save("thin.npy", noisy[:3])
    result = run("learn", "flat.npy", "-o", "d", "--patch", "4x4x4")
    assert "flat.npy holds a picture, not a volume" in result.stderr
    result = run("learn", "thin.npy", "-o", "d", "--patch", "4x4x4")
    assert "thin.npy of shape (3, 24, 26) is smaller than a patch" in result.stderr
