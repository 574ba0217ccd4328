"""`sedil bench` from the command line; every case runs, tiny."""

import pytest
from typer.testing import CliRunner

from sedil import cli
from sedil.commands.study_commands import CASES as NAMES
from sedil_studies.bench import machine, setting
from sedil_studies.bench.cases import large
from sedil_studies.bench.catalogue import CASES
from sedil_studies.bench.results import Bar, Findings, Measurement, load_result


@pytest.fixture(autouse=True)
def in_a_moment(monkeypatch):
    """Rates in a moment, and tiny sizes."""
    monkeypatch.setattr(machine, "_SECONDS", 1e-3)
    monkeypatch.setattr(setting, "_QUICK_SIDE", 32)
    monkeypatch.setattr(large, "_QUICK_SIDES", (48, 64))
    monkeypatch.setattr(setting.Setting, "choose", lambda self, full, quick: min(quick, 200))


@pytest.fixture
def fakes(monkeypatch):
    """Cases that take no time; those of the list were run."""
    ran = []

    def fake(name):
        def run(how):
            ran.append((name, how.threads, how.quick))
            how.tell("running")
            found = [Measurement("sedil", (1.0,), "sedil 1"), Measurement("peer", (4.0,), "peer 1")]
            return Findings("nothing", found, [Bar("times faster than a peer", 4, 3)], ["A note."])

        return CASES[name]._replace(run=run)

    for name in ("coding", "denoising", "cost"):
        monkeypatch.setitem(CASES, name, fake(name))
    return ran


def bench(*arguments):
    return CliRunner().invoke(cli.app, ["bench", *(str(argument) for argument in arguments)])


@pytest.mark.parametrize("name", CASES)
def test_every_case_runs(name, tmp_path):
    result = bench("--quick", "--cases", name, "--threads", 1)
    assert result.exit_code == 0, result.output
    assert f"measured     bench/{name}.json\n" in result.output
    report = load_result(tmp_path / f"bench/{name}.json")
    assert report.quick
    assert report.outcome.measurements
    assert (tmp_path / f"bench/{name}.png").exists()
    assert CASES[name].title in (tmp_path / "bench/report.md").read_text()


def test_cases_are_run_in_their_order_and_reported(fakes, tmp_path):
    result = bench("--cases", "cost, coding", "--threads", 1, "-o", "deep/er")
    assert result.exit_code == 0, result.output
    assert fakes == [("coding", 1, False), ("cost", 1, False)]
    for words in (
        "no --data: the pictures are those of scikit-image\n",
        "4 times faster than a peer",
        "coding: A note.\n",
        "report       deep/er/report.md\n",
    ):
        assert words in result.output


def test_second_run_keeps_the_other_cases(fakes, tmp_path):
    bench("--cases", "coding", "--threads", 1)
    result = bench("--cases", "cost", "--threads", 1)
    assert "coding" not in result.output
    page = (tmp_path / "bench/report.md").read_text()
    assert "## l1 coding" in page
    assert "## Value and gradient" in page


def test_interrupted_run_keeps_what_is_done(fakes, tmp_path, monkeypatch):
    def stop(how):
        raise KeyboardInterrupt

    monkeypatch.setitem(CASES, "denoising", CASES["denoising"]._replace(run=stop))
    result = bench("--cases", "coding,denoising", "--threads", 1)
    assert result.exit_code == 130
    assert "interrupted; cases that were done are kept\n" in result.output
    assert (tmp_path / "bench/report.md").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--cases", "coding,best"], "'best' is not one of coding, denoising,"),
        (["--threads", 0], "Invalid value for '--threads'"),
        (["-o", "file"], "file is a file: give the name of a folder."),
        (["--cases", "large", "--data", "nowhere"], "There is no test image in nowhere or nowhere/images"),
        (["--cases", "learning", "--data", "nowhere"], "There is no nowhere/images/train/couple.png, "),
        (["--cases", "coding", "-o", "old"], "old/cost.json is not a results file of this version"),
    ],
)
def test_mistakes_are_answered_with_one_sentence(fakes, tmp_path, complaint, arguments, message):
    (tmp_path / "file").write_text("")
    (tmp_path / "old").mkdir()
    (tmp_path / "old/cost.json").write_text("{}")
    result = bench(*arguments)
    assert message in complaint(result)


def test_help_names_all_cases():
    assert tuple(CASES) == NAMES


def test_bar_ends_at_100_percent_on_standard_error(fakes, monkeypatch):
    monkeypatch.setattr("sedil_studies.harness.meter.is_seen", lambda: True)
    result = bench("--cases", "coding,cost", "--threads", 1)
    assert "100%" in result.stderr
    assert "%" not in result.stdout
