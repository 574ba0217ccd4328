import numpy as np
import pytest

import sedil
from sedil_studies.harness.denoising_rows import DENOISING, DenoisingRow

ROW = DenoisingRow("lena", 20, 0, "odct", 31.5, 0.85, 1.25, 2, 'ODCT, "8x8"; refit', "0.1.0", "", "2.0")


def test_rows_come_back_as_they_were(tmp_path):
    path = tmp_path / "rows.csv"
    assert DENOISING.open(path) == []
    other = ROW._replace(method="bm3d", baseline="bm3d 4.0.3", sigma=5)
    for row in (ROW, other):
        DENOISING.append(path, row)
    assert DENOISING.open(path) == DENOISING.read(path) == [ROW, other]
    assert path.read_text().splitlines()[0] == ",".join(DenoisingRow._fields)


@pytest.mark.parametrize("length", [0, 7, -3])
def test_half_a_line_is_cut_off(tmp_path, length):
    """As a run leaves it that was killed: in the header, or in the last row."""
    path = tmp_path / "rows.csv"
    DENOISING.open(path)
    DENOISING.append(path, ROW)
    content = path.read_bytes()
    if length < 0:
        DENOISING.append(path, ROW._replace(seed=1))
        content = path.read_bytes()
    path.write_bytes(content[:length])
    expected = [ROW] if length < 0 else []
    assert DENOISING.open(path) == expected
    DENOISING.append(path, ROW._replace(seed=2))
    assert DENOISING.read(path) == [*expected, ROW._replace(seed=2)]


def test_another_file_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("name,age\nann,3\nhalf")
    with pytest.raises(ValueError, match=r"rows\.csv is not a results file of this version \(its columns"):
        DENOISING.open(path)
    assert path.read_text() == "name,age\nann,3\nhalf"


def test_a_damaged_line_is_named(tmp_path):
    path = tmp_path / "rows.csv"
    DENOISING.open(path)
    DENOISING.append(path, ROW._replace(sigma="twenty"))
    with pytest.raises(ValueError, match=r"rows\.csv is damaged in line 2 .*twenty.*: remove that line"):
        DENOISING.open(path)


@pytest.mark.parametrize(
    "name", ["image", "sigma", "seed", "method", "settings", "sedil", "baseline", "numpy"]
)
def test_settings_and_versions_make_another_measurement(name):
    assert DENOISING.identity(ROW._replace(**{name: "other"})) != DENOISING.identity(ROW)


def test_time_and_figures_do_not():
    assert DENOISING.identity(ROW._replace(psnr=1.0, ssim=0.0, seconds=9.0, threads=8)) == DENOISING.identity(
        ROW
    )


def test_latest_keeps_the_last_row_of_a_cell():
    newer, other = ROW._replace(sedil="0.2.0", psnr=32.0), ROW._replace(seed=1)
    assert DENOISING.latest([ROW, other, newer]) == [newer, other]


def test_planned_rows_know_the_versions_and_no_figures():
    row = DENOISING.planned(image="lena", sigma=20, method="odct", settings="plain")
    assert (row.image, row.sigma, row.settings) == ("lena", 20, "plain")
    assert (row.sedil, row.numpy) == (sedil.__version__, np.__version__)
    assert np.isnan([row.psnr, row.ssim, row.seconds]).all()
    assert row.baseline == ""


def test_no_file_has_no_rows(tmp_path):
    assert DENOISING.read(tmp_path / "absent.csv") == []


def test_file_from_before_commits_is_read_and_gets_the_column(tmp_path):
    path = tmp_path / "rows.csv"
    names, entries = DenoisingRow._fields[:-1], [str(entry).replace('"', "'") for entry in ROW[:-1]]
    path.write_text(",".join(names) + "\n" + ",".join(f'"{entry}"' for entry in entries) + "\nlen")
    old = [ROW._replace(settings=ROW.settings.replace('"', "'"))]
    assert DENOISING.open(path) == old
    DENOISING.append(path, ROW._replace(seed=1, commit="abc"))
    assert DENOISING.read(path) == [*old, ROW._replace(seed=1, commit="abc")]
    assert DENOISING.identity(DENOISING.read(path)[1]) == DENOISING.identity(ROW._replace(seed=1))
