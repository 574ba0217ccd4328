"""Running a study: what its results file lacks, row by row, until it is done or interrupted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, NamedTuple

import numpy as np

from sedil.files import write_content, write_picture
from sedil.terminal import complaints, counted
from sedil_studies.harness.meter import Show, meter, silent
from sedil_studies.harness.method import Method, T
from sedil_studies.harness.row_kind import R, RowKind
from sedil_studies.harness.tables import Table


@dataclass(frozen=True)
class Study(Generic[R, T]):
    """One results file, and how it comes about.

    Attributes
    ----------
    thing : what a row stands for, such as "denoising"
    file : the results file
    kind : of its rows
    plan : all rows that are wanted, not measured yet
    method : of a row; those of rows that are to be run are made ready first, off the clock
    measure : runs a cell, from a planned row and its method to the row with its figures
    words : what is said of a cell while it runs
    work : how much work a cell is, in any unit
    """

    thing: str
    file: Path
    kind: RowKind[R]
    plan: Sequence[R]
    method: Callable[[R], Method[T]]
    measure: Callable[[R, T], R]
    words: Callable[[R], str]
    work: Callable[[R], int] = lambda row: 1

    def run(self, show: Show = silent) -> Ran:
        """Run what the results file does not hold yet, and add each row to it as soon as it is there."""
        there = {self.kind.identity(row) for row in self.kind.open(self.file)}
        waiting = [row for row in self.plan if self.kind.identity(row) not in there]
        for method in dict.fromkeys(map(self.method, waiting)):
            show(0, 1, f"getting ready: {method.settings}")
            method.ready(show)
        total, done = sum(map(self.work, waiting)), 0
        for row in waiting:
            show(done, total, self.words(row))
            self.kind.append(self.file, self.measure(row, self.method(row).ready()))
            done += self.work(row)
        if waiting:
            show(total, total, "done")
        return Ran(self.thing, self.file, len(waiting), len(self.plan) - len(waiting))


class Ran(NamedTuple):
    """How many rows of a file were run, and how many were there already."""

    thing: str
    file: Path
    n_run: int
    n_there: int

    def __str__(self) -> str:
        if self.n_run == 0:
            return f"nothing: all was in {self.file} already"
        ran = counted(self.n_run, self.thing)
        if self.n_there == 0:
            return ran
        return f"{ran}; {self.n_there:,} {'was' if self.n_there == 1 else 'were'} in {self.file} already"


class Written(NamedTuple):
    """What a report consists of.

    Attributes
    ----------
    files : what each is, and where
    table, notes : what of it is shown in the terminal
    """

    files: Sequence[tuple[str, Path]] = ()
    table: Table | None = None
    notes: Sequence[str] = ()


class Summary(NamedTuple):
    """What a study has to say at its end.

    Attributes
    ----------
    ran : what was run
    written : the report
    finished : False if the run was interrupted
    """

    ran: Sequence[Ran]
    written: Written
    finished: bool


def carry_out(
    run: Callable[[Show], Sequence[Ran]], report: Callable[[bool], Written], notes: Sequence[str] = ()
) -> Summary:
    """Run with a bar, then report; after Ctrl-C too, on what was done.

    Parameters
    ----------
    run : callable
        Runs all that is to be run; it is given a function that shows how far it is.
    report : callable
        Writes the report on the results files; it is told whether the run was finished.
    notes : sequence of str
        What is to be said before, such as which methods are left out.
    """
    for sentence in notes:
        complaints.print(sentence)
    ran: Sequence[Ran] = ()
    finished = False
    try:
        with meter() as show:
            ran = run(show)
        finished = True
    except KeyboardInterrupt:
        pass
    return Summary(ran, report(finished), finished)


def write_files(folder: Path, contents: Mapping[str, str | np.ndarray]) -> list[tuple[str, Path]]:
    """Write pages of text and pictures into a folder, each in one step; returns what each is, and where."""
    written = []
    for name, content in contents.items():
        if isinstance(content, str):
            write_content(folder / name, content.encode())
        else:
            write_picture(folder / name, content)
        written.append(("report" if isinstance(content, str) else "picture", folder / name))
    return written
