"""Running, resuming, interrupting and reporting, with a study that costs nothing."""

from typing import NamedTuple

import pytest

import sedil
from pseudo_terminal import on_a_terminal
from sedil_studies.harness.learned import learned_once, weights_for_unit_patches
from sedil_studies.harness.meter import meter
from sedil_studies.harness.method import Method
from sedil_studies.harness.row_kind import RowKind
from sedil_studies.harness.running import Ran, Study, Written, carry_out
from sedil_studies.harness.tables import markdown_table


class NumberRow(NamedTuple):
    number: int
    square: float
    settings: str


KIND = RowKind(NumberRow, cell=("number",), made_with=("settings",))


def study(path, numbers, method):
    return Study(
        "square",
        path,
        KIND,
        [KIND.planned(number=number, settings=method.settings) for number in numbers],
        lambda row: method,
        lambda row, square: row._replace(square=square(row.number)),
        words=lambda row: f"number {row.number}",
    )


def square(number):
    return float(number**2)


def test_rows_are_added_and_counted(tmp_path):
    told = []
    method = Method.at_hand("plain", square)
    path = tmp_path / "squares.csv"
    assert str(study(path, [1, 2], method).run()) == "2 squares"
    ran = study(path, [1, 2, 3], method).run(lambda *what: told.append(what))
    assert str(ran) == f"1 square; 2 were in {path} already"
    assert KIND.read(path) == [(1, 1.0, "plain"), (2, 4.0, "plain"), (3, 9.0, "plain")]
    assert told == [(0, 1, "getting ready: plain"), (0, 1, "number 3"), (1, 1, "done")]
    assert str(study(path, [1], method).run()) == f"nothing: all was in {path} already"
    assert str(Ran("square", path, 4, 1)) == f"4 squares; 1 was in {path} already"


def test_method_is_made_ready_once_and_only_if_it_is_needed(tmp_path):
    n_made = []

    def prepare(show):
        n_made.append(1)
        return square

    path = tmp_path / "squares.csv"
    study(path, [1, 2, 3], Method("learned", prepare)).run()
    assert len(n_made) == 1
    study(path, [1, 2, 3], Method("learned", prepare)).run()
    assert len(n_made) == 1


def test_interrupted_study_reports_on_what_is_done(tmp_path):
    def give_up(number):
        if number == 3:
            raise KeyboardInterrupt
        return square(number)

    path = tmp_path / "squares.csv"
    interrupted = study(path, [1, 2, 3, 4], Method.at_hand("plain", give_up))
    reported = []

    def report(finished):
        reported.append((finished, len(KIND.read(path))))
        return Written([("results", path)])

    summary = carry_out(lambda show: [interrupted.run(show)], report)
    assert not summary.finished
    assert summary.ran == ()
    assert reported == [(False, 2)]


def test_notes_are_told_on_standard_error_before_the_run(capsys):
    def run(show):
        assert capsys.readouterr() == ("", "bm3d is left out.\n")
        return []

    assert carry_out(run, lambda finished: Written(), ["bm3d is left out."]).finished


WORK = """
from sedil_studies.harness.meter import meter
with meter() as show:
    show(1, 3, "first [of] three")
    show(3, 3, "done")
"""


def test_bar_is_shown_on_standard_error_alone():
    shown, redirected = on_a_terminal("-c", WORK, stdout_redirected=True)
    assert "100%" in shown
    assert redirected == ""


def test_nothing_is_written_where_standard_error_is_redirected(capsys):
    with meter() as show:
        show(1, 3, "first [of] three")
        show(3, 3, "done")
    assert capsys.readouterr() == ("", "")


def test_without_work_there_is_no_bar(capsys):
    with meter():
        pass
    assert capsys.readouterr() == ("", "")


def test_dictionary_is_learned_anew_for_another_recipe(tmp_path):
    learned = []

    def learn():
        learned.append(1)
        return sedil.odct((4, 4), 6)

    for recipe in ([1, "a"], [1, "a"], [2, "a"], [2, "a"]):
        learned_once(tmp_path / "dictionary.npz", recipe, learn)
    assert len(learned) == 2


def test_weights_are_those_of_the_paper_times_what_was_chosen():
    weights = weights_for_unit_patches(4.0, 0.3, 64, (16, 16))
    assert weights == {"sparsity_scale": 256, "sparsity_weight": 1 / 256, "coherence_weight": 0.3 / 240}


@pytest.mark.parametrize(("texts", "rule"), [(None, "--- | ---"), (0, "---: | ---:"), (1, "--- | ---:")])
def test_markdown_tables(texts, rule):
    assert markdown_table(["a", "b|c"], [["1", "2"]], texts) == f"| a | b\\|c |\n| {rule} |\n| 1 | 2 |"
