import pytest
import typer

from sedil.terminal import clear_errors, complain, console, counted, harmless


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


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain åß 雪 👩‍🔬\n\tend", "plain åß 雪 👩‍🔬\n\tend"),
        ("\x1b[2Jgone", r"\x1b[2Jgone"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("\x9b31m\r\b\x7f", r"\x9b31m\r\x08\x7f"),
        ("png.\u202egpj", r"png.\u202egpj"),
        ("\udce9", r"\udce9"),  # a byte of a file name that is not UTF-8
    ],
)
def test_what_a_terminal_would_obey_is_written_out(text, shown, capsys):
    assert harmless(text) == shown
    console.print(text)
    complain("failed:", ValueError(text), before=text)
    printed = capsys.readouterr()
    assert printed.out.expandtabs() == f"{shown}\n".expandtabs()
    assert printed.err.expandtabs() == f"{shown}failed: {shown}\n".expandtabs()


def test_error_of_the_system_is_told_without_its_number(tmp_path, capsys):
    with pytest.raises(typer.Exit), clear_errors():
        (tmp_path / ("d" * 300)).stat()
    assert capsys.readouterr().err.endswith("ddd: File name too long.\n")
