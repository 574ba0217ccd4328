"""The page and the pictures, from made-up measurements."""

from dataclasses import replace

import pytest
from PIL import Image

from sedil_studies.bench.cases import large, learning_time, scaling
from sedil_studies.bench.catalogue import CASES
from sedil_studies.bench.report import draw, load_results, markdown, write_report
from sedil_studies.bench.results import Bar, CaseResult, Findings, Measurement, save_result
from sedil_studies.bench.words import digits, duration

MACHINE = {
    "date": "2026-01-01 00:00 UTC",
    "cpu": "abacus",
    "cores": 2,
    "caches": "L1 32K",
    "memory_bytes": 2**34,
    "fma_peak_gflops": 200.0,
    "free_cores": 1.9,
    "load_before": 0.1,
    "sedil": "1",
    "commit": "abc",
    "python": "3.11",
    "packages": {"numpy": "2"},
    "blas": "openblas",
}


def measurement(name, seconds=(1.0, 1.2, 1.1), size=0.0, **options):
    return Measurement(name, tuple(seconds), "sedil 1", size, **options)


def over_sides(name, sides=(8, 16), power=2, **options):
    return [measurement(name, [1e-6 * side**power], side, **options) for side in sides]


MEASUREMENTS = {
    "coding": [measurement(name, size=size) for size in (1, 2) for name in ("sedil, FISTA", "spams.lasso")],
    "denoising": [measurement("sedil pursuit", figures={"PSNR": 32.126}), measurement("bm3d", share=0.5)],
    "cost": [measurement("sedil, fused engine"), measurement("JAX, jitted", [0.01])],
    "learning": [
        measurement(name, [seconds], figures={"PSNR": 30 + seconds / 100})
        for name in ("sedil.learn_minibatch", "spams.trainDL")
        for seconds in (1.0, 2.0, 9.0)
    ],
    "scaling": over_sides(scaling.SEPARABLE, power=3) + over_sides(scaling.UNSTRUCTURED, power=4),
    "large": over_sides("sedil quick", (512, 1024), peak_bytes=10**9),
    "peak": [
        measurement(name, [1e-11], size, figures={"GFLOP/s": speed, "share of the peak": speed / 200})
        for name, size, speed in (("multiply-adds alone", 0, 200.0), ("sedil.sparse_code, 8x8", 8, 60.0))
    ],
    "switch": over_sides("fused engine") + over_sides("portable, threads of BLAS", power=1.5),
}


def report(case, quick=False):
    bars = [Bar("times faster than a snail", 4.26, 3), Bar("GB at the peak", 2, 1.5, at_least=False)]
    return CaseResult(
        case, quick, 2, MACHINE, Findings("lena, 512x512", MEASUREMENTS[case], bars, ["A note."])
    )


def test_every_case_has_made_up_measurements():
    assert set(MEASUREMENTS) == set(CASES)


@pytest.mark.parametrize("case", CASES)
def test_every_case_is_drawn(case, tmp_path):
    draw(report(case), tmp_path / "picture.png")
    with Image.open(tmp_path / "picture.png") as picture:
        assert min(picture.size) > 200


def test_page_tells_bars_machine_and_measurements():
    page = markdown([report("denoising"), report("scaling", quick=True)])
    for line in (
        "| denoising | 4.26 times faster than a snail | at least 3 | met |",
        "| scaling (quick) | 2 GB at the peak | at most 1.5 | missed |",
        "## Denoising\n",
        "## Separable against unstructured (quick)",
        "On lena, 512x512; 2 threads.",
        "| contestant | median | from | to | runs | PSNR | package |",
        "| sedil pursuit | 1.1 s | 1 s | 1.2 s | 3 | 32.13 | sedil 1 |",
        "| separable | 8 | 512 µs | 512 µs | 512 µs | 1 | sedil 1 |",
        "- A note.",
        "![Denoising](denoising.png)",
        "abacus, 2 cores, L1 32K | 16 GiB | 200 | 1.9 | 0.1 | sedil 1, commit abc, Python 3.11, numpy 2, ",
    ):
        assert line in page


def test_quick_cases_are_marked():
    assert "Cases marked quick ran on small sizes" in markdown([report("scaling", quick=True)])
    assert "quick" not in markdown([report("scaling")])


def test_shared_cores_are_complained_of():
    busy = replace(report("coding"), machine={**MACHINE, "free_cores": 1.02})
    sentence = (
        "**coding: 2 threads multiply and add only 1.02 times as fast as one: something else is running"
    )
    assert sentence in markdown([busy, report("cost")])
    assert "worthless" not in markdown([report("coding"), replace(busy, threads=1)])


def test_folder_holds_page_and_pictures(tmp_path):
    for case in ("switch", "coding"):
        save_result(report(case), tmp_path)
    assert [each.case for each in load_results(tmp_path)] == ["coding", "switch"]
    assert write_report(tmp_path) == tmp_path / "report.md"
    assert {path.name for path in tmp_path.glob("*.png")} == {"coding.png", "switch.png"}


def test_arrival_is_the_first_look_that_stays_near_the_end():
    def path(*qualities):
        return [measurement("x", [k + 1.0], figures={"PSNR": psnr}) for k, psnr in enumerate(qualities)]

    assert learning_time.arrival(path(30.0, 30.5, 30.2, 30.46, 30.5)) == 4
    assert learning_time.arrival(path(30.49, 30.5)) == 1
    assert learning_time.arrival(path(29.0, 30.5)) == 2


def test_gain_and_exponent_come_from_the_medians():
    assert scaling.gains(MEASUREMENTS["scaling"]) == pytest.approx({8: 8, 16: 16})
    assert large.exponent(over_sides("x", (512, 1024, 2048), power=2.2)) == pytest.approx(1.1)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0123, "12.3 ms"),
        (61.234, "61.2 s"),
        (123.4, "123 s"),
        (2e-6, "2 µs"),
        (3.2e-9, "3.2 ns"),
        (0, "0 ns"),
    ],
)
def test_durations(seconds, words):
    assert duration(seconds) == words


def test_digits():
    assert [digits(value) for value in (1234567.0, 1234.4, 0.05, 1e-7)] == [
        "1.2e+06",
        "1,234",
        "0.05",
        "1.0e-07",
    ]
