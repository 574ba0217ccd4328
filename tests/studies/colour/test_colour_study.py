"""Photographs in colour and in grey, on tiny stand-ins."""

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import sedil
from sedil.cli import app
from sedil.commands.study_commands import COLOUR_FILES
from sedil_studies.colour import methods
from sedil_studies.colour.data import COLOUR, FILES, GREY, PARTS, noisy_photograph, read_grey_photographs
from sedil_studies.colour.report import LABELS, markdown, picture
from sedil_studies.harness.data_folder import listed
from sedil_studies.harness.denoising_rows import DENOISING


@pytest.fixture
def photographs(tmp_path, rng):
    """A folder with a tiny photograph of each kind, and without peers to wait for."""
    ramp = 4.0 * np.add.outer(np.arange(24), np.arange(28)) + rng.integers(0, 20, (24, 28))
    place = tmp_path / "data"
    for name, pixels in ((COLOUR, np.stack([ramp, 255 - ramp, ramp], axis=-1)), (GREY, ramp)):
        (place / name).mkdir(parents=True)
        Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).save(place / name / "kodim01.png")
    parts = np.zeros((8, 24, 28), np.uint8)
    parts[7] = np.clip(ramp, 0, 255)
    np.savez(place / PARTS, images=parts)
    return place


def reproduce(*arguments):
    return CliRunner().invoke(app, ["reproduce", "colour", "--threads", "1", *map(str, arguments)])


def test_quick_run_writes_results_and_a_report(photographs, tmp_path, without_peers):
    result = reproduce("--data", photographs, "--quick")
    assert result.exit_code == 0, result.output
    for sentence in (
        "cbm3d is left out, as the package bm3d is not",
        "\nbm3d is left out, as the package bm3d",
    ):
        assert sentence in result.output
    colour = DENOISING.read(tmp_path / "reproduce/colour.csv")
    assert [(row.image, row.sigma, row.method) for row in colour] == [
        ("kodim01", 25, "groups"),
        ("kodim01", 25, "quick"),
    ]
    grey = DENOISING.read(tmp_path / "reproduce/colour-grey.csv")
    assert [(row.image, row.method) for row in grey] == [("kodim01", "groups"), ("bsd-007", "groups")]
    assert all(row.psnr > 24 and 0 < row.ssim < 1 for row in colour + grey)
    text = (tmp_path / "reproduce/colour.md").read_text()
    assert "## Kodak in colour: sedil beside its quick method" in text
    assert "beside CBM3D" not in text
    again = reproduce("--data", photographs, "--quick")
    assert again.stdout.count("ran          nothing: all was in ") == 2


def test_channels_are_denoised_together(photographs, rng):
    noisy = 100 + 20 * rng.standard_normal((24, 28, 3))
    for name, method in (("groups", None), ("quick", "quick")):
        result = methods.COLOUR[name](1).ready()(noisy, 20)
        expected = sedil.denoise(noisy, 20, method=method, channel_axis=-1, threads=1)
        np.testing.assert_array_equal(result, expected)


def test_noise_differs_by_photograph_and_level():
    clean = np.zeros((20, 20))
    drawn = [
        noisy_photograph(clean, name, sigma, 0) / sigma for name, sigma in (("a", 5), ("b", 5), ("a", 6))
    ]
    np.testing.assert_array_equal(drawn[0], noisy_photograph(clean, "a", 5, 0) / 5)
    assert not any(np.array_equal(drawn[0], other) for other in drawn[1:])


def test_parts_are_none_that_settings_were_chosen_on(photographs):
    (photographs / PARTS).unlink()
    for number in range(2, 25):
        Image.fromarray(np.zeros((9, 9), np.uint8)).save(photographs / GREY / f"kodim{number:02d}.png")
    np.savez(photographs / PARTS, images=np.zeros((400, 9, 9), np.uint8))
    numbers = [int(name[4:]) for name in read_grey_photographs(photographs) if name.startswith("bsd-")]
    assert len(numbers) == 20
    assert all(number % 25 for number in numbers)


def test_missing_data_is_named(photographs, complaint):
    (photographs / PARTS).unlink()
    assert f"There is no {PARTS} in " in complaint(reproduce("--data", photographs, "--quick"))
    assert "Give --data, or the environment variable SEDIL_DATA" in complaint(reproduce())
    assert listed(FILES) == COLOUR_FILES


def test_every_method_has_a_label_and_a_report_without_rows_is_short():
    assert set(LABELS) == {*methods.COLOUR, *methods.GREY}
    assert "photograph by photograph" not in markdown([], [])


def test_picture_shows_original_noise_and_each_method():
    shown = picture({"groups": lambda noisy, sigma: np.full_like(noisy, 77)})
    assert shown.shape == (3 * (20 + 256 + 8), 3 * (256 + 8), 3)
    original, noisy, cleaned = (shown[k * 284 + 20 : k * 284 + 276, :256].astype(float) for k in range(3))
    assert 15 < np.std(noisy - original) < 45
    assert np.all(cleaned == 77)


def test_cbm3d_denoises_colour():
    pytest.importorskip("bm3d", reason='bm3d is not installed: pip install "sedil[bench]"')
    clean = np.stack([np.add.outer(np.arange(32.0), k * np.arange(32.0)) for k in range(3)], axis=-1)
    noisy = noisy_photograph(clean, "ramp", 20, 0)
    assert np.std(methods.COLOUR["cbm3d"](1).ready()(noisy, 20) - clean) < 10
