"""Attacks in child processes: cases are numbered and counted, crashes and hangs seen, all can be replayed.

A campaign makes a case from two numbers, the seed of the run and the number of the case, and nothing else.
"""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import signal
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple, Protocol

# Where each campaign is: a module of this package with a `CAMPAIGN`.
CAMPAIGNS = {name: f"fuzz.{name}" for name in ("api", "bounds", "dask", "indices", "files", "kills")}

_SECONDS_TO_START = 120.0  # imports, and kernels that are compiled
_SECONDS_BETWEEN_REPORTS = 0.5
_MOST_BYTES = 16 * 2**30  # that a child may ask for: what takes more ends in MemoryError, not the machine


class Finding(NamedTuple):
    """What is wrong: `kind` is the same for all cases of one fault, `words` tell of this one."""

    kind: str
    words: str


class Outcome(NamedTuple):
    """How a case ended: `label` is what is counted; without findings all is well."""

    label: str
    findings: tuple[Finding, ...] = ()


class Campaign(Protocol):
    """One way to attack."""

    seconds_per_case: float

    def prepare(self) -> None:
        """What a child does once, before its first case."""

    def attack(self, seed: int, case: int) -> Outcome:
        """Do a case and judge it."""

    def describe(self, seed: int, case: int) -> str:
        """The case in words, without doing it: it may have crashed."""


@dataclass
class Report:
    """What a run has found.

    Attributes
    ----------
    n_cases : int
    labels : Counter
        How often a case ended in which way.
    findings : dict
        For each kind of finding its cases, each with its words.
    """

    n_cases: int = 0
    labels: Counter[str] = field(default_factory=Counter)
    findings: dict[str, list[tuple[int, str]]] = field(default_factory=dict)

    def add(self, case: int, finding: Finding) -> None:
        """One more finding."""
        self.findings.setdefault(finding.kind, []).append((case, finding.words))

    def as_text(self, examples: int = 2) -> str:
        """Counts, then each kind of finding with its first cases."""
        lines = [f"{count:9,}  {label}" for label, count in sorted(self.labels.items())]
        for kind, cases in sorted(self.findings.items(), key=lambda item: -len(item[1])):
            lines.append(f"\n{len(cases):,} x {kind}")
            lines += [f"  case {case}: {words}" for case, words in cases[:examples]]
        return "\n".join(lines)


def load_campaign(name: str) -> Campaign:
    """The campaign of that name, or of a module."""
    return import_module(CAMPAIGNS.get(name, name)).CAMPAIGN


def run(
    name: str,
    n_cases: int,
    seed: int,
    *,
    first: int = 0,
    workers: int = 1,
    seconds: float | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> Report:
    """Do cases of a campaign in child processes, until all are done, `seconds` are over, or Ctrl-C."""
    began, report, told = time.monotonic(), Report(), 0.0
    known: set[str] = set()
    children = [_Child(name, seed, range(first + k, first + n_cases, workers)) for k in range(workers)]
    try:
        while any(not child.is_done for child in children):
            time.sleep(0.05)
            elapsed = time.monotonic() - began
            if seconds is not None and elapsed > seconds:
                break
            for child in children:
                child.look(report)
            for kind in sorted(set(report.findings) - known):
                tell(f"case {report.findings[kind][0][0]}: {kind}")
            known = set(report.findings)
            if elapsed > told + 30:
                told = elapsed
                done = sum(child.n_done for child in children)
                tell(f"{done:,} cases, {done / elapsed:.0f} a second, {len(known)} kinds of finding")
    except KeyboardInterrupt:
        tell("interrupted")
    finally:
        for child in children:
            child.stop(report)
    report.n_cases = sum(child.n_done for child in children)
    return report


class _Child:
    """One process that does some cases, and another in its place if it comes to an end before it is done."""

    def __init__(self, name: str, seed: int, cases: range) -> None:
        self._name, self._seed, self._cases = name, seed, cases
        self._limit = load_campaign(name).seconds_per_case
        self.n_done = 0
        self.is_done = not cases
        if cases:
            self._start(cases)

    def _start(self, cases: range) -> None:
        context = multiprocessing.get_context("spawn")
        # The place of the case under way among all, and when it began.
        self._clock = context.RawArray("d", [cases.start, time.monotonic() + _SECONDS_TO_START])
        self._pipe, other = context.Pipe(duplex=False)
        with tempfile.NamedTemporaryFile(prefix="fuzz-", suffix=".trace", delete=False) as trace:
            self._trace = Path(trace.name)
        arguments = (self._name, self._seed, cases, other, self._clock, str(self._trace))
        self._process = context.Process(target=_work, args=arguments, daemon=True)
        self._process.start()
        other.close()

    def look(self, report: Report) -> None:
        """Hear what the process has to say, and see whether it still lives."""
        if self.is_done:
            return
        late = time.monotonic() - self._clock[1] > self._limit
        alive = self._process.is_alive()
        for message in self._messages():
            self._hear(message, report)
        if self.is_done or (alive and not late):
            return
        case = int(self._clock[0])
        if not alive and self._clock[1] > time.monotonic():
            raise RuntimeError(f"A child never came to its first case.\n{self._trace.read_text()}")
        if alive:
            os.kill(self._process.pid, signal.SIGABRT)  # which writes down where it is
            self._process.join(5)
            self._process.kill()
        self._process.join()
        code = self._process.exitcode
        what = f"no end after {self._limit:g} s" if alive else f"the process ended with {_name_of(code)}"
        words = load_campaign(self._name).describe(self._seed, case)
        report.add(case, Finding(what, f"{words}\n{_shortened(self._trace.read_text())}"))
        self._clean()
        rest = self._cases[self._cases.index(case) + 1 :]
        self.n_done = self._cases.index(case) + 1
        self.is_done = not rest
        if rest:
            self._start(rest)

    def stop(self, report: Report) -> None:
        """End the process, wherever it is."""
        if not self.is_done:
            for message in self._messages():
                self._hear(message, report)
            self._process.kill()
            self._process.join()
            self._clean()

    def _messages(self) -> list[Any]:
        messages = []
        with suppress(EOFError):
            while self._pipe.poll():
                messages.append(self._pipe.recv())
        return messages

    def _hear(self, message: tuple[str, Any], report: Report) -> None:
        kind, content = message
        if kind == "finding":
            report.add(*content)
        elif kind == "labels":
            report.labels.update(content)
            self.n_done = self._cases.index(int(self._clock[0])) if int(self._clock[0]) in self._cases else 0
        else:
            self.n_done, self.is_done = len(self._cases), True
            self._process.join()
            self._clean()

    def _clean(self) -> None:
        self._pipe.close()
        self._trace.unlink(missing_ok=True)


def _work(name: str, seed: int, cases: range, pipe: Connection, clock: Any, trace: str) -> None:
    """What a child does."""
    faulthandler.enable(open(trace, "w"))  # noqa: SIM115
    _limit_memory()
    campaign = load_campaign(name)
    campaign.prepare()
    labels: Counter[str] = Counter()
    told = time.monotonic()
    for case in cases:
        clock[0], clock[1] = case, time.monotonic()
        outcome = _outcome(campaign, seed, case)
        labels[outcome.label] += 1
        for finding in outcome.findings:
            pipe.send(("finding", (case, finding)))
        if time.monotonic() > told + _SECONDS_BETWEEN_REPORTS:
            pipe.send(("labels", labels))
            labels, told = Counter(), time.monotonic()
    pipe.send(("labels", labels))
    pipe.send(("done", None))


def _outcome(campaign: Campaign, seed: int, case: int) -> Outcome:
    """How a case ended; a fault in the campaign is told as well."""
    try:
        return campaign.attack(seed, case)
    except Exception:
        return Outcome("the campaign failed", (Finding("the campaign failed", traceback.format_exc()),))


def _limit_memory() -> None:
    with suppress(ImportError, ValueError, OSError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, hard))


def _name_of(code: int | None) -> str:
    if code is not None and code < 0:
        with suppress(ValueError):
            return signal.Signals(-code).name
    return f"exit status {code}"


def _shortened(trace: str, n_lines: int = 25) -> str:
    lines = trace.splitlines()
    return "\n".join(lines[:n_lines] + (["..."] if len(lines) > n_lines else []))
