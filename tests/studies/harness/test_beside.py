"""One method beside another, on rows whose differences are known."""

from sedil_studies.harness.beside import beside
from sedil_studies.harness.denoising_rows import DenoisingRow


def row(image, seed, method, psnr, ssim=0.8, sigma=20, seconds=1.0, commit="c0de"):
    return DenoisingRow(image, sigma, seed, method, psnr, ssim, seconds, 2, "", "", "", "", commit)


def test_differences_are_those_of_images_that_both_were_run_on():
    rows = [
        row("one", 0, "ours", 31.0, 0.81, seconds=2.0),
        row("one", 1, "ours", 31.2, 0.82, seconds=4.0),
        row("one", 0, "theirs", 30.0),
        row("one", 1, "theirs", 30.0),
        row("two", 0, "ours", 29.9),
        row("two", 0, "theirs", 30.0, 0.7998),
        row("three", 0, "ours", 50.0),
        row("four", 0, "theirs", 10.0),
        row("one", 0, "ours", 28.0, sigma=50),
    ]
    columns, lines = beside(rows, "ours", "theirs", "Theirs")
    assert len(lines) == 1
    line = dict(zip(columns, lines[0], strict=True))
    assert line == {
        "sigma": "20",
        "images": "2",
        "PSNR of Theirs": "30.00",
        "PSNR of ours": "30.70",
        "difference": "+0.50",
        "least difference": "-0.10 (two)",
        "images above Theirs": "1 of 2",
        "difference in SSIM": "+0.0076",
        "least difference in SSIM": "+0.0002 (two)",
        "seconds of Theirs": "1.0",
        "seconds of ours": "2.3",
    }


def test_seconds_of_other_days_are_not_compared():
    rows = [
        row("one", 0, "ours", 31.0, seconds=2.0),
        row("one", 0, "theirs", 30.0, seconds=90.0, commit="01d"),
        row("two", 0, "ours", 31.0, seconds=3.0),
        row("two", 0, "theirs", 30.0, seconds=5.0),
        row("one", 0, "ours", 31.0, sigma=50, commit=""),
        row("one", 0, "theirs", 30.0, sigma=50, commit=""),
    ]
    _, lines = beside(rows, "ours", "theirs", "Theirs")
    assert [line[-2:] for line in lines] == [["5.0", "3.0"], ["", ""]]
