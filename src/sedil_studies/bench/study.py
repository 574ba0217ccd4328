"""The benchmark, run and reported: each case is written as soon as it is there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from sedil.engines.threads import thread_count
from sedil.files import make_folder
from sedil.terminal import complaints
from sedil_studies.bench.catalogue import CASES
from sedil_studies.bench.machine import complaint, held_to, machine_facts
from sedil_studies.bench.report import bar_table, load_results, write_report
from sedil_studies.bench.results import CaseResult, save_result
from sedil_studies.bench.setting import Setting
from sedil_studies.bench.timing import Tell
from sedil_studies.harness.meter import Show
from sedil_studies.harness.running import Ran, Summary, Written, carry_out


def measure(
    cases: Sequence[str] | None,
    output: Path,
    *,
    quick: bool = False,
    data: Path | None = None,
    threads: int | None = None,
) -> Summary:
    """Measure some cases, by default all, and report on all in the folder, as ``sedil bench`` says."""
    make_folder(output, parents=True)
    names = list(cases or CASES)
    setting = Setting(thread_count(threads), quick, data)
    measured: list[tuple[str, Path]] = []

    def run(show: Show) -> list[Ran]:
        with held_to(setting.threads):
            for done, name in enumerate(names):
                result = _measured(name, setting, partial(show, done, len(names)))
                measured.append(("measured", save_result(result, output)))
        show(len(names), len(names), "done")
        return []

    def report(finished: bool) -> Written:
        results = [result for result in load_results(output) if result.case in names]
        if not results:
            return Written(measured)
        notes = [f"{result.case}: {note}" for result in results for note in result.outcome.notes]
        return Written([*measured, ("report", write_report(output))], bar_table(results), notes)

    notes = ["no --data: the pictures are those of scikit-image"] if data is None else []
    return carry_out(run, report, notes)


def _measured(name: str, setting: Setting, tell: Tell) -> CaseResult:
    setting = setting._replace(tell=lambda words: tell(f"{name}: {words}"))
    setting.tell("the machine")
    facts = machine_facts(setting.threads)
    sentence = complaint(facts, setting.threads)
    if sentence:
        complaints.print(f"{name}: {sentence}")
    return CaseResult(name, setting.quick, setting.threads, facts, CASES[name].run(setting))
