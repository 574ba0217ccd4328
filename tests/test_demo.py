import sys

import numpy as np
import pytest

import sedil
from sedil import demo


@pytest.fixture
def shown(tmp_path, monkeypatch, capsys):
    """Folder and lines of a short demonstration, in a folder with a name that looks like markup."""
    monkeypatch.setattr(demo, "_N_PATCHES", 1500)
    monkeypatch.setattr(demo, "_N_HELD_OUT", 1100)
    monkeypatch.setattr(demo, "_MAX_ITERATIONS", 3)
    monkeypatch.setattr(demo, "_PART", (slice(72, 104), slice(150, 182)))
    demo.run_demo(tmp_path / "d[b]")
    return tmp_path / "d[b]", capsys.readouterr().out.splitlines()


def test_results_are_saved_and_named(shown):
    folder, lines = shown
    dictionary = sedil.load_dictionary(folder / "dictionary.npz")
    assert dictionary.info["images"] == list(demo.IMAGES)
    assert lines[-1] == f"   next: sedil show {folder / 'dictionary.npz'}"
    assert (folder / "atoms.png").is_file()
    assert (folder / "denoised.png").is_file()


@pytest.mark.parametrize(
    ("called", "found", "expected"),
    [
        (".venv/bin/sedil", None, ".venv/bin/sedil"),
        (".venv/bin/sedil", "/usr/bin/sedil", "sedil"),
        ("src/sedil/__main__.py", None, "sedil"),
    ],
)
def test_next_command_can_be_typed(called, found, expected, monkeypatch):
    monkeypatch.setattr(sys, "argv", [called])
    monkeypatch.setattr(demo, "which", lambda name: found)
    assert demo._program() == expected


def test_denoising_is_measured_and_helps(shown):
    _, lines = shown
    start = lines.index("4. denoising a part of it with noise of sigma 20 added (PSNR in dB, SSIM)")
    rows = dict(line.split(maxsplit=1) for line in lines[start + 1 : start + 4])
    psnr = {name: float(figures.split()[0]) for name, figures in rows.items()}
    assert psnr["noisy"] == pytest.approx(22.1, abs=0.5)
    assert psnr["ODCT"] > psnr["noisy"] + 4


def test_numbers_are_those_used(shown):
    folder, lines = shown
    n_patches = sedil.load_dictionary(folder / "dictionary.npz").info["n_patches"]
    assert n_patches < 1500
    assert lines[0] == f"1. {n_patches:,} patches of 8x8 from 6 photographs: {', '.join(demo.IMAGES)}"
    n_held_out = len(demo.demo_patches([demo.HELD_OUT], 1100))
    assert (
        f"3. coding {n_held_out:,} patches of a photograph it has not seen (coffee), same l1 penalty" in lines
    )


def test_held_out_photograph_is_not_trained_on():
    assert demo.HELD_OUT not in demo.IMAGES


def test_patches_are_centred_and_of_unit_length():
    patches = demo.demo_patches(["camera"], 50)
    np.testing.assert_allclose(patches.mean(axis=(1, 2)), 0, atol=1e-6)
    np.testing.assert_allclose((patches**2).sum(axis=(1, 2)), 1, rtol=1e-5)


def test_unwritable_place_is_refused_before_learning(tmp_path, monkeypatch):
    monkeypatch.setattr(sedil, "learn", None)
    (tmp_path / "atoms.png").mkdir()
    with pytest.raises(IsADirectoryError, match=r"atoms\.png is a folder: give the name of a file"):
        demo.run_demo(tmp_path)
