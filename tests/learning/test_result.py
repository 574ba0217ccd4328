import numpy as np
import pytest

import sedil
from random_things import training_patches
from sedil.learning.result import History, Record


@pytest.fixture(scope="module")
def result():
    return sedil.learn(training_patches(20, (3, 3)), (4, 5), max_iterations=6, warm_up=0, random_state=0)


def test_history_has_a_column_for_each_field_and_a_record_for_each_iteration(result):
    assert len(result.history) == result.n_iterations + 1 == 7
    for name in Record._fields:
        column = result.history[name]
        assert column.shape == (7,)
        assert [getattr(record, name) for record in result.history] == column.tolist()
    np.testing.assert_array_equal(result.history["iteration"], range(7))
    assert result.history[-1].iteration == 6


def test_unknown_column_lists_the_known_ones(result):
    with pytest.raises(KeyError, match=r"history has no column 'loss'; it has iteration, .*objective"):
        result.history["loss"]


def test_history_prints_its_length_and_columns(result):
    assert repr(result.history).startswith("<History of 7 records: iteration,")
    assert len(History()) == 0


def test_result_repeats_the_last_record(result):
    last = result.history[-1]
    assert result.objective == last.objective
    assert result.n_evaluations == last.n_evaluations
    assert result.seconds == last.seconds


def test_result_prints_what_a_person_wants_to_know(result):
    text = repr(result)
    assert "patches 3x3, atoms 4x5 = 20" in text
    assert f"{result.history[0].objective:.4g} -> {result.objective:.4g}" in text
    assert "iterations   6," in text
    assert "max_iterations reached" in text


def test_stop_reasons_are_sentences_and_compare_as_text():
    assert sedil.StopReason.ITERATIONS == "max_iterations reached"
    assert str(sedil.StopReason.PROGRESS) == "the progress function asked to stop"
    assert len({str(reason) for reason in sedil.StopReason}) == len(sedil.StopReason) == 9
