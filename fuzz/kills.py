"""Processes that are killed, interrupted or out of disk while they learn, and resumed as if nothing had been.

Each run is a fork of one process in which everything is loaded, so that hundreds of kills take minutes.
"""

from __future__ import annotations

import os
import pickle
import random
import shutil
import signal
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.file_bases import training_patches
from fuzz.runner import Finding, Outcome

_SETTINGS: dict[str, dict[str, Any]] = {
    "fused": {"n_atoms": (6, 6), "max_iterations": 40, "warm_up": 10, "engine": "fused"},
    "portable": {"n_atoms": (4, 5), "max_iterations": 30, "warm_up": 5, "dtype": "float64"},
    "mini-batch": {"n_atoms": (4, 5), "batch_size": 10, "n_epochs": 3, "batch_iterations": 5},
}
_WAYS = ("SIGKILL", "SIGTERM", "Ctrl-C", "Ctrl-C twice", "full disk", "full disk and SIGKILL")
_OTHER_CASES = ("two writers", "two runs")
_SECONDS = 30.0  # after which a run hangs


class KillsCampaign:
    """A run that is ended up to three times at a random moment, then resumed to its end."""

    seconds_per_case = 120.0

    def prepare(self) -> None:
        """Learn without disturbance: what all others must come to, and how long that takes."""
        self._folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
        self._straight, self._times = {}, {}
        for name in _SETTINGS:
            _learn(name, self._folder / f"warm-{name}.npz")
            began = time.monotonic()
            self._straight[name] = _learn(name, self._folder / f"straight-{name}.npz")
            self._times[name] = time.monotonic() - began

    def describe(self, seed: int, case: int) -> str:
        """The kind of run and what befalls it."""
        rng = random.Random(f"{seed} {case}")
        kind = rng.choice((*_SETTINGS, *_SETTINGS, *_SETTINGS, *_OTHER_CASES))
        ways = [] if kind in _OTHER_CASES else [rng.choice(_WAYS) for _ in range(rng.choice((1, 1, 2, 3)))]
        return f"{kind}: {', '.join(ways)}"

    def attack(self, seed: int, case: int) -> Outcome:
        """Do as described."""
        words = self.describe(seed, case)
        kind, _, ways = words.partition(": ")
        rng = random.Random(f"{seed} {case} moments")
        folder = self._folder / str(case)
        folder.mkdir()
        try:
            wrong = (
                _write_together(folder, rng)
                if kind == "two writers"
                else self._learn_together(folder, rng)
                if kind == "two runs"
                else self._end_and_resume(kind, ways.split(", "), folder / "run.npz", rng)
            )
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return Outcome(kind, tuple(Finding(what, words) for what in wrong))

    def _end_and_resume(self, name: str, ways: list[str], path: Path, rng: random.Random) -> list[str]:
        for way in ways:
            room = rng.randrange(20_000) if "full disk" in way else None
            child = _fork(lambda room=room: _learn(name, path, room))
            time.sleep(rng.uniform(0, 1.2 * self._times[name]))
            for number in _signals(way):
                _send(child, number)
            if not _has_ended(child):
                return [f"no end after {way}"]
        child = _fork(lambda: path.with_suffix(".result").write_bytes(pickle.dumps(_learn(name, path))))
        if not _has_ended(child):
            return ["no end after it was resumed"]
        result = path.with_suffix(".result")
        if not result.exists():
            return ["it could not be resumed"]
        same = pickle.loads(result.read_bytes()) == self._straight[name]
        result.unlink()
        left = sorted(file.name for file in path.parent.iterdir())
        wrong = [] if same else ["the resumed run has another result"]
        return wrong + ([] if left == [path.name] else [f"files are left: {left}"])

    def _learn_together(self, folder: Path, rng: random.Random) -> list[str]:
        """Two runs write the same checkpoint, and one of them is killed."""
        path = folder / "run.npz"
        children = [_fork(lambda: _learn("fused", path)) for _ in range(2)]
        time.sleep(rng.uniform(0, 2 * self._times["fused"]))
        _send(children[0], signal.SIGKILL)
        if sum(map(_has_ended, children)) < len(children):
            return ["no end of two runs with one checkpoint"]
        return self._end_and_resume("fused", ["SIGKILL"], path, rng)


def _learn(name: str, path: Path, room: int | None = None) -> bytes:
    """Factors, codes and history of a run, without its times; files may have so many bytes."""
    import sedil

    if room is not None:
        import resource

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
    learner = sedil.learn_minibatch if name == "mini-batch" else sedil.learn
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of checkpoints for which there is no room
        result = learner(
            training_patches(),
            **_SETTINGS[name],
            random_state=0,
            threads=1,
            checkpoint=path,
            checkpoint_every=1,
            resume=True,
        )
    history = [record._replace(seconds=0.0) for record in result.history]
    arrays = [*result.dictionary.factors, np.zeros(0) if result.codes is None else result.codes]
    return pickle.dumps((history, [array.tobytes() for array in arrays], str(result.stop_reason)))


def _write_together(folder: Path, rng: random.Random) -> list[str]:
    """Two processes write to one file again and again, one is killed: it is whole at any moment."""
    import sedil

    path = folder / "d.npz"
    one, other = sedil.odct((4, 4), (6, 6)), sedil.odct((8, 8), (9, 9))
    one.save(path)
    children = [_fork(lambda which=which: [which.save(path) for _ in range(40)]) for which in (one, other)]
    ends = time.monotonic() + rng.uniform(0.005, 0.1)
    while time.monotonic() < ends:
        try:
            sedil.load_dictionary(path)
        except ValueError as error:
            return [f"a file of two writers is damaged: {error}"]
    _send(children[0], signal.SIGKILL)
    if sum(map(_has_ended, children)) < len(children):
        return ["no end of two writers"]
    sedil.load_dictionary(path).save(path)
    left = [file.name for file in folder.iterdir()]
    return [] if left == ["d.npz"] else [f"files are left: {left}"]


def _fork(work: Callable[[], Any]) -> int:
    """A process that does this work and ends."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        work()
        status = 0
    except KeyboardInterrupt:
        status = 130
    finally:
        os._exit(status)


def _signals(way: str) -> list[int]:
    if way.endswith(("SIGKILL", "SIGTERM")):
        return [getattr(signal, way.rpartition(" ")[2])]
    return [signal.SIGINT] * {"Ctrl-C": 1, "Ctrl-C twice": 2}.get(way, 0)


def _send(child: int, number: int) -> None:
    os.kill(child, number)
    time.sleep(0.002)


def _has_ended(child: int) -> bool:
    """Wait for a process; one that hangs is killed."""
    ends = time.monotonic() + _SECONDS
    while time.monotonic() < ends:
        if os.waitpid(child, os.WNOHANG)[0]:
            return True
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


CAMPAIGN = KillsCampaign()
