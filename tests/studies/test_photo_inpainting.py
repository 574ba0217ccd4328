"""`sedil reproduce inpainting`, on tiny images."""

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from sedil import cli
from sedil_studies import photo_inpainting, photo_report
from sedil_studies.images import FILES
from sedil_studies.paper import IMAGES
from sedil_studies.photo_inpainting import METHODS, Method, PhotoRow, Plan, psnr_inside
from sedil_studies.photo_masks import MASKS, make_mask
from sedil_studies.rows import read_rows


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SEDIL_DATA", raising=False)


@pytest.fixture
def data(tmp_path, rng):
    folder = tmp_path / "data"
    folder.mkdir()
    ramp = np.add.outer(np.arange(24), np.arange(28)) * 4
    for name in IMAGES:
        noisy = ramp + rng.integers(0, 20, ramp.shape)
        Image.fromarray(noisy.astype(np.uint8)).save(folder / FILES[name])
    return folder


def reproduce(*arguments):
    return CliRunner().invoke(cli.app, ["reproduce", "inpainting", *map(str, arguments)])


def test_command_runs_and_reports_once(data, tmp_path):
    result = reproduce("--data", data, "--quick", "--threads", 1)
    assert result.exit_code == 0, result.output
    rows = read_rows(tmp_path / "reproduce/inpainting.csv", kind=PhotoRow)
    assert [row.method for row in rows] == list(METHODS)
    assert all(np.isfinite([row.psnr, row.ssim, row.seconds, row.missing]).all() for row in rows)
    report = (tmp_path / "reproduce/inpainting.md").read_text()
    for words in (
        "| 50 % of pixels |",
        "| house | 50",
        "sedil default",
        "inpaint_biharmonic of scikit-image",
    ):
        assert words in report
    again = reproduce("--data", data, "--quick", "--threads", 1)
    assert "ran          0 fillings" in again.output


def test_all_images_and_masks_are_planned(tmp_path, monkeypatch):
    cheap = {"mean": lambda threads: Method(lambda image, mask: image + 1, "own")}
    monkeypatch.setattr(photo_inpainting, "METHODS", cheap)
    images = dict.fromkeys(IMAGES, np.zeros((32, 32)))
    count = photo_inpainting.run(Plan(), images, tmp_path / "rows.csv", 1)
    rows = read_rows(tmp_path / "rows.csv", kind=PhotoRow)
    assert count == len(rows) == len(IMAGES) * len(MASKS)
    assert {(row.image, row.mask) for row in rows} == {(image, mask) for image in IMAGES for mask in MASKS}


def test_picture_shows_original_damage_and_each_method():
    picture = photo_report.picture([lambda image, mask, channel_axis: np.full_like(image, 77)])
    assert picture.shape == (3 * (256 + 8), 3 * (256 + 8), 3)
    original, damaged, filled = (picture[k * 264 : k * 264 + 256, :256] for k in range(3))
    mask = make_mask("80 % of pixels", (256, 256))
    assert np.array_equal(damaged[~mask], original[~mask])
    assert not damaged[mask].any()
    assert np.all(filled == 77)


def test_without_data_it_says_what_it_needs():
    result = reproduce()
    assert result.exit_code == 1
    assert (
        "Give --data, or the environment variable SEDIL_DATA, a folder that holds lena_ksvdbox.png"
        in result.output
    )


@pytest.mark.parametrize(
    ("kind", "share"),
    [
        ("25 % of pixels", 0.25),
        ("50 % of pixels", 0.5),
        ("80 % of pixels", 0.8),
        ("text", 0.15),
        ("scratches", 0.11),
    ],
)
def test_masks_are_the_same_on_every_run(kind, share):
    mask = make_mask(kind, (512, 512))
    assert mask.dtype == bool
    assert abs(mask.mean() - share) < 0.03
    assert np.array_equal(mask, make_mask(kind, (512, 512)))
    assert set(np.unique(mask.view(np.uint8))) == {0, 1}  # what compiled code takes for False and True


def test_only_missing_pixels_count():
    clean, mask = np.zeros((4, 4)), np.eye(4, dtype=bool)
    assert psnr_inside(np.where(mask, 25.5, 99), clean, mask) == pytest.approx(20)


def test_methods_see_no_missing_pixel():
    seen = []

    def fill(image, mask):
        seen.append(image[mask])
        return image + 1

    row = PhotoRow("house", "text", "own", *[np.nan] * 4, 1, "", "", "")
    photo_inpainting.measure(row, np.full((64, 64), 9.0), fill)
    assert np.all(seen[0] == 0)


def test_last_row_of_a_cell_counts():
    rows = [
        PhotoRow("house", "text", "default", 0.1, psnr, 0.9, 1, 2, f"settings {psnr}", "1", "2")
        for psnr in (20.0, 30.0)
    ]
    report = photo_report.markdown(rows)
    assert "| text |  |  | 30.00 |" in report
    assert "20.00" not in report
