"""Noise of cameras and photons, on tiny stand-ins."""

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import sedil
from sedil.cli import app
from sedil_studies.colour.data import COLOUR
from sedil_studies.harness.denoising_rows import DENOISING
from sedil_studies.realnoise import methods, report
from sedil_studies.realnoise.data import PHOTOGRAPHS, counted_photons, read_pairs, uneven_channels
from sedil_studies.realnoise.report import markdown


@pytest.fixture
def pictures(tmp_path, rng):
    """A folder with one tiny photograph and one image."""
    ramp = 4.0 * np.add.outer(np.arange(40), np.arange(44)) / 2 + 40
    place = tmp_path / "data"
    (place / PHOTOGRAPHS).mkdir(parents=True)
    colour = np.stack([ramp, 255 - ramp, ramp], axis=-1)
    for ending, noise in (("mean", 0), ("real", 10)):
        pixels = np.clip(colour + noise * rng.standard_normal(colour.shape), 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(place / PHOTOGRAPHS / f"d1_{ending}.png")
    Image.fromarray(ramp.astype(np.uint8)).save(place / "house.png")
    (place / COLOUR).mkdir(parents=True)
    Image.fromarray(colour.astype(np.uint8)).save(place / COLOUR / "kodim01.png")
    return place


def reproduce(*arguments):
    return CliRunner().invoke(app, ["reproduce", "realnoise", "--threads", "1", *map(str, arguments)])


def test_quick_run_writes_results_and_a_report(pictures, tmp_path, without_peers):
    result = reproduce("--data", pictures, "--quick")
    assert result.exit_code == 0, result.output
    assert "cbm3d is left out, as the package bm3d is not" in result.output
    unchanged, row = DENOISING.read(tmp_path / "reproduce/realnoise.csv")
    noisy, clean = (each["d1"].astype(float) for each in read_pairs(pictures))
    assert (row.image, row.method) == ("d1", "groups")
    assert unchanged.psnr == pytest.approx(10 * np.log10(255**2 / np.mean((noisy - clean) ** 2)), abs=1e-3)
    assert row.psnr > unchanged.psnr + 5
    by_channel, one = DENOISING.read(tmp_path / "reproduce/realnoise-channels.csv")
    assert (by_channel.image, by_channel.sigma, by_channel.method) == ("kodim01", 0, "groups")
    assert (one.image, one.sigma, one.method) == ("kodim01", 32, "one level")
    assert by_channel.psnr > one.psnr
    (counted,) = DENOISING.read(tmp_path / "reproduce/realnoise-counts.csv")
    assert (counted.image, counted.sigma, counted.method) == ("house", 10, "groups")
    text = (tmp_path / "reproduce/realnoise.md").read_text()
    figures = " | ".join(f"{each.psnr:.2f} / {each.ssim:.3f}" for each in (unchanged, row))
    assert f"| d1 | {figures} |" in text
    assert f"| sedil, one level | 32 | {one.psnr:.2f} / {one.ssim:.3f} |" in text
    assert "| 10 | " in text
    again = reproduce("--data", pictures, "--quick")
    assert again.stdout.count("ran          nothing: all was in ") == 5


def test_photographs_are_denoised_blind(pictures):
    noisy = read_pairs(pictures).noisy["d1"]
    result = methods.PHOTOGRAPHS["groups"](1).ready()(noisy, 0)
    np.testing.assert_array_equal(result, sedil.denoise(noisy, noise="auto", channel_axis=-1, threads=1))


def test_counts_are_whole_numbers_of_photons():
    clean = np.full((50, 50), 255 / 4)
    counts = counted_photons(clean, "a", 8, 0) / (255 / 8)
    np.testing.assert_allclose(counts, np.round(counts), atol=1e-9)
    assert counts.mean() == pytest.approx(2, abs=0.1)
    assert not np.array_equal(counts, counted_photons(clean, "b", 8, 0) / (255 / 8))


def test_best_level_of_cbm3d_is_that_of_the_mean():
    def row(image, sigma, method, psnr):
        return DENOISING.planned(
            image=image, sigma=sigma, method=method, psnr=psnr, ssim=0.5, seconds=1.0, seed=0
        )

    rows = [row("a", 0, "groups", 40.0), row("b", 0, "groups", 42.0)]
    rows += [row("a", 5, "cbm3d", 30.0), row("b", 5, "cbm3d", 39.0)]
    rows += [row("a", 10, "cbm3d", 33.0), row("b", 10, "cbm3d", 35.0)]
    text = markdown(rows, rows, [])
    assert "| mean |  | 41.00 / 0.500 | 34.50 / 0.500 |" in text
    assert "| a |  | 40.00 / 0.500 | 30.00 / 0.500 | 1.0 |" in text
    assert "| CBM3D | 5 | 34.50 / 0.500 | 1.0 | +3.00 |" in text


def test_channels_have_noise_of_their_own_whatever_the_level():
    clean = np.zeros((80, 80, 3))
    noisy = uneven_channels(clean, "a", 0, 0)
    np.testing.assert_allclose(noisy.std(axis=(0, 1)), (40, 20, 30), rtol=0.05)
    np.testing.assert_array_equal(noisy, uneven_channels(clean, "a", 32, 0))
    result = methods.CHANNELS["groups"](1).ready()(noisy[:32, :32], 0)
    given = sedil.denoise(noisy[:32, :32], (40, 20, 30), channel_axis=-1, threads=1)
    np.testing.assert_array_equal(result, given)


def test_the_picture_shows_both_kinds(monkeypatch):
    monkeypatch.setattr(report, "_SIDE", 48)
    height, width, _ = report.picture(1).shape
    assert width == 2 * 56
    assert (height - 3 * 56) % 20 == 0  # lines of words


def test_missing_data_is_named(pictures, complaint):
    (pictures / PHOTOGRAPHS / "d1_real.png").unlink()
    assert "There is no photograph *_real.png in " in complaint(reproduce("--data", pictures, "--quick"))
    assert "Give --data, or the environment variable SEDIL_DATA" in complaint(reproduce())


def test_bm3d_works_on_roots_of_counts():
    pytest.importorskip("bm3d", reason='bm3d is not installed: pip install "sedil[bench]"')
    clean = np.full((32, 32), 100.0)
    result = methods.COUNTS["bm3d"](1).ready()(counted_photons(clean, "flat", 20, 0), 20)
    assert np.std(result - clean) < 10
