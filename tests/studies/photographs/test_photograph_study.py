"""`sedil reproduce inpainting`, on tiny images."""

import numpy as np
import pytest
from typer.testing import CliRunner

from sedil import cli
from sedil_studies.harness.method import Method
from sedil_studies.measures.inside import psnr_inside
from sedil_studies.photographs import report as photograph_report
from sedil_studies.photographs.masks import MASKS, make_mask
from sedil_studies.photographs.methods import METHODS
from sedil_studies.photographs.photograph_rows import PHOTOGRAPHS, PhotographRow
from sedil_studies.photographs.study import Plan, measure, photograph_study
from sedil_studies.table1.paper import IMAGES


def reproduce(*arguments):
    return CliRunner().invoke(cli.app, ["reproduce", "inpainting", *map(str, arguments)])


def test_command_runs_and_reports_once(five_images, tmp_path):
    result = reproduce("--data", five_images, "--quick", "--threads", 1)
    assert result.exit_code == 0, result.output
    rows = PHOTOGRAPHS.read(tmp_path / "reproduce/inpainting.csv")
    assert [row.method for row in rows] == list(METHODS)
    assert all(np.isfinite([row.psnr, row.ssim, row.seconds, row.missing]).all() for row in rows)
    report = (tmp_path / "reproduce/inpainting.md").read_text()
    for words in (
        "| 50 % of pixels |",
        "| house | 50",
        "sedil quick",
        "inpaint_biharmonic of scikit-image",
    ):
        assert words in report
    again = reproduce("--data", five_images, "--quick", "--threads", 1)
    assert "ran          nothing: all was in reproduce/inpainting.csv already" in again.output


def test_all_images_and_masks_are_planned(tmp_path):
    cheap = {"mean": Method.at_hand("own", lambda image, mask: image + 1)}
    images = dict.fromkeys(IMAGES, np.zeros((32, 32)))
    ran = photograph_study(Plan(), images, cheap, tmp_path / "rows.csv", 1).run()
    rows = PHOTOGRAPHS.read(tmp_path / "rows.csv")
    assert ran.n_run == len(rows) == len(IMAGES) * len(MASKS)
    assert {(row.image, row.mask) for row in rows} == {(image, mask) for image in IMAGES for mask in MASKS}


def test_picture_shows_original_damage_and_each_method():
    picture = photograph_report.picture({"quick": lambda image, mask, channel_axis: np.full_like(image, 77)})
    assert picture.shape == (3 * (20 + 256 + 8), 3 * (256 + 8), 3)
    original, damaged, filled = (picture[k * 284 + 20 : k * 284 + 276, :256] for k in range(3))
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

    row = PhotographRow("house", "text", "own", *[np.nan] * 4, 1, "", "", "")
    measure(row, np.full((64, 64), 9.0), fill)
    assert np.all(seen[0] == 0)


def test_last_row_of_a_cell_counts():
    rows = [
        PhotographRow("house", "text", "quick", 0.1, psnr, 0.9, 1, 2, f"settings {psnr}", "1", "2")
        for psnr in (20.0, 30.0)
    ]
    report = photograph_report.markdown(rows)
    assert "| text |  |  | 30.00 |  |" in report
    assert "20.00" not in report
