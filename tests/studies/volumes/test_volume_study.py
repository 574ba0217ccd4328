"""The volume experiment on a small synthetic volume, and its data on stand-ins of the same shapes."""

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import sedil
from sedil.cli import app
from sedil_studies.harness.denoising_rows import DENOISING
from sedil_studies.volumes import methods
from sedil_studies.volumes.data import CASES, noisy_volume, read_case, synthetic_case, time_axis_of
from sedil_studies.volumes.filling import FILLERS, FILLINGS
from sedil_studies.volumes.methods import Materials, learned_dictionary
from sedil_studies.volumes.report import markdown
from sedil_studies.volumes.study import QUICK


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The results of a quick run."""
    place = tmp_path_factory.mktemp("results")
    result = quick(place)
    assert result.exit_code == 0, result.output
    return place


def quick(place):
    return CliRunner().invoke(app, ["reproduce", "volumes", "--quick", "-o", str(place), "--threads", "1"])


def test_quick_run_writes_results_report_and_picture(folder):
    rows = DENOISING.read(folder / "volumes.csv")
    assert {row.image for row in rows} == {"waves"}
    assert {"slices", "odct", "learned", "quick", "groups"} <= {row.method for row in rows}
    assert all(row.psnr > 25 and 0 < row.ssim < 1 for row in rows)
    fillings = FILLINGS.read(folder / "volumes-missing.csv")
    assert len(fillings) == 6
    assert all(row.psnr > 25 for row in fillings)
    assert "three factors, learned" in (folder / "volumes.md").read_text()
    with Image.open(folder / "volumes.png") as picture:
        assert picture.width == 5 * (2 * 24 + 4)
        assert (picture.height - 2 * 24 - 4) % 20 == 0  # lines of words


def test_second_run_finds_all_done(folder):
    before = (folder / "volumes.csv").read_bytes()
    result = quick(folder)
    assert result.stdout.count("ran          nothing: all was in ") == 2
    assert (folder / "volumes.csv").read_bytes() == before


def test_report_has_gains_over_slices(folder):
    rows = DENOISING.read(folder / "volumes.csv")
    figures = {row.method: row.psnr for row in rows}
    text = markdown(rows, [])
    assert f"{figures['odct']:.2f} ({figures['odct'] - figures['slices']:+.2f})" in text
    assert "Missing" not in text


def test_dictionary_is_learned_once_and_anew_for_other_data(folder, monkeypatch):
    case = synthetic_case()
    materials = Materials(case.training, folder / "volumes-waves.npz", QUICK.recipe, 1)
    saved = sedil.load_dictionary(materials.file)
    assert saved.n_atoms == (6, 6, 6)

    def not_again(*arguments):
        raise AssertionError("learned again")

    monkeypatch.setattr(methods, "learn_factors", not_again)
    np.testing.assert_array_equal(learned_dictionary(materials).factors[0], saved.factors[0])
    with pytest.raises(AssertionError, match="learned again"):
        learned_dictionary(materials._replace(training=case.test))


def test_noise_is_fixed_unclipped_and_differs_by_case():
    clean = np.zeros((6, 20, 20), np.float32)
    one, same, other = (noisy_volume(clean, case, 20, 0) for case in ("head", "head", "runner"))
    np.testing.assert_array_equal(one, same)
    assert one.min() < -40
    assert abs(one.std() - 20) < 1
    assert not np.array_equal(one, other)
    assert one.dtype == np.float32


SHAPES = {"volumes/chris_t1.npz": (188, 256, 190), "video/runner40.npz": (40, 256, 256)}


@pytest.fixture(scope="module")
def stand_ins(tmp_path_factory):
    """Files of the same shapes, with the number of the file and of the slice along axis 1 in each voxel."""
    place = tmp_path_factory.mktemp("data")
    for k, (name, shape) in enumerate((SHAPES | {"video/traffic48.npz": (48, 256, 256)}).items()):
        (place / name).parent.mkdir(exist_ok=True)
        values = np.zeros(shape, np.float32)
        values += 1000 * k + np.arange(256)[:, None]
        np.savez(place / name, values)
    return place


def test_training_and_test_are_apart(stand_ins):
    head = read_case(stand_ins, "head")
    assert head.test.min() - head.training.max() > 8  # a whole block lies between them
    for case in ("runner", "traffic"):
        training, test = read_case(stand_ins, case)
        assert training[0, 0, 0] // 1000 != test[0, 0, 0] // 1000  # other files
        assert test.shape == (32, 128, 128)


def test_missing_data_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no volumes/chris_t1\.npz in "):
        read_case(tmp_path, CASES[0])
    result = CliRunner().invoke(app, ["reproduce", "volumes"], env={"SEDIL_DATA": ""})
    assert result.exit_code == 1
    assert "volumes/chris_t1.npz, video/runner40.npz and video/traffic48.npz" in result.stderr


def test_frames_of_a_clip_lie_along_time(monkeypatch):
    """Clips are denoised and filled as such, the head as a volume."""
    told = []
    monkeypatch.setattr(sedil, "denoise", lambda noisy, *_, **how: told.append(how["time_axis"]))
    monkeypatch.setattr(sedil, "inpaint", lambda noisy, *_, **how: told.append(how["time_axis"]))
    for case in CASES:
        materials = Materials(np.zeros((8, 8, 8)), None, QUICK.recipe, 1, time_axis_of(case))
        methods.METHODS["groups"](materials).ready()(np.zeros((4, 4, 4)), 20)
        FILLERS["groups"](materials).ready()(np.zeros((4, 4, 4)), np.ones((4, 4, 4), bool))
    assert told == [None] * 4 + [0] * 8  # twice each to warm up
