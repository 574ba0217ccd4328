"""`sedil reproduce` from the command line, on tiny images."""

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from sedil import cli
from sedil_studies import methods
from sedil_studies.images import FILES
from sedil_studies.methods import Method
from sedil_studies.paper import IMAGES
from sedil_studies.rows import read_rows

PACKAGES = ("bm3d", "dictlearn")


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """A working folder of its own, and no data but what is given."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SEDIL_DATA", raising=False)


@pytest.fixture
def data(tmp_path, rng):
    folder = tmp_path / "data"
    folder.mkdir()
    for name in IMAGES:
        Image.fromarray(rng.integers(0, 256, (16, 18), dtype=np.uint8)).save(folder / FILES[name])
    return folder


@pytest.fixture
def without_baselines(monkeypatch):
    def version(package):
        raise methods.PackageNotFoundError(package)

    monkeypatch.setattr(methods, "version", version)


def reproduce(*arguments):
    return CliRunner().invoke(cli.app, ["reproduce", *(str(argument) for argument in arguments)])


def test_table_is_run_and_reported(data, tmp_path):
    result = reproduce("table1", "--data", data, "--seeds", 2, "--methods", "separable,odct", "--threads", 1)
    assert result.exit_code == 0, result.output
    rows = read_rows(tmp_path / "reproduce/table1.csv")
    assert len(rows) == 5 * 5 * 2 * 2
    assert {row.threads for row in rows} == {1}
    for words in ("ran          100 denoisings\n", "Mean PSNR in dB over the five images", "\nseparable "):
        assert words in result.output
    assert max(map(len, result.output.splitlines())) <= 80
    for name in ("table1.md", "table1.html"):
        assert f"report       reproduce/{name}\n" in result.output
        assert "± " in (tmp_path / "reproduce" / name).read_text()


def test_second_run_only_reports(data, tmp_path):
    arguments = ("table1", "--data", data, "--quick", "--methods", "odct", "-o", "there")
    assert "ran          1 denoising" in reproduce(*arguments).output
    (tmp_path / "there/table1.md").unlink()
    again = reproduce(*arguments)
    assert again.exit_code == 0, again.output
    assert "ran          nothing: all was in there/table1.csv already\n" in again.output
    assert (tmp_path / "there/table1.md").exists()


def test_quick_is_one_cell_without_ksvd(data, tmp_path, without_baselines, monkeypatch):
    monkeypatch.setenv("SEDIL_DATA", str(data))
    for name in IMAGES[:-1]:
        (data / FILES[name]).unlink()
    result = reproduce("table1", "--quick")
    assert result.exit_code == 0, result.output
    rows = read_rows(tmp_path / "reproduce/table1.csv")
    assert {(row.image, row.sigma, row.seed) for row in rows} == {("house", 20, 0)}
    assert [row.method for row in rows] == [m for m in methods.METHODS if m not in ("ksvd", "bm3d")]
    sentence = 'bm3d is left out, as the package bm3d is not installed: pip install "sedil[bench]".\n'
    assert sentence in result.output
    assert "ksvd" not in result.output


def test_interrupted_run_reports_and_goes_on(data, tmp_path, monkeypatch):
    calls = []

    def denoise(noisy, sigma):
        calls.append(sigma)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return noisy

    monkeypatch.setitem(methods.METHODS, "odct", lambda setting: Method(denoise, "fake"))
    arguments = ("table1", "--data", data, "--methods", "odct", "--seeds", 1)
    result = reproduce(*arguments)
    assert result.exit_code == 130
    assert "interrupted; the same command goes on from here\n" in result.output
    assert len(read_rows(tmp_path / "reproduce/table1.csv")) == 2
    assert (tmp_path / "reproduce/table1.html").exists()
    again = reproduce(*arguments)
    assert again.exit_code == 0, again.output
    assert "ran          23 denoisings; 2 were in reproduce/table1.csv already\n" in again.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["table1"],
            "Give --data, or the environment variable SEDIL_DATA, a folder that holds lena_ksvdbox.png, "
            "barbara.png, boat.png, peppers512.png and house.png.",
        ),
        (
            ["table1", "--data", "nowhere"],
            "There is no test image in nowhere or nowhere/images",
        ),
        (["table1", "--data", "data", "--methods", "odct,best"], "'best' is not one of ksvd, unstructured,"),
        (["table1", "--data", "data", "--seeds", "0"], "Invalid value for '--seeds'"),
        (["table1", "--data", "data", "-o", "file"], "file is a file: give the name of a folder."),
        (["table1", "--data", "data", "--methods", "bm3d"], "No method is left to run."),
        (["table1", "--data", "data", "-o", "data"], "data/table1.csv is not a results file of this version"),
        (["figure1", "-o", "file"], "file is a file: give the name of a folder."),
        (["figure1", "-o", "file/below"], "Cannot make the folder file/below: Not a directory."),
    ],
)
def test_mistakes_are_answered_with_one_sentence(data, tmp_path, without_baselines, arguments, message):
    (tmp_path / "file").write_text("")
    (data / "table1.csv").write_text("name,age\nann,3\n")
    result = reproduce(*arguments)
    assert result.exit_code in (1, 2)
    words = " ".join(result.stderr.replace("│", " ").split())
    assert message in words
    assert "Traceback" not in words
    assert not list(tmp_path.rglob("*.md"))


def test_figure_is_drawn_where_it_says(tmp_path):
    result = reproduce("figure1", "--output", "deep/er")
    assert result.output == "picture      deep/er/figure1.png\n"
    with Image.open(tmp_path / "deep/er/figure1.png") as picture:
        assert picture.size == (1340, 710)
