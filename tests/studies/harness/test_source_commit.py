"""The commit of the code, in checkouts made for the test."""

import subprocess

import pytest

import sedil
from sedil_studies.harness.denoising_rows import DENOISING
from sedil_studies.harness.source_commit import commits_in_words, source_commit


@pytest.fixture
def module(tmp_path):
    """A module in a checkout of its own, and a results file beside it."""
    file = tmp_path / "checkout/src/package/module.py"
    file.parent.mkdir(parents=True)
    file.write_text("x = 1\n")
    (tmp_path / "checkout/results.csv").write_text("a\n")
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
        git(file, *words)
    source_commit.cache_clear()
    return file


def git(file, *words):
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    done = subprocess.run(
        ["git", *who, *words], cwd=file.parents[2], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_commit_is_that_of_the_checkout(module):
    assert git(module, "rev-parse", "HEAD").startswith(source_commit(module))
    assert len(source_commit(module)) == 12


def test_results_that_are_written_change_no_code_and_code_does(module):
    (module.parents[2] / "results.csv").write_text("b\n")
    clean = source_commit(module)
    assert not clean.endswith("-dirty")
    source_commit.cache_clear()
    (module.parent / "other.py").write_text("")
    assert source_commit(module) == f"{clean}-dirty"


def test_package_installed_inside_another_checkout_has_a_version(module):
    installed = module.with_name("installed.py")
    installed.write_text("")
    assert source_commit(installed) == f"sedil {sedil.__version__}"


def test_package_without_git_has_a_version(module, monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert source_commit(module) == f"sedil {sedil.__version__}"


def test_planned_rows_know_the_commit():
    assert DENOISING.planned(image="lena").commit == source_commit()


def test_commits_are_counted():
    words = commits_in_words(["a1", "", "b2", "a1"])
    assert words == "Code: a1 (2 rows), b2 (1 row). 1 row from before commits were written down."
    assert commits_in_words(["a1"]) == "Code: a1 (1 row)."
