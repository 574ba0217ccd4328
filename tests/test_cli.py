import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import sedil
from sedil.cli import app


@pytest.fixture
def pictures(tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    rng = np.random.default_rng(0)
    for name in ("a.png", "b.png"):
        Image.fromarray(rng.integers(0, 255, (40, 50), dtype=np.uint8)).save(folder / name)
    return folder


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def learn(pictures, output, *more):
    return run("learn", pictures, "-o", output, "-p", "4x4", "-a", "5x6", "-n", 200, "--iterations", 8, *more)


def test_learn_saves_what_it_says(pictures, tmp_path):
    result = learn(pictures, tmp_path / "dict.npz")
    assert result.exit_code == 0, result.output
    for words in ("reading 2 images", "200 patches of 4x4", "8/8", "stopped", "max_iterations reached"):
        assert words in result.output
    dictionary = sedil.load_dictionary(tmp_path / "dict.npz")
    assert (dictionary.patch_shape, dictionary.n_atoms) == ((4, 4), (5, 6))
    assert dictionary.info["images"] == ["a.png", "b.png"]
    with Image.open(tmp_path / "dict.png") as picture:
        assert picture.mode == "L"


def test_learn_is_repeatable(pictures, tmp_path):
    for name in ("one", "two"):
        assert learn(pictures, tmp_path / name).exit_code == 0
    one, two = (sedil.load_dictionary(tmp_path / f"{name}.npz") for name in ("one", "two"))
    np.testing.assert_array_equal(one.as_matrix(), two.as_matrix())


def test_unstructured_atoms_are_drawn_as_patches(pictures, tmp_path):
    result = run(
        "learn", pictures / "a.png", "-o", tmp_path / "u.npz", "-p", "4x4", "--unstructured", "-n", 100,
        "--iterations", 3,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    dictionary = sedil.load_dictionary(tmp_path / "u.npz")
    assert dictionary.n_atoms == (64,)
    assert dictionary.info["signal_shape"] == [4, 4]


def test_nothing_is_overwritten_without_force(pictures, tmp_path):
    learn(pictures, tmp_path / "d.npz")
    before = (tmp_path / "d.npz").read_bytes()
    refused = learn(pictures, tmp_path / "d.npz", "--seed", 1)
    assert refused.exit_code == 1
    assert "exists already: choose another name or add --force" in refused.stderr
    assert (tmp_path / "d.npz").read_bytes() == before
    assert learn(pictures, tmp_path / "d.npz", "--seed", 1, "--force").exit_code == 0
    assert (tmp_path / "d.npz").read_bytes() != before


def test_checkpoint_is_written_and_resumed(pictures, tmp_path):
    learn(pictures, tmp_path / "whole.npz")
    checkpoint = ("--checkpoint", tmp_path / "run.npz")
    assert learn(pictures, tmp_path / "first.npz", *checkpoint).exit_code == 0
    resumed = learn(pictures, tmp_path / "again.npz", *checkpoint)
    assert resumed.exit_code == 0, resumed.output
    whole, again = (sedil.load_dictionary(tmp_path / f"{name}.npz") for name in ("whole", "again"))
    np.testing.assert_array_equal(whole.as_matrix(), again.as_matrix())


def test_show_tells_facts_and_draws(pictures, tmp_path):
    learn(pictures, tmp_path / "d.npz")
    (tmp_path / "d.png").unlink()
    result = run("show", tmp_path / "d.npz")
    assert result.exit_code == 0, result.output
    for words in ("4x4", "5x6 = 30", "mutual coherence", "stop reason", "a.png, b.png"):
        assert words in result.output
    assert (tmp_path / "d.png").exists()
    assert "was there already" in run("show", tmp_path / "d.npz").output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["learn", "nowhere", "-o", "d.npz"], "There is no file or folder nowhere."),
        (["learn", "pictures", "-o", "no/d.npz"], "the folder no does not exist"),
        (["learn", "pictures", "-o", "d.npz", "-p", "64x64"], "is smaller than a patch of shape (64, 64)"),
        (
            ["learn", "pictures", "-o", "d.npz", "-p", "0x8"],
            "patch_shape must be a whole number of at least 1",
        ),
        (["learn", "pictures", "-o", "d.npz", "-p", "eight"], "'eight' is not a list of lengths such as 8x8"),
        (["learn", "pictures", "-o", "d.npz", "-a", "3x3x3"], "n_atoms must have one number per patch axis"),
        (["learn", "pictures", "-o", "d.npz", "--initial", "best"], "initial must be one of"),
        (["learn", "empty", "-o", "d.npz"], "The folder empty holds no images"),
        (["learn", "broken.png", "-o", "d.npz"], "broken.png cannot be read as an image"),
        (["show", "nowhere.npz"], "There is no file nowhere.npz."),
        (["show", "broken.png"], "broken.png is not a dictionary file of sedil, or it is damaged"),
    ],
)
def test_mistakes_are_answered_with_one_sentence(pictures, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken.png").write_bytes(b"not a picture")
    result = run(*arguments)
    assert result.exit_code != 0
    words = " ".join(result.stderr.replace("│", " ").split())
    assert message in words
    assert "Traceback" not in words
    assert not list(tmp_path.glob("d.*"))


def test_version_and_help():
    assert run("--version").output.strip() == f"sedil {sedil.__version__}"
    assert "learn" in run("--help").output


@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT to a process, which Windows does not have")
def test_ctrl_c_keeps_what_is_learned(pictures, tmp_path):
    command = [sys.executable, "-m", "sedil", "learn", str(pictures), "-o", str(tmp_path / "d.npz")]
    command += ["-p", "8x8", "-n", "3000", "--iterations", "100000", "--checkpoint", str(tmp_path / "c.npz")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not (tmp_path / "c.npz").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    output, complaints = process.communicate(timeout=60)
    assert process.returncode == 0, complaints
    assert "interrupted by the user" in output
    assert sedil.load_dictionary(tmp_path / "d.npz").n_atoms == (16, 16)


def test_demo_runs(tmp_path, monkeypatch):
    monkeypatch.setattr("sedil.demo._N_PATCHES", 500)
    monkeypatch.setattr("sedil.demo._MAX_ITERATIONS", 5)
    result = run("demo", "-o", tmp_path / "demo")
    assert result.exit_code == 0, result.output
    assert "energy missed" in result.output
    assert (tmp_path / "demo/atoms.png").exists()
