import re
from pathlib import Path

import pytest
from PIL import Image

from sedil.file_jobs.job_planning import FileJob, plan_one, plan_several


def paths(*names):
    return [Path(name) for name in names]


def test_one_file_goes_to_the_name_or_into_the_folder_given(folder_of_two):
    source = Path("photos/a.png")
    assert plan_one(source, Path("out.png"), None, False) == FileJob(source, Path("out.png"), None)
    Path("clean").mkdir()
    Path("both").mkdir()
    assert plan_one(source, Path("clean"), Path("both"), False).outputs == paths("clean/a.png", "both/a.png")


def test_several_files_keep_their_names_in_a_new_folder(folder_of_two):
    jobs = plan_several(paths("photos/b.png", "photos/a.png"), Path("clean"), None, False)
    assert [job.target for job in jobs] == paths("clean/b.png", "clean/a.png")
    assert list(Path("clean").iterdir()) == []


def test_folders_and_files_are_mixed(folder_of_two):
    Image.new("L", (9, 9)).save("c.png")
    (folder_of_two / "photos/sub").mkdir()
    Image.new("L", (9, 9)).save("photos/sub/d.png")
    Image.new("L", (9, 9)).save("photos/.hidden.png")
    jobs = plan_several(paths("photos", "c.png"), Path("clean"), Path("both"), False)
    assert [job.source.name for job in jobs] == ["a.png", "b.png", "d.png", "c.png"]
    assert [job.target for job in jobs] == paths(
        "clean/a.png", "clean/b.png", "clean/sub/d.png", "clean/c.png"
    )
    assert jobs[2].comparison == Path("both/sub/d.png")
    assert Path("both").is_dir()


@pytest.mark.parametrize(
    ("given", "output", "compare", "message"),
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
        (
            ["photos"],
            "x.png",
            None,
            "x.png looks like a file: several pictures go into a folder, which comes last: name it x, for",
        ),
        (["photos"], "clean", "both.tif", "both.tif looks like a file: comparisons of several pictures go"),
        (["photos"], "clean", "a.txt", "a.txt is a file: comparisons of several pictures go into a folder."),
        (["empty"], "clean", None, "The folder empty holds no images"),
    ],
)
def test_paths_that_will_not_do_are_refused_before_the_work(folder_of_two, given, output, compare, message):
    Path("a.txt").touch()
    Path("empty").mkdir()
    Path("full").mkdir()
    for name in ("a.png", "b.png"):
        Path("full", name).touch()
    with pytest.raises(OSError, match=re.escape(message)):
        plan_several(paths(*given), Path(output), compare and Path(compare), False)


def test_noisy_pictures_are_never_overwritten(folder_of_two):
    Path("links").mkdir()
    Path("links/b.png").symlink_to(folder_of_two / "photos/b.png")
    with pytest.raises(FileExistsError, match=r"links/b\.png is the noisy picture itself"):
        plan_several(paths("photos"), Path("links"), None, True)
    with pytest.raises(FileExistsError, match=r"links/b\.png is the noisy picture itself"):
        plan_one(Path("photos/b.png"), Path("out.png"), Path("links/b.png"), True)


def test_result_and_comparison_of_one_file_have_different_names(folder_of_two):
    with pytest.raises(FileExistsError, match=r"out\.png would be both the result and the comparison"):
        plan_one(Path("photos/a.png"), Path("out.png"), Path("photos/../out.png"), True)


def test_existing_files_are_replaced_if_that_is_wanted(folder_of_two):
    Path("out.png").touch()
    assert plan_one(Path("photos/a.png"), Path("out.png"), None, True).target == Path("out.png")


def test_folder_that_exists_may_be_called_like_a_file(folder_of_two):
    Path("x.png").mkdir()
    jobs = plan_several(paths("photos"), Path("x.png"), None, False)
    assert jobs[0].target == Path("x.png/a.png")


def test_results_inside_the_folder_are_not_taken_for_pictures(folder_of_two):
    for _ in range(2):
        jobs = plan_several(paths("photos"), Path("photos/clean"), Path("photos/both"), True)
        assert [job.source for job in jobs] == paths("photos/a.png", "photos/b.png")
        for path in jobs[0].outputs:
            path.touch()


def test_pictures_of_one_name_in_different_folders_stay_apart(folder_of_two):
    Path("photos/sub").mkdir()
    Image.new("L", (9, 9)).save("photos/sub/a.png")
    jobs = plan_several(paths("photos"), Path("clean"), None, False)
    assert [job.target for job in jobs] == paths("clean/a.png", "clean/b.png", "clean/sub/a.png")


@pytest.mark.parametrize("force", [False, True])
def test_result_before_the_picture_is_told_apart_from_a_result_that_exists(folder_of_two, force):
    with pytest.raises(
        FileNotFoundError, match=r"no file clean\.png, but photos/a\.png is there: IN comes first"
    ):
        plan_one(Path("clean.png"), Path("photos/a.png"), None, force)
