import pytest
from table_rows import whole_table

from sedil_studies.table1 import paper
from sedil_studies.table1.comparison import Cell, cells, methods_of, summary


def test_summary_holds_means_of_ours_and_of_the_paper():
    table = summary(whole_table(), "psnr")
    assert table.methods == (*paper.METHODS, "quick")
    assert [line.head for line in table.lines] == [("5",), ("10",), ("20",), ("30",), ("50",)]
    separable = table.lines[2].cells[3]
    assert separable.printed == pytest.approx(31.264)
    assert separable.ours == pytest.approx(31.364)
    assert separable.spread == pytest.approx(0.02)
    assert separable.difference == 0.10


def test_spread_is_that_of_the_mean_over_the_images():
    rows = whole_table(("odct",), seeds=(0, 1))
    # Seeds shift the images in opposite directions: each varies, their mean does not.
    shift = {"lena": 1.0, "barbara": -1.0}
    rows = [row._replace(psnr=30 + row.seed * shift.get(row.image, 0.0)) for row in rows]
    assert summary(rows, "psnr").lines[0].cells[0].spread == 0
    assert cells(rows, "psnr").lines[0].cells[0].spread == pytest.approx(0.5**0.5)


def test_each_of_the_25_cells_is_there():
    table = cells(whole_table(), "ssim")
    assert [line.head for line in table.lines] == [
        (image, str(sigma)) for image in paper.IMAGES for sigma in paper.SIGMAS
    ]
    for line in table.lines:
        for method, cell in zip(table.methods, line.cells, strict=True):
            assert cell.printed == paper.printed("ssim", method, line.head[0], int(line.head[1]))
            assert cell.difference == (None if method == "quick" else -0.002)


def test_means_of_part_of_the_images_are_compared_with_the_paper_on_the_same():
    rows = [row for row in whole_table() if row.image in ("lena", "house") and row.sigma == 20]
    cell = summary(rows, "psnr").lines[0].cells[0]
    assert cell.printed == pytest.approx((32.24 + 32.83) / 2)
    assert cell.difference == pytest.approx(0.10)


def test_seeds_that_lack_an_image_do_not_count():
    rows = [row for row in whole_table(("odct",)) if row.image != "house" or row.seed == 0]
    cell = summary(rows, "psnr").lines[0].cells[0]
    assert cell.ours == pytest.approx(38.006 + 0.08)
    assert cell.spread is None


def test_a_method_without_all_images_has_no_mean():
    rows = [row for row in whole_table(("odct", "bm3d")) if row.image != "house" or row.method == "odct"]
    assert summary(rows, "psnr").lines[0].cells[1] is None
    assert cells(rows, "psnr").lines[-1].cells[1] is None


def test_the_three_figures_of_a_cell_add_up():
    assert Cell(31.487, None, 31.264, 2).difference == 0.23  # 31.49 less 31.26
    assert str(Cell(31.2599, None, 31.2601, 2).difference) == "0.0"


def test_unknown_methods_come_last():
    rows = [row._replace(method="old") for row in whole_table(("odct",))[:1]] + whole_table(("bm3d", "odct"))
    assert methods_of(rows) == ("odct", "bm3d", "old")
