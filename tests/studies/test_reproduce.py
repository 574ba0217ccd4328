"""`sedil reproduce` from the command line, on tiny images."""

import subprocess
import sys

import pytest
from PIL import Image
from typer.testing import CliRunner

from sedil import cli
from sedil.commands import study_commands as commands
from sedil_studies.faces.data import FILE as FACES_FILE
from sedil_studies.harness.data_folder import listed
from sedil_studies.harness.denoising_rows import DENOISING
from sedil_studies.harness.method import Method
from sedil_studies.table1.five_images import FILES
from sedil_studies.table1.methods import METHODS, PAPER_RECIPE
from sedil_studies.table1.paper import IMAGES
from sedil_studies.table1.study import Plan
from sedil_studies.volumes.data import FILES as VOLUME_FILES


def reproduce(*arguments):
    return CliRunner().invoke(cli.app, ["reproduce", *(str(argument) for argument in arguments)])


def test_table_is_run_and_reported(five_images, tmp_path):
    result = reproduce(
        "table1", "--data", five_images, "--seeds", 2, "--methods", "separable,odct", "--threads", 1
    )
    assert result.exit_code == 0, result.output
    rows = DENOISING.read(tmp_path / "reproduce/table1.csv")
    assert len(rows) == 5 * 5 * 2 * 2
    assert {row.threads for row in rows} == {1}
    for words in ("ran          100 denoisings\n", "Mean PSNR in dB over the five images", "\nseparable "):
        assert words in result.output
    assert max(map(len, result.output.splitlines())) <= 80
    for name in ("table1.md", "table1.html"):
        assert f"report       reproduce/{name}\n" in result.output
        assert "± " in (tmp_path / "reproduce" / name).read_text()


def test_second_run_only_reports(five_images, tmp_path):
    arguments = ("table1", "--data", five_images, "--quick", "--methods", "odct", "-o", "there")
    assert "ran          1 denoising" in reproduce(*arguments).output
    (tmp_path / "there/table1.md").unlink()
    again = reproduce(*arguments)
    assert again.exit_code == 0, again.output
    assert "ran          nothing: all was in there/table1.csv already\n" in again.output
    assert (tmp_path / "there/table1.md").exists()


def test_quick_is_one_cell_without_ksvd(five_images, tmp_path, without_peers, monkeypatch):
    monkeypatch.setenv("SEDIL_DATA", str(five_images))
    for name in IMAGES[:-1]:
        (five_images / FILES[name]).unlink()
    result = reproduce("table1", "--quick")
    assert result.exit_code == 0, result.output
    rows = DENOISING.read(tmp_path / "reproduce/table1.csv")
    assert {(row.image, row.sigma, row.seed) for row in rows} == {("house", 20, 0)}
    assert [row.method for row in rows] == [m for m in METHODS if m not in ("ksvd", "bm3d")]
    sentence = 'bm3d is left out, as the package bm3d is not installed: pip install "sedil[bench]".\n'
    assert sentence in result.output
    assert "ksvd" not in result.output


def test_interrupted_run_reports_and_goes_on(five_images, tmp_path, monkeypatch):
    calls = []

    def denoise(noisy, sigma):
        calls.append(sigma)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return noisy

    monkeypatch.setitem(METHODS, "odct", lambda materials: Method.at_hand("fake", denoise))
    arguments = ("table1", "--data", five_images, "--methods", "odct", "--seeds", 1)
    result = reproduce(*arguments)
    assert result.exit_code == 130
    assert "interrupted; the same command goes on from here\n" in result.output
    assert len(DENOISING.read(tmp_path / "reproduce/table1.csv")) == 2
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
        (
            ["table1", "--data", "data", "--methods", "bm3d"],
            "No method is left to run: bm3d is left out",
        ),
        (["table1", "--data", "data", "-o", "data"], "data/table1.csv is not a results file of this version"),
        (["figure1", "-o", "file"], "file is a file: give the name of a folder."),
        (["figure1", "-o", "file/below"], "Cannot make the folder file/below: Not a directory."),
    ],
)
def test_mistakes_are_answered_with_one_sentence(
    five_images, tmp_path, without_peers, complaint, arguments, message
):
    (tmp_path / "file").write_text("")
    (five_images / "table1.csv").write_text("name,age\nann,3\n")
    result = reproduce(*arguments)
    assert message in complaint(result)
    assert not list(tmp_path.rglob("*.md"))


def test_figure_is_drawn_where_it_says(tmp_path):
    result = reproduce("figure1", "--output", "deep/er")
    assert result.output == "picture      deep/er/figure1.png\n"
    with Image.open(tmp_path / "deep/er/figure1.png") as picture:
        assert picture.size == (1340, 710)


def test_help_names_what_the_studies_know():
    """The commands do not load the studies to show help, so they say it themselves."""
    assert tuple(METHODS) == commands.TABLE_METHODS
    assert tuple(PAPER_RECIPE) == commands.PAPER_METHODS
    assert Plan().n_seeds == commands.TABLE_SEEDS
    assert FACES_FILE == commands.FACES_FILE
    assert listed(VOLUME_FILES) == commands.VOLUME_FILES


@pytest.mark.parametrize("words", [["--help"], ["reproduce", "faces", "--help"], ["bench", "--help"]])
def test_help_loads_no_study(words):
    code = f"""
import sys
from sedil.cli import app
app({words}, standalone_mode=False)
print([name for name in sys.modules if name.partition(".")[0] == "sedil_studies"])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


def test_progress_goes_to_standard_error_and_ends_at_100_percent(five_images, monkeypatch):
    monkeypatch.setattr("sedil_studies.harness.meter.is_seen", lambda: True)
    result = reproduce("inpainting", "--data", five_images, "--quick", "--threads", 1)
    assert result.stdout == (
        "ran          4 fillings\n"
        "results      reproduce/inpainting.csv\n"
        "report       reproduce/inpainting.md\n"
    )
    assert "100%" in result.stderr
    again = reproduce("inpainting", "--data", five_images, "--quick", "--threads", 1)
    assert again.stdout.startswith("ran          nothing: all was in reproduce/inpainting.csv already\n")
    assert again.stderr == ""
