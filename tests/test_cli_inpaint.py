"""`sedil inpaint`, and the files behind it."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from sedil.cli import app
from sedil.file_jobs.inpaint_files import read_mask

RAMP = (np.linspace(60, 180, 40)[:, None] + np.linspace(0, 40, 48)).astype(np.uint8)
MASK = np.random.default_rng(0).random(RAMP.shape) < 0.2
SHIPPED = ("--dictionary", "separable-8x8")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A working folder with a damaged picture and its mask."""
    monkeypatch.chdir(tmp_path)
    Image.fromarray(np.where(MASK, 255, RAMP).astype(np.uint8)).save("in.png")
    Image.fromarray((255 * MASK).astype(np.uint8)).save("mask.png")
    return tmp_path


def inpaint(*arguments):
    return CliRunner().invoke(app, ["inpaint", *map(str, arguments)])


def pixels(name):
    return np.asarray(Image.open(name))


def test_missing_pixels_are_filled_and_all_is_told():
    result = inpaint("in.png", "mask.png", "out.png", "--compare", "both.png")
    assert result.exit_code == 0, result.output
    filled = pixels("out.png")
    assert np.array_equal(filled[~MASK], RAMP[~MASK])
    assert np.abs(filled.astype(int) - RAMP).max() < 12
    for words in (
        f"missing      {MASK.mean():.1%} of the pixels\n",
        "inpainted    40x48 in ",
        "saved        out.png\n",
    ):
        assert words in result.output
    both = pixels("both.png")
    assert np.array_equal(both[:, :48], np.where(MASK, 0, RAMP))
    assert np.array_equal(both[:, 48:], filled)


def test_colours_and_transparency_are_kept():
    colours = np.dstack([RAMP, RAMP // 2, 255 - RAMP, np.full_like(RAMP, 200)])
    Image.fromarray(colours).save("colour.png")
    result = inpaint("colour.png", "mask.png", "out.png", *SHIPPED)
    assert result.exit_code == 0, result.output
    filled = pixels("out.png")
    assert np.array_equal(filled[~MASK], colours[~MASK])
    assert np.array_equal(filled[..., 3], colours[..., 3])


def test_volumes_are_filled():
    volume = np.add.outer(np.arange(12.0), RAMP[:14, :16]).astype(np.float32)
    mask = np.random.default_rng(1).random(volume.shape) < 0.3
    np.save("volume.npy", np.where(mask, 0, volume).astype(np.float32))
    np.save("mask.npy", mask.astype(np.uint8))
    np.save("nan.npy", np.where(mask, np.nan, volume).astype(np.float32))
    for name in ("volume", "nan"):
        result = inpaint(f"{name}.npy", "mask.npy", f"{name}_out.npy", "--compare", f"{name}.png")
        assert result.exit_code == 0, result.output
    filled = np.load("volume_out.npy")
    np.testing.assert_array_equal(np.load("nan_out.npy"), filled)
    np.testing.assert_array_equal(pixels("nan.png"), pixels("volume.png"))
    assert np.array_equal(filled[~mask], volume[~mask])
    assert np.abs(filled - volume).max() < 8


@pytest.mark.parametrize("white", [1, 255])
def test_mask_is_what_is_brighter_than_half_its_brightest(white):
    Image.fromarray((white * MASK).astype(np.uint8)).save("own.png")
    assert np.array_equal(read_mask(Path("own.png")), MASK)


def test_masks_may_be_coloured_or_blurred():
    square = np.zeros((40, 48), np.uint8)
    square[8:24, 8:32] = 255
    Image.fromarray(np.dstack([square, 0 * square, 0 * square])).save("red.png")
    assert np.array_equal(read_mask(Path("red.png")), square > 0)
    Image.fromarray(square).save("blurred.jpg", quality=60)
    assert np.array_equal(read_mask(Path("blurred.jpg")), square > 0)


def test_black_mask_leaves_the_picture_as_it_is():
    Image.fromarray(np.zeros_like(RAMP)).save("black.png")
    result = inpaint("in.png", "black.png", "out.png")
    assert result.exit_code == 0, result.output
    assert "missing      0.0% of the pixels" in result.output
    assert np.array_equal(pixels("out.png"), pixels("in.png"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.png", "mask.png", "out.png"], "none.png cannot be read as an image: No such file"),
        (["in.png", "none.png", "out.png"], "none.png cannot be read as an image: No such file"),
        (
            ["in.png", "small.png", "out.png"],
            "The mask small.png has 20x48 pixels, in.png has 40x48: both must",
        ),
        (["in.png", "white.png", "out.png"], "Every pixel is missing"),
        (["in.png", "mask.png", "old.png"], "old.png exists already: choose another name or add --force."),
        (["in.png", "mask.png", "in.png", "--force"], "in.png is the picture itself: choose another name"),
        (["in.png", "mask.png", "mask.png", "--force"], "mask.png is the mask itself: choose another name"),
        (["in.png", "mask.png", "out.xyz"], ".xyz is not a picture format"),
        (["in.png", "mask.png", "no/out.png"], "the folder no does not exist"),
        (["in.png", "mask.png", "out.png", "-d", "separable-9x9"], "separable-9x9"),
        (["tiny.png", "tinymask.png", "out.png", "--method", "quick"], "is smaller than a patch of shape"),
    ],
)
def test_mistakes_are_answered_before_any_work(folder, arguments, message):
    Image.fromarray(np.full_like(RAMP, 255)).save("white.png")
    Image.fromarray(RAMP[:20]).save("small.png")
    Image.fromarray(RAMP).save("old.png")
    Image.fromarray(RAMP[:5]).save("tiny.png")
    Image.fromarray((255 * MASK[:5]).astype(np.uint8)).save("tinymask.png")
    before = sorted(path.name for path in folder.iterdir())
    result = inpaint(*arguments)
    assert result.exit_code == 1
    assert message in result.output
    assert "Traceback" not in result.output
    assert sorted(path.name for path in folder.iterdir()) == before


def test_existing_results_are_replaced_by_force():
    Image.fromarray(RAMP).save("old.png")
    result = inpaint("in.png", "mask.png", "old.png", "--force", *SHIPPED)
    assert result.exit_code == 0, result.output
    assert not np.array_equal(pixels("old.png"), RAMP)


def test_what_changes_known_pixels_is_said():
    words = "JPEG changes known pixels too"
    assert words in inpaint("in.png", "mask.png", "out.jpg", *SHIPPED).output
    assert words not in inpaint("in.png", "mask.png", "out.png", *SHIPPED).output


def test_known_voxels_stored_as_scaled_integers_stay_the_same():
    nibabel = pytest.importorskip("nibabel")
    header = nibabel.Nifti1Header()
    header.set_data_dtype(np.int16)
    values = np.random.default_rng(0).random((8, 8, 8)) * 100  # floats that are stored as scaled integers
    nibabel.Nifti1Image(values, np.eye(4), header).to_filename("scaled.nii")
    mask = np.zeros((8, 8, 8), np.uint8)
    mask[2:4, 2:4, 2:4] = 1
    np.save("holes.npy", mask)
    assert inpaint("scaled.nii", "holes.npy", "filled.nii").exit_code == 0
    before, after = (nibabel.load(name) for name in ("scaled.nii", "filled.nii"))
    assert after.get_data_dtype() == np.int16
    known = mask == 0
    np.testing.assert_array_equal(np.asarray(after.dataobj)[known], np.asarray(before.dataobj)[known])
    assert np.all(np.asarray(after.dataobj)[~known] > 0)


def test_a_mask_that_marks_nothing_is_said():
    Image.fromarray(np.zeros_like(RAMP)).save("black.png")
    result = inpaint("in.png", "black.png", "out.png")
    assert result.exit_code == 0
    assert "the mask marks no pixel as missing" in result.output


def test_threads_do_not_matter_for_the_result():
    for name, more in {"default": [], "one": ["--threads", 1]}.items():
        assert inpaint("in.png", "mask.png", f"{name}.png", *SHIPPED, *more).exit_code == 0
    assert np.array_equal(pixels("default.png"), pixels("one.png"))


def test_output_that_is_missing_is_named():
    result = inpaint("in.png", "mask.png")
    assert result.exit_code == 2
    assert "Missing argument 'OUT'" in result.stderr


def test_noise_of_known_pixels_is_not_carried_on():
    noise = 12 * np.random.default_rng(1).standard_normal(RAMP.shape)
    Image.fromarray(np.clip(np.where(MASK, 255, RAMP + noise), 0, 255).astype(np.uint8)).save("noisy.png")
    np.save("levels.npy", np.full(RAMP.shape, 12.0))
    errors = []
    for how in ((), ("--sigma", 12), ("--sigma-map", "levels.npy")):
        result = inpaint("noisy.png", "mask.png", "out.png", "--force", *how)
        assert result.exit_code == 0, result.output
        errors.append(np.std(pixels("out.png")[MASK] - RAMP[MASK].astype(float)))
    assert max(errors[1:]) < 0.8 * errors[0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--sigma-map", "wide.npy"], "a map that fits the image of shape"),
        (["--sigma-map", "wide.npy", "--sigma", "3"], "--sigma and --sigma-map exclude each other"),
        (["--sigma", "-3"], "sigma must be a finite positive number, got -3"),
        (["--sigma", "3", "--scheduler", "local"], "are for files that are read as a whole"),
    ],
)
def test_bad_noise_is_refused_in_words(arguments, words):
    np.save("wide.npy", np.ones((3, 500)))
    result = inpaint("in.png", "mask.png", "out.png", *arguments)
    assert result.exit_code == 1
    assert words in " ".join(result.stderr.split())
    assert not Path("out.png").exists()
