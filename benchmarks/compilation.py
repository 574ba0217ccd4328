"""How long Numba compiles for the first ``sedil demo`` on a machine: each run starts with an empty cache.

Usage: python benchmarks/compilation.py [--runs 7]
Writes results/compilation.csv: seconds of processor time of each function without those that it calls, the
median over the runs, and all of them together.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from statistics import median
from time import process_time

from numba.core import event
from rows import write_rows

from sedil.demo import run_demo


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("results/compilation.csv"))
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        compile_for_demo(arguments.child)
        return
    runs = [run_child() for _ in range(arguments.runs)]
    rows = [{"function": "all", **figures([sum(run.values()) for run in runs])}]
    rows += [{"function": name, **figures([run[name] for run in runs])} for name in runs[0]]
    rows.sort(key=lambda row: row["median"], reverse=True)
    write_rows(arguments.output, rows)
    print(rows[0])


def figures(seconds: list[float]) -> dict[str, float]:
    values = {"median": median(seconds), "from": min(seconds), "to": max(seconds)}
    return {name: round(value, 2) for name, value in values.items()}


def run_child() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--child", folder]
        environment = os.environ | {"NUMBA_CACHE_DIR": str(Path(folder) / "cache")}
        subprocess.run(command, env=environment, check=True, capture_output=True)
        return json.loads((Path(folder) / "seconds.json").read_text())


def compile_for_demo(folder: Path) -> None:
    clock = Clock()
    event.register("numba:compile", clock)
    run_demo(folder / "demo")
    (folder / "seconds.json").write_text(json.dumps(clock.seconds))


class Clock(event.Listener):
    """Seconds of each function, less those of the functions that were compiled meanwhile."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self._under_way: list[list[float]] = []

    def on_start(self, event: event.Event) -> None:
        self._under_way.append([process_time(), 0.0])

    def on_end(self, event: event.Event) -> None:
        began, of_others = self._under_way.pop()
        whole = process_time() - began
        function = event.data["dispatcher"].py_func
        self.seconds[f"{function.__module__}.{function.__qualname__}"] += whole - of_others
        if self._under_way:
            self._under_way[-1][1] += whole


if __name__ == "__main__":
    main()
