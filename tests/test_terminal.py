import pytest
import typer

from sedil.terminal import clear_errors, complain, counted


@pytest.mark.parametrize("error", [ValueError, TypeError, OSError, MemoryError])
def test_expected_error_is_one_sentence_and_exit_code_1(error, capsys):
    with pytest.raises(typer.Exit) as stopped, clear_errors():
        raise error("There is no [b]file[/b] :cat:.")
    assert stopped.value.exit_code == 1
    assert tuple(capsys.readouterr()) == ("", "error: There is no [b]file[/b] :cat:.\n")


def test_memory_that_runs_out_has_a_sentence_too(capsys):
    with pytest.raises(typer.Exit), clear_errors():
        raise MemoryError
    assert capsys.readouterr().err == "error: There is not enough memory.\n"


def test_bug_is_shown_whole():
    with pytest.raises(ZeroDivisionError), clear_errors():
        _ = 1 // 0


def test_complaint_begins_with_what_it_is_about(capsys):
    complain("failed:", ValueError("It is damaged."), before="a.png  ")
    assert capsys.readouterr().err == "a.png  failed: It is damaged.\n"


def test_counts_are_singular_or_plural():
    assert counted(1, "image") == "1 image"
    assert counted(2000, "image") == "2,000 images"
    assert counted(0, "patch", "patches") == "0 patches"
