"""What a call may do: return what it promises, or refuse in words of its own, and change nothing else."""

from __future__ import annotations

import ast
import gc
import logging
import os
import signal
import threading
import time
import traceback
import warnings
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.calls import Call
from fuzz.runner import Finding, Outcome
from fuzz.values import in_words

_EXPECTED = (ValueError, TypeError, OSError)


class GlobalState:
    """What belongs to the whole process, as it is now."""

    def __init__(self) -> None:
        from threadpoolctl import ThreadpoolController

        self._pools = ThreadpoolController().lib_controllers

    def now(self) -> dict[str, Any]:
        """All of it, to be compared."""
        from PIL import Image

        state = np.random.get_state(legacy=False)  # noqa: NPY002
        return {
            "floating-point errors": np.geterr(),
            "warning filters": list(warnings.filters),
            "environment": dict(os.environ._data),  # type: ignore[attr-defined]  # all of it, quickly
            "random numbers": (state["state"]["pos"], state["state"]["key"].tobytes()),
            "threads of BLAS and OpenMP": [pool.get_num_threads() for pool in self._pools],
            "limit of Pillow": Image.MAX_IMAGE_PIXELS,
            "handler of Ctrl-C": signal.getsignal(signal.SIGINT),
            "threads": threading.active_count(),
            "open files": len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0,
            "folder": os.getcwd(),
            "logging": (logging.root.level, len(logging.root.handlers), logging.root.manager.disable),
            "print options": np.get_printoptions(),
        }


def snapshot(value: Any) -> Any:
    """A value as it is now, to be compared."""
    if isinstance(value, np.ma.MaskedArray):
        return ("masked", snapshot(value.data), np.ma.getmaskarray(value).tobytes())
    if isinstance(value, np.ndarray):
        content = value.tobytes() if value.dtype.kind != "O" else repr(value.tolist())
        return (value.shape, value.strides, value.dtype.str, value.flags.writeable, content)
    if isinstance(value, list | tuple):
        return [snapshot(item) for item in value]
    if isinstance(value, Mapping):
        return [(key, snapshot(item)) for key, item in value.items()]
    factors = getattr(value, "factors", None)
    if isinstance(factors, tuple) and hasattr(value, "threshold"):
        return [*map(snapshot, factors), value.signal_shape, value.threshold, repr(value.info)]
    return None


class Judge:
    """Makes calls and judges them."""

    def __init__(self) -> None:
        self._state = GlobalState()

    def judge(self, call: Call) -> Outcome:
        """Make the call."""
        owners = [call.arguments, *call.touched]
        before = [snapshot(owner) for owner in owners]
        words = describe(call)
        findings: list[Finding] = []
        result, error = None, None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            around = self._state.now()
            try:
                result = call.function(**call.arguments)
            except Exception as raised:
                error = raised
            after = self._state.now()
        if error is not None:
            findings += _faults_of(error, call, words)
        was_refused, error = error is not None, None  # which holds what the call had open
        for name, value in around.items():
            if _differs(value, after[name], name, self._state):
                findings.append(
                    Finding(f"{call.name} changes: {name}", f"{words}: {value!r} became {after[name]!r}")
                )
        if [snapshot(owner) for owner in owners] != before:
            findings.append(Finding(f"{call.name} changes its arguments", words))
        own = [warning for warning in caught if not _is_ours(warning)]
        findings += [
            Finding(
                f"{call.name} warns: {_start(str(warning.message))}",
                f"{words}: {warning.filename}:{warning.lineno}",
            )
            for warning in own[:1]
        ]
        if was_refused:
            return Outcome(f"{call.name}: refused", tuple(findings))
        is_unfinished = len(caught) > len(own)
        if not is_unfinished:
            findings += self._faults_in(call, result, words)
        return Outcome(f"{call.name}: returned", tuple(findings))

    @staticmethod
    def _faults_in(call: Call, result: Any, words: str) -> list[Finding]:
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                problem = call.check(call.arguments, result)
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            if _raises(last.filename, last.lineno or 0):  # what came back was to be used, and that is refused
                return []
            where = f"{Path(last.filename).name}:{last.lineno}"
            problem = f"what came back cannot be used: {type(error).__name__} at {where}"
            words += f": {error}"
        return [Finding(f"{call.name}: {_start(problem)}", f"{words}: {problem}")] if problem else []


def _differs(before: Any, after: Any, name: str, state: GlobalState) -> bool:
    """Whether something was changed; threads and files of earlier calls may end late."""
    if name not in ("threads", "open files"):
        return before != after
    for _ in range(20):
        if after <= before:
            return False
        time.sleep(0.01)
        gc.collect()
        after = state.now()[name]
    return True


def describe(call: Call) -> str:
    """The call in words."""
    arguments = ", ".join(f"{name}={in_words(value)}" for name, value in call.arguments.items())
    return f"{call.name}({arguments})"


def _start(text: str) -> str:
    """Words without the numbers, which differ from case to case."""
    return "".join("#" if character.isdigit() else character for character in text)[:60]


def _is_ours(warning: warnings.WarningMessage) -> bool:
    return warning.category.__name__ == "ConvergenceWarning" and "duality gap" in str(warning.message)


def _faults_of(error: Exception, call: Call, words: str) -> list[Finding]:
    """An error is right if a line of ours raises it on purpose."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{'/'.join(Path(last.filename).parts[-2:])}:{last.lineno}"
    told = f"{words}: {type(error).__name__}: {str(error)[:300]}"
    is_model = "fit" in call.name or "transform" in call.name or call.name == "score"
    if is_model and "/sklearn/utils/" in last.filename:  # whose words users of scikit-learn know
        return []
    if last.filename.endswith("fuzz/values.py"):  # what we gave it has failed
        return []
    if not _raises(last.filename, last.lineno or 0):
        return [Finding(f"inner {type(error).__name__} at {where}", told)]
    if not isinstance(error, _EXPECTED):
        return [Finding(f"{type(error).__name__} raised at {where}", told)]
    if not 15 <= len(str(error)) <= 1000:
        return [Finding(f"message of {len(str(error))} characters at {where}", told)]
    return []


def _raises(file: str, line: int) -> bool:
    """Whether a line is part of a ``raise`` of the package."""
    return "/sedil/" in file and any(first <= line <= last for first, last in _lines_that_raise(file))


@cache
def _lines_that_raise(file: str) -> list[tuple[int, int]]:
    tree = ast.parse(Path(file).read_text())
    return [
        (node.lineno, node.end_lineno or node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.Raise)
    ]
