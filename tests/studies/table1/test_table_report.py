import re
from html.parser import HTMLParser

from table_rows import whole_table

from sedil_studies.table1 import paper, report


def markdown_lines(text, heading):
    section = text.split(f"## {heading}\n")[1].split("\n## ")[0]
    return [line for line in section.splitlines() if line.startswith("|")]


def test_markdown_has_each_cell_with_ours_the_papers_and_the_difference():
    text = report.markdown(whole_table())
    for metric, heading, decimals, difference in (
        ("psnr", "PSNR in dB, image by image", 2, "+0.10"),
        ("ssim", "SSIM, image by image", 3, "-0.002"),
    ):
        header, _, *lines = markdown_lines(text, heading)
        assert header == (
            "| image | sigma | K-SVD | unstructured SeDiL | ODCT | separable SeDiL | BM3D | sedil quick |"
        )
        assert len(lines) == 25
        for line in lines:
            image, sigma, *cells = (part.strip() for part in line.strip("|").split("|"))
            for method, cell in zip(paper.METHODS, cells, strict=False):
                ours, printed, shown = cell.split(" / ")
                assert float(printed) == paper.printed(metric, method, image, int(sigma))
                assert shown == difference
                assert ours.split(" ± ")[0] == f"{float(printed) + float(difference):.{decimals}f}"
            assert re.fullmatch(r"[\d.]+ ± [\d.]+", cells[-1])  # the paper has none


def test_markdown_summary_has_the_published_means():
    lines = markdown_lines(report.markdown(whole_table()), "Mean PSNR in dB")
    assert lines[4].startswith("| 20 | 31.42 ± 0.02 / 31.32 / +0.10 | 31.58 ± 0.02 / 31.48 / +0.10 |")
    assert "Mean over the five images, ± its standard deviation over the seeds." in report.markdown(
        whole_table()
    )


def test_part_of_the_table_says_so():
    rows = [row for row in whole_table(seeds=(0,)) if row.image == "house" and row.sigma == 20]
    text = report.markdown(rows)
    assert "Mean over house (1 of the paper's five images)" in text
    assert "one seed (0)" in text
    assert "±" not in "".join(markdown_lines(text, "Mean PSNR in dB"))


def test_settings_and_versions_are_listed():
    text = report.markdown(whole_table())
    assert r"| BM3D | <bm3d> \| 8x8 | bm3d 4.0.3; sedil 0.1.0; numpy 2.0 | 2 | 2.0 | 75 |" in text


def test_rows_of_an_older_version_give_way():
    old = [row._replace(sedil="0.0.9", psnr=1.0) for row in whole_table()]
    assert report.markdown(old + whole_table()) == report.markdown(whole_table())


class Reader(HTMLParser):
    """Balance of the tags, texts of the cells, and addresses of anything outside."""

    def __init__(self):
        super().__init__()
        self.open, self.cells, self.outside = [], [], []

    def handle_starttag(self, tag, attributes):
        self.outside += [value for name, value in attributes if name in ("src", "href")]
        if tag != "meta":
            self.open.append(tag)
        if tag == "td":
            self.cells.append([])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        if "td" in self.open:
            self.cells[-1].append(text)


def test_html_is_whole_and_needs_nothing_else():
    reader = Reader()
    text = report.html(whole_table())
    reader.feed(text)
    assert reader.open == []
    assert reader.outside == []
    assert "@import" not in text
    assert "url(" not in text


def test_html_has_each_cell():
    reader = Reader()
    reader.feed(report.html(whole_table()))
    figures = [cell for cell in reader.cells if len(cell) == 3]
    assert len(figures) == 2 * (5 + 25) * 5
    for image in paper.IMAGES:
        for sigma in paper.SIGMAS:
            for method in paper.METHODS:
                printed = paper.printed("psnr", method, image, sigma)
                assert [f"{printed + 0.1:.2f} ± 0.02", f"{printed:.2f}", "+0.10"] in figures


def test_html_escapes_settings():
    assert "<td>&lt;odct&gt; | 8x8</td>" in report.html(whole_table())


def test_the_default_stands_beside_bm3d():
    text = report.markdown(whole_table((*paper.METHODS, "groups")))
    header, _, *lines = markdown_lines(text, "sedil beside BM3D")
    assert "images above BM3D" in header
    assert len(lines) == 5
    assert "sedil beside BM3D" not in report.markdown(whole_table())
