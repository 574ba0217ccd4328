import pytest

from sedil_studies.rows import Row, append_row, identity, latest, open_rows, read_rows

ROW = Row("lena", 20, 0, "odct", 31.5, 0.85, 1.25, 2, 'ODCT, "8x8"; refit', "0.1.0", "", "2.0")


def test_rows_come_back_as_they_were(tmp_path):
    path = tmp_path / "rows.csv"
    assert open_rows(path) == []
    other = ROW._replace(method="bm3d", baseline="bm3d 4.0.3", sigma=5)
    for row in (ROW, other):
        append_row(path, row)
    assert open_rows(path) == read_rows(path) == [ROW, other]
    assert path.read_text().splitlines()[0] == ",".join(Row._fields)


@pytest.mark.parametrize("length", [0, 7, -3])
def test_half_a_line_is_cut_off(tmp_path, length):
    """As a run leaves it that was killed: in the header, or in the last row."""
    path = tmp_path / "rows.csv"
    open_rows(path)
    append_row(path, ROW)
    content = path.read_bytes()
    if length < 0:
        append_row(path, ROW._replace(seed=1))
        content = path.read_bytes()
    path.write_bytes(content[:length])
    expected = [ROW] if length < 0 else []
    assert open_rows(path) == expected
    append_row(path, ROW._replace(seed=2))
    assert read_rows(path) == [*expected, ROW._replace(seed=2)]


def test_another_file_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("name,age\nann,3\nhalf")
    with pytest.raises(ValueError, match=r"rows\.csv is not a results file of this version \(its columns"):
        open_rows(path)
    assert path.read_text() == "name,age\nann,3\nhalf"


def test_a_damaged_line_is_named(tmp_path):
    path = tmp_path / "rows.csv"
    open_rows(path)
    append_row(path, ROW._replace(sigma="twenty"))
    with pytest.raises(ValueError, match=r"rows\.csv is damaged in line 2 .*twenty.*: remove that line"):
        open_rows(path)


@pytest.mark.parametrize(
    "name", ["image", "sigma", "seed", "method", "settings", "sedil", "baseline", "numpy"]
)
def test_settings_and_versions_make_another_measurement(name):
    assert identity(ROW._replace(**{name: "other"})) != identity(ROW)


def test_time_and_figures_do_not():
    assert identity(ROW._replace(psnr=1.0, ssim=0.0, seconds=9.0, threads=8)) == identity(ROW)


def test_latest_keeps_the_last_row_of_a_cell():
    newer, other = ROW._replace(sedil="0.2.0", psnr=32.0), ROW._replace(seed=1)
    assert latest([ROW, other, newer]) == [newer, other]
