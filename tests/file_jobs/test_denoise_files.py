import errno
import os
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from sedil.analytic import odct
from sedil.file_jobs import denoise_files as module
from sedil.file_jobs.denoise_files import Job, Settings, denoise_files, open_noisy, plan_one, plan_several
from sedil.image_files import picture_files

FAST = Settings(sigma=10.0, dictionary=odct((4, 4), (4, 4)), stride=4)


@pytest.fixture
def folder(tmp_path, monkeypatch, rng):
    """A working folder with two small pictures."""
    monkeypatch.chdir(tmp_path)
    Path("photos").mkdir()
    for name, side in {"a.png": 16, "b.png": 32}.items():
        Image.fromarray(rng.integers(90, 160, (side, side), dtype=np.uint8)).save(f"photos/{name}")
    return tmp_path


def paths(*names):
    return [Path(name) for name in names]


def test_one_file_goes_to_the_name_or_into_the_folder_given(folder):
    source = Path("photos/a.png")
    assert plan_one(source, Path("out.png"), None, False) == Job(source, Path("out.png"), None)
    Path("clean").mkdir()
    Path("both").mkdir()
    assert plan_one(source, Path("clean"), Path("both"), False).outputs == paths("clean/a.png", "both/a.png")


def test_several_files_keep_their_names_in_a_new_folder(folder):
    jobs = plan_several(paths("photos/b.png", "photos/a.png"), Path("clean"), None, False)
    assert [job.target for job in jobs] == paths("clean/b.png", "clean/a.png")
    assert list(Path("clean").iterdir()) == []


def test_folders_and_files_are_mixed(folder):
    Image.new("L", (9, 9)).save("c.png")
    (folder / "photos/sub").mkdir()
    Image.new("L", (9, 9)).save("photos/sub/d.png")
    Image.new("L", (9, 9)).save("photos/.hidden.png")
    jobs = plan_several(paths("photos", "c.png"), Path("clean"), Path("both"), False)
    assert [job.source.name for job in jobs] == ["a.png", "b.png", "c.png"]
    assert {job.comparison.parent for job in jobs} == {Path("both")}
    assert Path("both").is_dir()


@pytest.mark.parametrize(
    ("places", "output", "compare", "message"),
    [
        (["photos"], "no/clean", None, "Cannot make the folder no/clean: the folder no does not exist."),
        (["photos"], "a.txt", None, "a.txt is a file: several pictures go into a folder, which comes last."),
        (["photos"], "clean", "no/both", "Cannot make the folder no/both: the folder no does not exist."),
        (
            ["photos"],
            "photos",
            None,
            "photos/a.png is the noisy picture itself: choose another name or folder.",
        ),
        (["photos"], "full", None, "full/a.png exists already, and so do 1 more: choose another name or add"),
        (
            ["photos/a.png", "full/a.png"],
            "clean",
            None,
            "photos/a.png and full/a.png would both be written to",
        ),
        (
            ["photos"],
            "clean",
            "clean",
            "clean/a.png would be both the result and the comparison: choose another",
        ),
        (["photos"], "clean", "photos/../clean", "clean/a.png would be both the result and the comparison"),
        (["photos"], "clean", "full", "full/a.png exists already, and so do 1 more"),
        (["empty"], "clean", None, "The folder empty holds no images"),
    ],
)
def test_places_that_will_not_do_are_refused_before_the_work(folder, places, output, compare, message):
    Path("a.txt").touch()
    Path("empty").mkdir()
    Path("full").mkdir()
    for name in ("a.png", "b.png"):
        Path("full", name).touch()
    with pytest.raises(OSError, match=re.escape(message)):
        plan_several(paths(*places), Path(output), compare and Path(compare), False)


def test_noisy_pictures_are_never_overwritten(folder):
    Path("links").mkdir()
    Path("links/b.png").symlink_to(folder / "photos/b.png")
    with pytest.raises(FileExistsError, match=r"links/b\.png is the noisy picture itself"):
        plan_several(paths("photos"), Path("links"), None, True)
    with pytest.raises(FileExistsError, match=r"links/b\.png is the noisy picture itself"):
        plan_one(Path("photos/b.png"), Path("out.png"), Path("links/b.png"), True)


def test_result_and_comparison_of_one_file_have_different_names(folder):
    with pytest.raises(FileExistsError, match=r"out\.png would be both the result and the comparison"):
        plan_one(Path("photos/a.png"), Path("out.png"), Path("photos/../out.png"), True)


def test_existing_files_are_replaced_if_that_is_wanted(folder):
    Path("out.png").touch()
    assert plan_one(Path("photos/a.png"), Path("out.png"), None, True).target == Path("out.png")


# The work


def test_one_bad_file_does_not_stop_the_others(folder):
    Path("photos/aa.png").write_bytes(b"bad")
    jobs = plan_several([*paths("photos", "gone.png", "photos.dat")], Path("clean"), None, False)
    outcomes = {outcome.job.source.name: outcome for outcome in denoise_files(jobs, FAST)}
    assert list(outcomes) == ["a.png", "aa.png", "b.png", "gone.png", "photos.dat"]
    assert [name for name, outcome in outcomes.items() if outcome.error is None] == ["a.png", "b.png"]
    assert "no picture" in str(outcomes["aa.png"].error)
    assert outcomes["aa.png"].facts is None
    assert outcomes["a.png"].facts.sigma == 10.0
    assert not outcomes["a.png"].facts.estimated
    assert outcomes["a.png"].seconds > 0
    assert sorted(os.listdir("clean")) == ["a.png", "b.png"]


def test_progress_runs_over_all_files_by_their_size(folder):
    Path("photos/aa.png").write_bytes(b"bad")
    seen = []
    jobs = plan_several(paths("photos"), Path("clean"), None, False)
    list(denoise_files(jobs, FAST, lambda done, total: seen.append((done, total))))
    assert {total for _, total in seen} == {16 * 16 + 32 * 32}
    amounts = [done for done, _ in seen]
    assert amounts == sorted(amounts)
    assert 16 * 16 in amounts
    assert amounts[-1] == 16 * 16 + 32 * 32


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_full_disk_stops_the_work(folder, monkeypatch, number):
    def full(path, content):
        raise OSError(f"Cannot write {path}.") from OSError(number, "full")

    monkeypatch.setattr(module, "write_content", full)
    jobs = plan_several(paths("photos"), Path("clean"), None, False)
    assert [outcome.job.source.name for outcome in denoise_files(jobs, FAST)] == ["a.png"]


def test_results_that_cannot_be_written_are_refused_before_the_work(folder):
    with pytest.raises(OSError, match=r"Cannot write out\.xbm: cannot write mode L as XBM"):
        open_noisy(plan_one(Path("photos/a.png"), Path("out.xbm"), None, False))
    Image.fromarray(np.ones((8, 9000), np.uint8)).save("wide.png")
    job = plan_one(Path("wide.png"), Path("wide.webp"), Path("both.webp"), False)
    with pytest.raises(
        ValueError, match=r"both\.webp: WEBP holds at most 16,383 pixels a side, the pic.* 18,000"
    ):
        open_noisy(job)


def test_memory_is_reckoned_with_what_denoising_takes(folder, monkeypatch):
    monkeypatch.setattr(picture_files, "_physical_memory", lambda: 20 * 16 * 16)
    job = plan_one(Path("photos/a.png"), Path("out.png"), None, False)
    with pytest.raises(ValueError, match=r"a\.png has 16 x 16 pixels, which take about .* cut it into parts"):
        open_noisy(job)
    monkeypatch.setattr(picture_files, "_physical_memory", lambda: 50 * 16 * 16)
    assert open_noisy(job).picture.pixels.shape == (16, 16)


def test_picture_without_noise_stays_as_it_is(folder):
    flat = np.full((20, 20), 7, np.uint8)
    Image.fromarray(flat).save("flat.png")
    noisy = open_noisy(plan_one(Path("flat.png"), Path("out.png"), None, False))
    assert (noisy.facts.sigma, noisy.facts.estimated) == (0.0, True)
    module.denoise_file(noisy, Settings())
    with Image.open("out.png") as picture:
        np.testing.assert_array_equal(np.asarray(picture), flat)
