import errno
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy.ndimage import gaussian_filter

from sedil.analytic import odct
from sedil.file_jobs import denoise_files as module
from sedil.file_jobs import opened_file
from sedil.file_jobs.denoise_files import DenoiseSettings, denoise_files, find_noise
from sedil.file_jobs.job_planning import plan_one, plan_several
from sedil.file_jobs.opened_file import open_file
from sedil.image_files import reading_errors
from sedil.imaging import measured_noise

FAST = DenoiseSettings(sigma=10.0, dictionary=odct((4, 4), (4, 4)), stride=4)


def paths(*names):
    return [Path(name) for name in names]


def tell_nobody(progress):
    pass


def test_one_bad_file_does_not_stop_the_others(folder_of_two):
    Path("photos/aa.png").write_bytes(b"bad")
    jobs = plan_several([*paths("photos", "gone.png", "photos.dat")], Path("clean"), None, False)
    outcomes = {outcome.job.source.name: outcome for outcome in denoise_files(jobs, FAST, tell_nobody)}
    assert list(outcomes) == ["a.png", "aa.png", "b.png", "gone.png", "photos.dat"]
    assert [name for name, outcome in outcomes.items() if outcome.error is None] == ["a.png", "b.png"]
    assert "no picture" in str(outcomes["aa.png"].error)
    assert outcomes["aa.png"].noise is None
    assert outcomes["a.png"].noise is None  # it is given
    assert outcomes["a.png"].seconds > 0
    assert sorted(os.listdir("clean")) == ["a.png", "b.png"]


def test_progress_runs_over_all_files_by_their_size(folder_of_two):
    Path("photos/aa.png").write_bytes(b"bad")
    seen = []
    jobs = plan_several(paths("photos"), Path("clean"), None, False)
    list(denoise_files(jobs, FAST, lambda progress: seen.append((progress.done, progress.total))))
    assert {total for _, total in seen} == {16 * 16 + 32 * 32}
    amounts = [done for done, _ in seen]
    assert amounts == sorted(amounts)
    assert 16 * 16 in amounts
    assert amounts[-1] == 16 * 16 + 32 * 32


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_full_disk_stops_the_work(folder_of_two, monkeypatch, number):
    def full(path, content):
        raise OSError(f"Cannot write {path}.") from OSError(number, "full")

    monkeypatch.setattr(opened_file, "write_content", full)
    jobs = plan_several(paths("photos"), Path("clean"), None, False)
    assert [outcome.job.source.name for outcome in denoise_files(jobs, FAST, tell_nobody)] == ["a.png"]


def test_results_that_cannot_be_written_are_refused_before_the_work(folder_of_two):
    with pytest.raises(OSError, match=r"Cannot write out\.xbm: cannot write mode L as XBM"):
        open_file(plan_one(Path("photos/a.png"), Path("out.xbm"), None, False))
    Image.fromarray(np.ones((8, 9000), np.uint8)).save("wide.png")
    job = plan_one(Path("wide.png"), Path("wide.webp"), Path("both.webp"), False)
    with pytest.raises(
        ValueError, match=r"both\.webp: WEBP holds at most 16,383 pixels a side, the pic.* 18,000"
    ):
        open_file(job)


def test_memory_is_reckoned_with_what_denoising_takes(folder_of_two, monkeypatch):
    monkeypatch.setattr(reading_errors, "usable_memory", lambda: 20 * 16 * 16)
    job = plan_one(Path("photos/a.png"), Path("out.png"), None, False)
    with pytest.raises(ValueError, match=r"a\.png has 16 x 16 pixels, which take about .* cut it into parts"):
        open_file(job)
    monkeypatch.setattr(reading_errors, "usable_memory", lambda: 50 * 16 * 16)
    assert open_file(job).content.pixels.shape == (16, 16)


def test_picture_without_noise_stays_as_it_is(folder_of_two):
    flat = np.full((20, 20), 7, np.uint8)
    Image.fromarray(flat).save("flat.png")
    opened = open_file(plan_one(Path("flat.png"), Path("out.png"), None, False))
    noise, _ = find_noise(opened.content, DenoiseSettings())
    assert noise.sigma == (0.0,)
    module.denoise_file(opened, noise, DenoiseSettings(), tell_nobody)
    with Image.open("out.png") as picture:
        np.testing.assert_array_equal(np.asarray(picture), flat)


def test_noise_of_a_file_is_measured_once(folder_of_two, monkeypatch):
    """Also where a note says that it looks otherwise."""
    read = []
    blocks = measured_noise.read_blocks
    monkeypatch.setattr(measured_noise, "read_blocks", lambda *a, **k: read.append(1) or blocks(*a, **k))
    smooth = gaussian_filter(np.random.default_rng(0).standard_normal((96, 96)), 1.0)
    Image.fromarray((120 + 30 * smooth).astype(np.uint8)).save("smooth.png")
    job = plan_one(Path("smooth.png"), Path("out.png"), None, False)
    (outcome,) = denoise_files([job], DenoiseSettings(method="quick"), tell_nobody)
    assert outcome.error is None
    assert any("--noise auto" in note for note in outcome.notes)
    assert read == [1]


def test_threads_are_passed_on(folder_of_two, monkeypatch):
    given = []
    monkeypatch.setattr(module, "denoise", lambda image, *_, threads, **__: given.append(threads) or image)
    jobs = plan_several(paths("photos"), Path("clean"), None, False)
    list(denoise_files(jobs, FAST._replace(threads=3), tell_nobody))
    assert given == [3, 3]


@pytest.mark.parametrize("dtype", [np.int8, np.int16, bool])
def test_comparison_of_volumes_of_any_type_has_their_contrast(folder_of_two, dtype):
    """The difference of the ends of an integer type does not fit into it."""
    volume = np.full((4, 8, 9), np.iinfo(dtype).min if dtype is not bool else False, dtype)
    volume[:, :, 4:] = np.iinfo(dtype).max if dtype is not bool else True
    np.save("volume.npy", volume)
    opened = open_file(plan_one(Path("volume.npy"), Path("out.npy"), Path("both.png"), False))
    opened_file.write_results(opened, volume)
    with Image.open("both.png") as picture:
        half = np.asarray(picture)[:, :9]
    assert (half[:, :4] == 0).all()
    assert (half[:, 4:] == 255).all()
