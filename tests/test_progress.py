"""Progress: nothing, a bar on standard error, or a function of the caller."""

import subprocess
import sys
import types

import pytest

from pseudo_terminal import on_a_terminal
from sedil.progress import Progress, bar, reporting


def test_nothing_is_said_unless_it_is_asked_for(capfd):
    with reporting(False, "working") as report:
        assert report(Progress(1, 2, "steps")) is None
    assert capfd.readouterr() == ("", "")


def test_function_of_the_caller_is_told_and_may_answer():
    told = []
    with reporting(lambda progress: told.append(progress) or True, "working") as report:
        assert report(Progress(1, 2, "steps")) is True
    assert told == [Progress(1, 2, "steps", None, None)]


@pytest.mark.parametrize(("progress", "words"), [(None, "None"), (1, "an int"), ("yes", "a str")])
def test_anything_else_is_refused(progress, words):
    with (
        pytest.raises(TypeError, match=f"progress must be True, False or a function .* got {words}"),
        reporting(progress, "working"),
    ):
        pass


@pytest.mark.parametrize("colour", [{}, {"FORCE_COLOR": "1"}])
def test_bar_writes_nothing_into_redirected_output(capfd, monkeypatch, colour):
    for name, value in colour.items():
        monkeypatch.setenv(name, value)
    with reporting(True, "working") as report:
        report(Progress(1, 2, "steps"))
    assert capfd.readouterr() == ("", "")


def test_low_in_the_layers():
    program = "import sys, sedil.progress; print([m for m in sys.modules if m.startswith(('sedil', 'rich'))])"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "['sedil', 'sedil.errors', 'sedil.progress']"


WORK = """
from types import SimpleNamespace
from sedil.progress import Progress, reporting
with reporting(True, "learning") as report:
    report(Progress(3, 10, "iterations", SimpleNamespace(objective=1.25)))
    print("meanwhile")
"""


def test_bar_on_a_terminal_is_full_at_the_end_and_shows_the_cost():
    screen, _ = on_a_terminal("-c", WORK)
    last = [line for line in screen.splitlines() if "learning" in line][-1]
    for words in ("100%", "3 iterations, cost 1.25"):
        assert words in last
    assert last.rstrip().endswith("left")  # after the time that is left, not before
    assert "meanwhile" in screen


def test_bar_is_on_standard_error_and_leaves_redirected_output_alone():
    screen, redirected = on_a_terminal("-c", WORK, stdout_redirected=True)
    assert "100%" in screen
    assert redirected == "meanwhile\n"


def test_bar_has_no_colours_where_they_are_not_wanted():
    assert "\x1b[3" in on_a_terminal("-c", WORK)[0]
    assert "\x1b[3" not in on_a_terminal("-c", WORK, NO_COLOR="1")[0]


def test_bar_is_not_full_after_an_error():
    program = WORK.replace('print("meanwhile")', "raise ValueError") + "\n"
    screen, _ = on_a_terminal("-c", program)
    assert " 30%" in screen
    assert "100%" not in screen


def test_bar_in_a_notebook_needs_nothing_but_the_notebook(monkeypatch):
    drawn = []

    class Handle:
        def update(self, table):
            drawn.append(table)

    def display(table, display_id):
        drawn.append(table)
        return Handle()

    notebook = types.ModuleType("IPython.display")
    notebook.display = display
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", notebook)
    from rich.console import Console

    with bar("learning", Console(force_jupyter=True)) as show:
        show(Progress(3, 10, "iterations"))
    assert len(drawn) == 2  # the start and the end; what comes soon after another is left out
    text = Console(width=100, color_system=None)
    with text.capture() as captured:
        text.print(drawn[-1])
    assert "learning" in captured.get()
    assert "100%" in captured.get()
    assert "3 iterations" in captured.get()
