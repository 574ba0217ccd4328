"""What a case leaves behind comes back as it was; bars are met or not."""

from math import nan

import pytest

from sedil_studies.bench.results import (
    Bar,
    CaseResult,
    Findings,
    Measurement,
    load_result,
    save_result,
    speed_bar,
)

OURS = Measurement("sedil", (1.0, 3.0, 2.0), "sedil 1", 8, 1.0, 2**20, {"PSNR": 32.1})
PEER = Measurement("peer", (8.0,), "peer 2", share=0.5)
REPORT = CaseResult(
    "coding",
    True,
    2,
    {"cpu": "abacus", "packages": {}},
    Findings("lena", [OURS, PEER], [Bar("x", 4, 3)], ["hm"]),
)


def test_report_comes_back_as_it_was(tmp_path):
    path = save_result(REPORT, tmp_path)
    assert path == tmp_path / "coding.json"
    assert load_result(path) == REPORT


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"format": "sedil bench 1"}', '{"format": "sedil bench 2"}']
)
def test_other_file_is_refused(tmp_path, content):
    path = tmp_path / "coding.json"
    path.write_text(content)
    with pytest.raises(
        ValueError, match=r"coding\.json is not a results file of this version of sedil bench"
    ):
        load_result(path)


@pytest.mark.parametrize(
    ("value", "at_least", "met"),
    [(3.0, True, True), (2.9, True, False), (3.0, False, True), (3.1, False, False), (nan, True, False)],
)
def test_bar(value, at_least, met):
    assert Bar("", value, 3, at_least).met is met


def test_speed_bar_compares_the_fastest_by_their_medians():
    slower = Measurement("slower", (9.0, 1.0, 9.0), "sedil 1")
    (bar,) = speed_bar("times", [slower, OURS], [PEER], 3)
    assert (bar.value, bar.met) == (4, True)


def test_speed_bar_without_peer_is_none_and_without_ours_is_missed():
    assert speed_bar("times", [OURS], [], 3) == []
    (bar,) = speed_bar("times", [], [PEER], 3)
    assert not bar.met
